"""The whole operator on an ObjectStore in memory and a virtual clock: real queue, workers, cache and core."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Set
from datetime import timedelta
from typing import Any

from paimon_operator.api.base import rfc3339
from paimon_operator.api.reasons import Reason
from paimon_operator.core.commits.table_claims import TableClaimIndex
from paimon_operator.core.commits.warehouses import WarehouseIndex
from paimon_operator.core.config import ObserverFacts, OperatorFacts, SharingFacts
from paimon_operator.core.launch.builder import LaunchBuilder
from paimon_operator.core.ports import Kind
from paimon_operator.core.table.budgets import Budgets
from paimon_operator.core.table.run_slots import RunSlots
from paimon_operator.core.validation.catalog import blocking_problems
from paimon_operator.runtime.batches import Batches
from paimon_operator.runtime.cache import DELIVERED, Cache
from paimon_operator.runtime.change_router import ChangeRouter
from paimon_operator.runtime.controllers import controllers
from paimon_operator.runtime.decided_until import DecidedUntil
from paimon_operator.runtime.deferred_ticks import DeferredTicks
from paimon_operator.runtime.dependencies import Dependencies
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.looks import Looks
from paimon_operator.runtime.new_tables import NewTables
from paimon_operator.runtime.queue import WorkQueue
from paimon_operator.runtime.reads import Doubts
from paimon_operator.runtime.resync import Resync
from paimon_operator.runtime.turns import TurnRequests
from paimon_operator.runtime.workers import Workers
from tests.support.builders import operator_facts
from tests.support.manifests import Manifest, catalog, edited, keyed_table
from tests.support.object_store import ObjectStore, RecordedEvents
from tests.support.virtual_time import VirtualTime


class RecordedRunMetrics:
    """Records what is counted of runs, in order."""

    def __init__(self) -> None:
        self.started: list[tuple[str, str, float]] = []
        self.answered: list[tuple[str, float]] = []
        self.attempts: list[tuple[str, str, float]] = []
        self.ended: list[tuple[str, str, str, float]] = []
        self.known: list[tuple[str, str, int]] = []
        """Namespace and type of each run that became known, and how many attempts had ended then."""
        self.namespaces: list[str] = []
        """Of each attempt and each run that ended."""

    def pod_started(self, type_: str, reason: Reason, pending_seconds: float) -> None:
        self.started.append((type_, reason, pending_seconds))

    def schedule_answered(self, type_: str, late_seconds: float) -> None:
        self.answered.append((type_, late_seconds))

    def run_known(self, namespace: str, type_: str) -> None:
        self.known.append((namespace, type_, len(self.attempts)))

    def attempt_ended(self, namespace: str, type_: str, reason: Reason, pod_seconds: float) -> None:
        self.attempts.append((type_, reason, pod_seconds))
        self.namespaces.append(namespace)

    def run_ended(self, namespace: str, type_: str, phase: str, reason: Reason, seconds: float) -> None:
        self.ended.append((type_, phase, reason, seconds))
        self.namespaces.append(namespace)


SHOP = "shop"
IMAGE = "paimon-spark:test"


class OperatorInMemory:
    """An operator on `store`. `settle` lets it work until its queue is empty."""

    def __init__(
        self,
        *,
        store: ObjectStore | None = None,
        time: VirtualTime | None = None,
        max_concurrent_runs: int | None = None,
        pod_hours: int | None = None,
        observer: ObserverFacts | None = None,
        sharing: SharingFacts | None = None,
        facts: OperatorFacts | None = None,
        new_tables_rate: float = 5,
    ) -> None:
        """Creates a process that is not started, on the `store` of an earlier process or an empty one."""
        self.time = time or VirtualTime()
        self.store = store or ObjectStore(self.time)
        self.events = RecordedEvents()
        self.limit, self.sharing = max_concurrent_runs, sharing
        self.given_facts, self.facts = facts, facts or operator_facts(observer=observer)
        self.cache, self.warehouses, self.slots = Cache(), WarehouseIndex(), RunSlots(max_concurrent_runs)
        self.pod_hours, self.budgets = pod_hours, Budgets(pod_hours)
        self.claims = TableClaimIndex(lambda catalog: not blocking_problems(catalog, self.facts))
        self.doubts, self.new_tables_rate = Doubts(), new_tables_rate
        self.new_tables = NewTables(self.cache, rate=new_tables_rate, clock=self.time.seconds)
        self.queue: WorkQueue[Key] = WorkQueue(
            namespace_of=lambda key: key.namespace,
            clock=self.time.seconds,
            call_later=self.time.call_later,
            on_late=self.doubts.late,
        )
        self.decided = DecidedUntil(self.time, monotonic=self.time.seconds)
        self.decided.found(self.store.note)
        self.decided.lead(self.queue)
        self.deferred = DeferredTicks()
        indexes = self.cache, self.claims, self.warehouses, self.slots
        self.batches = Batches(
            self.store, facts=sharing, clock=self.time, call_later=self.time.call_later, enqueue=self.queue.add
        )
        self.turns = TurnRequests(enqueue=self.queue.add)
        self.router = ChangeRouter(
            *indexes,
            self.queue,
            budgets=self.budgets,
            on_heartbeat=lambda _: None,
            on_shared_pod=self.batches.observe,
        )
        self.looks = Looks(self.cache, interval_s=60, clock=self.time, enqueue=self.router.enqueue_after)
        self.run_metrics = RecordedRunMetrics()
        self.reconciles: list[tuple[str, str]] = []
        world = Dependencies(
            store=self.store,
            events=self.events,
            cache=self.cache,
            claims=self.claims,
            warehouses=self.warehouses,
            slots=self.slots,
            budgets=self.budgets,
            router=self.router,
            looks=self.looks,
            batches=self.batches,
            turns=self.turns,
            doubts=self.doubts,
            new_tables=self.new_tables,
            operator=self.facts,
            clock=self.time,
            decided=self.decided,
            deferred=self.deferred,
        )
        launches = LaunchBuilder(
            operator=world.operator,
            images={"paimon-1.4": IMAGE, "paimon-0.9": IMAGE},
            pull_policy="Never",
            pending_timeout=timedelta(minutes=10),
            cpu_share=1.0,
        )
        self.bugs: list[Kind] = []
        reconcile = controllers(
            world,
            launches,
            metrics=self.run_metrics,
            on_bug=self.bugs.append,
        )
        self.workers = Workers(
            self.queue,
            reconcile,
            count=4,
            clock=self.time.seconds,
            measure=lambda kind, result, _: self.reconciles.append((kind, result)),
            on_error=self.doubts.failed,
        )
        self.resync = Resync(
            self.store,
            self.router,
            period=timedelta(minutes=10),
            identity="test",
            sleep=_wait_forever,
            on_namespaces=self._keep_namespaces,
        )

    def _keep_namespaces(self, live: Set[str]) -> None:
        self.slots.keep_namespaces(live)
        self.new_tables.forget_idle()

    async def start(self) -> OperatorInMemory:
        """Lists all objects, then starts the watches and the workers."""
        await self.resync.list_all()
        self.decided.listed()
        self.store.watch = self._watch
        self.workers.start()
        return self

    def _watch(self, kind: Kind, event: str, body: Manifest) -> None:
        if kind in DELIVERED:
            self.router.on_event(kind, event, body)

    async def settle(self) -> None:
        """Waits until no key is queued and no worker is busy."""
        for _ in range(100_000):
            if not self.queue.depth and not self.queue.busy and not self.batches.is_creating:
                self.store.note = self.store.note if self.store.dead else self.decided.text()
                return
            await asyncio.sleep(0)
        raise AssertionError(f"the operator never settles: {self.reconciles[-20:]}")

    async def pass_time(self, **span: float) -> None:
        """Advances the clock, then works on everything that became due."""
        self.time.advance(timedelta(**span).total_seconds())
        await self.settle()

    async def stop(self) -> None:
        """Ends this process."""
        self.queue.close()
        await self.workers.stop()
        self.store.note = self.store.note if self.store.dead else self.decided.text()

    async def kill(self) -> OperatorInMemory:
        """Stops this process and returns a new one, without observers, started on the same objects."""
        self.store.watch = lambda *_: None
        await self.stop()
        successor = OperatorInMemory(
            store=self.store,
            time=self.time,
            max_concurrent_runs=self.limit,
            pod_hours=self.pod_hours,
            sharing=self.sharing,
            facts=self.given_facts,
            new_tables_rate=self.new_tables_rate,
        )
        return await successor.start()

    async def apply(self, *manifests: Manifest) -> None:
        for manifest in manifests:
            self.store.put(manifest)
        await self.settle()

    async def end_pod(
        self, name: str, *, namespace: str = SHOP, exit_code: int = 0, ran_seconds: int = 0, **result: Any
    ) -> None:
        """Ends the Pod's container with a result, as the kubelet reports it."""
        pod = self.store.peek(Kind.POD, namespace, name)
        assert pod is not None, f"no Pod {name} among {self.store.names(Kind.POD)}"
        run = pod["metadata"]["ownerReferences"][0]["name"]
        operation = (self.store.peek(Kind.RUN, namespace, run) or {})["spec"]["type"]
        message = json.dumps({"version": 1, "run": run, "operation": operation, "ok": exit_code == 0, **result})
        now = self.time.now()
        times = {"startedAt": now - timedelta(seconds=ran_seconds), "finishedAt": now}
        ended = {"exitCode": exit_code, "message": message, **{key: rfc3339(time) for key, time in times.items()}}
        phase = "Succeeded" if exit_code == 0 else "Failed"
        statuses = [{"name": pod["spec"]["containers"][0]["name"], "state": {"terminated": ended}}]
        self.store.set_status(Kind.POD, namespace, name, {"phase": phase, "containerStatuses": statuses})
        await self.settle()

    def table(self, name: str = "orders") -> Manifest:
        found = self.store.peek(Kind.TABLE, SHOP, name)
        assert found is not None
        return found

    def condition(self, type_: str, name: str = "orders") -> tuple[str, str, str]:
        """Status, reason and message of a table's condition."""
        conditions = {each["type"]: each for each in self.table(name).get("status", {}).get("conditions", [])}
        found = conditions[type_]
        return found["status"], found["reason"], found["message"]


async def _wait_forever(_: float) -> None:
    """Never returns: a resync runs only when a test calls it."""
    await asyncio.Event().wait()


def shop(manifest: Manifest, **edits: object) -> Manifest:
    """The manifest in the namespace `shop`."""
    return edited(manifest, metadata__namespace=SHOP, **edits)


def lake(**edits: object) -> Manifest:
    return shop(catalog(spec__allowedDatabases=["shop"]), **edits)


def orders(**edits: object) -> Manifest:
    return shop(keyed_table(spec__writes=[]), **edits)


async def provisioned(operator: OperatorInMemory, **catalog: object) -> None:
    """Applies the catalog and the table and ends the Provision run with success."""
    await operator.apply(lake(**catalog), orders())
    (pod,) = operator.store.names(Kind.POD)
    await operator.end_pod(pod, created=True)
    assert operator.condition("Ready")[:2] == ("True", "TableMatchesSpec")


def has_ended(operator: OperatorInMemory, pod: str) -> bool:
    """Whether the kubelet has reported the end of the Pod."""
    body = operator.store.peek(Kind.POD, SHOP, pod) or {}
    return (body.get("status") or {}).get("phase") in ("Succeeded", "Failed")
