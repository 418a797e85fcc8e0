"""Plays a schedule on a table that the whole operator maintains: in memory, on a virtual clock, with real drivers.

The operator is that of tests/runtime: real queue, workers, cache and core on an ObjectStore in memory. The kubelet is
here: it performs the job of each Pod by the driver's two programs, as the image does: the one without a JVM, then the
other one in the JVM of the worker.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from paimon_engines.loader import load_engine
from paimon_operator.core.ports import Kind
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory
from tests.spark.lake import Ended
from tests.support import builders, pods
from tests.support.kill_points import Died
from tests.support.manifests import Manifest as Document
from tests.support.object_store import ObjectStore
from tests.support.schedules.ages import Ages
from tests.support.schedules.driver_without_jvm import without_jvm
from tests.support.schedules.generator import PARTITIONS
from tests.support.schedules.operated_manifest import START, Manifest, is_due
from tests.support.schedules.operated_schedule import FULL, SORT, Death, Operated, is_supported
from tests.support.schedules.player import Player
from tests.support.schedules.schedule import Do, Step
from tests.support.schedules.witness import Witness
from tests.support.virtual_time import VirtualTime

MOST_PODS = 20
"""In one step: more of them are a loop without end."""
_UNSUPPORTED = "UnsupportedByEngine"
_REFUSED = ("TooManyOrphanFiles",)
"""Why a run may fail: small tables have many orphans."""
_KILLED = 137


class _Store(ObjectStore):
    """With UIDs like those of an API server: by their form, the operator knows the commits of its own runs."""

    def new_uid(self, number: int) -> str:
        return str(uuid.UUID(int=number))


@dataclass
class OperatedPlayer(Player):
    """One schedule of an operator."""

    performed: list[tuple[str, str]] = field(default_factory=list)
    """Operation and end of each driver."""
    _deaths: dict[str, Step] = field(default_factory=dict)
    """Run -> the step that says when its first driver dies."""

    def __post_init__(self) -> None:
        super().__post_init__()
        facts = builders.operator_facts(default_engine=self.lake.engine.id, claims_allowed=True)
        self.loop = asyncio.Runner()
        self.ages, time = Ages(self.tree), VirtualTime(START)
        self.witness = Witness(self.lake, self.model, self.tree, load_engine(self.lake.engine.id), self.ages)
        self.operator = self._wait(_started(OperatorInMemory(store=_Store(time), time=time, facts=facts)))
        self.lake.owner = f"{facts.cluster_id}/{SHOP}/orders"
        self._tell_time()

    def close(self) -> None:
        """Ends the operator."""
        self._wait(self.operator.stop())
        self.loop.close()

    @property
    def _steps(self) -> dict[StrEnum, Callable[[Step], object]]:
        return {
            **super()._steps,
            Operated.REQUEST_RUN: self._request_run,
            Operated.KILL_OPERATOR: lambda _: self._kill_operator(),
            Operated.PAUSE_WRITERS: lambda _: self._apply_table(paused=True),
            Operated.RESUME_WRITERS: lambda _: self._apply_table(paused=False),
        }

    def _create_table(self) -> None:
        place: Any = {"warehouse": "file:///data/warehouse", "storage": {"claim": {"name": "lake"}}, "locations": None}
        of = builders.catalog_manifest(
            "lake", SHOP, **place, engine=self.lake.engine.id, allowedDatabases=["shop"], commitPolicy="AllowUnsafe"
        )
        self._wait(self.operator.apply(of))
        self._apply_table(paused=False)
        ready = self.operator.condition("Ready")
        assert ready[0] == "True", ready
        self.ask("attach", warehouse=self.lake.warehouse)

    def _apply_table(self, *, paused: bool) -> None:
        spec = Manifest(self.schedule.kind, self.witness.engine, paused).spec
        self._wait(self.operator.apply(builders.table_manifest("orders", SHOP, **spec)))
        self._serve()

    def _pass_time(self, step: Step) -> None:
        """In hours, so that each tick has its run."""
        for _ in range(step.hours):
            self._wait(self.operator.pass_time(hours=1))
            self._tell_time()
            self._serve()

    def _tell_time(self) -> None:
        self.now_ms = int(self.operator.time.now().timestamp() * 1000)

    def _request_run(self, step: Step) -> None:
        members: dict[str, Any] = {"type": step.run}
        can_sort = self.witness.engine.has_incremental_clustering
        strategy = FULL if step.strategy == SORT and not can_sort else step.strategy
        members["compact"] = {"strategy": strategy or FULL} if step.run == "Compact" else None
        if step.run == "RemoveOrphanFiles":
            members["removeOrphanFiles"] = {"maxPercent": 100}
        self._deaths[step.name] = step
        self._wait(self.operator.apply(builders.run_manifest(step.name, table="orders", namespace=SHOP, **members)))
        self._serve()

    def _kill_operator(self) -> None:
        self.operator = self._wait(self.operator.kill())
        self._serve()

    def end(self) -> None:
        """All writers die. Long afterwards nothing is left but what is named."""
        for name in list(self._begun):
            self.step(Step(Do.DIE, name=name))
        self.step(Step(Operated.PAUSE_WRITERS))
        self.step(Step(Operated.REQUEST_RUN, name="last-expiry", run="ExpireSnapshots"))
        for name in ("last-report", "last-delete"):
            self.step(Step(Do.PASS_TIME, hours=80))
            self.step(Step(Operated.REQUEST_RUN, name=name, run="RemoveOrphanFiles"))
        self.check_end()
        self._check_runs()

    def _check_runs(self) -> None:
        """All have succeeded, but those that the engine does not have: for these no driver has started."""
        engine = self.witness.engine
        odd = {
            name: found
            for name, step in self._deaths.items()
            if (found := self._outcome_of(name)) != ("Succeeded" if is_supported(step.run, engine) else _UNSUPPORTED)
        }
        assert not odd, f"{self.told()}\nruns that have ended otherwise than they must: {odd}; {self.performed}"
        assert all(is_supported(operation, engine) for operation, _ in self.performed), self.performed

    def _outcome_of(self, run: str) -> str:
        """The phase of the run, or why it has failed."""
        found = self.operator.store.peek(Kind.RUN, SHOP, run)
        assert found is not None
        status = found.get("status") or {}
        failed = [each["reason"] for each in status.get("conditions", []) if each["type"] == "Succeeded"]
        return failed[0] if status.get("phase") == "Failed" else str(status.get("phase"))

    def _serve(self) -> None:
        """Performs the jobs of all Pods, until there is none."""
        for _ in range(MOST_PODS):
            pod = next(
                (each for each in map(self._pod, self.operator.store.names(Kind.POD)) if not _has_ended(each)), None
            )
            if pod is None:
                return
            self._perform(pod)
        raise AssertionError(f"{self.told()}\ndrivers without end: {self.performed}")

    def _pod(self, name: str) -> Document:
        found: Document | None = self.operator.store.peek(Kind.POD, SHOP, name)
        assert found is not None
        return found

    def _perform(self, pod: Document) -> None:
        job = self._job_of(pod)
        is_first = pod["metadata"]["name"].endswith("-1")
        death = self._deaths.get(job["run"]["name"]) if is_first else None
        self.ages.show(self.now_ms)
        self.witness.begin()
        result = self._driver(job, death)
        has_succeeded = result is not None and result[1] == 0
        self._note_run(job["operation"], succeeded=has_succeeded)
        has_died_at_work = result is None and death is not None and death.death != Death.AT_START
        if has_succeeded or has_died_at_work:
            problems = self.witness.end(job, result[0] if result else None, self.now_ms)
            assert not problems, "\n".join([self.told(), *problems])
        self._stamp()
        self._end(pod, job, result)

    def _job_of(self, pod: Document) -> Document:
        volume = next(each["configMap"]["name"] for each in pod["spec"]["volumes"] if "configMap" in each)
        config = self.operator.store.peek(Kind.CONFIG_MAP, SHOP, volume)
        assert config is not None
        job: Document = json.loads(config["data"]["job.json"])
        job["catalog"]["warehouse"] = self.lake.warehouse
        return job

    def _stamp(self) -> None:
        super()._stamp()
        self.ages.note(self.now_ms)

    def _consume(self, name: str, next_: int) -> None:
        super()._consume(name, next_)
        self.ages.renew(name, self.now_ms)

    def _delete_consumer(self, step: Step) -> None:
        if step.name in self.model.consumers:  # it may have expired
            super()._delete_consumer(step)

    def _driver(self, document: Document, death: Step | None) -> tuple[Document, int] | None:
        """The result of the driver; None: it has died."""
        dies = death.death if death is not None else ""
        if dies == Death.AT_START:
            return None
        dies_at = death.call if death is not None and dies == Death.BETWEEN else None
        try:
            done = without_jvm(document, self.now_ms, dies_at)
        except Died:
            return None
        if done is not None:
            self.moved += done[0].get("orphanFiles", {}).get("moved") or 0
        else:
            assert document["operation"] != "RemoveOrphanFiles", f"{self.told()}\nit asked for a JVM"
            ended = self._in_jvm(document)
            done = ended.result, ended.code
        return None if dies == Death.BEFORE_REPORT else done

    def _in_jvm(self, document: Document) -> Ended:
        return self.lake.perform(document, now=self.now_ms)

    def _note_run(self, operation: str, *, succeeded: bool) -> None:
        """Takes over what the run must have done, if its commits are there or it says so."""
        effects: dict[str, dict[str, Callable[[], None]]] = {
            "Compact": {"COMPACT": lambda: self.model.compact(tuple(self.model.level_0))},
            "ExpirePartitions": {"OVERWRITE": self._drop_due_partitions},
        }
        self._note_snapshots(effects.get(operation, {}))
        if operation == "ExpirePartitions" and succeeded:
            self._drop_due_partitions()

    def _drop_due_partitions(self) -> None:
        for partition in range(PARTITIONS):
            if is_due(partition, self.now_ms):
                self.model.drop_partition(partition)

    def _end(self, pod: Document, document: Document, result: tuple[Document, int] | None) -> None:
        answer, code = ({}, _KILLED) if result is None else result
        error = answer.get("error", {})
        reason = f"{error.get('reason')}: {error.get('message')}" if error else "ended" if answer else "died"
        self.performed.append((document["operation"], reason))
        assert not error or error["reason"] in _REFUSED, f"{self.told()}\n{document['operation']} failed: {error}"
        message = json.dumps(answer) if answer else ""
        status = pods.ended(code, message, finished=self.operator.time.now())
        self.operator.store.set_status(Kind.POD, SHOP, pod["metadata"]["name"], status)
        self._wait(self.operator.settle())

    def _wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run(work)


def _has_ended(pod: Document) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


async def _started(operator: OperatorInMemory) -> OperatorInMemory:
    return await operator.start()


def played(player: OperatedPlayer) -> OperatedPlayer:
    """The player at the end of its schedule."""
    try:
        player.play()
    finally:
        player.close()
    return player
