"""The driver of a shared Pod beside an operator in memory: it asks for turns as spark_apps/driver/batch.py does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from paimon_contract.turns import TurnOf, TurnReport, TurnRequest
from paimon_operator.core.config import SharingFacts
from paimon_operator.core.launch.batch_pod import SharedPod, read_batch
from paimon_operator.core.naming import TABLE_LABEL, is_batch
from paimon_operator.core.ports import Kind
from paimon_operator.runtime.turns_endpoint import TurnGiver, carry_out
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, has_ended, lake, shop
from tests.support import pods
from tests.support.manifests import Manifest, keyed_table

WINDOW_S = 2.0
FACTS = SharingFacts(url="http://operator:8082/v1/turns", window_s=WINDOW_S)
NAMES = ("a", "b", "c")


def tables(*names: str) -> list[Manifest]:
    """Tables without writes."""
    return [shop(keyed_table(metadata__name=name, spec__writes=[])) for name in names]


def shared_pods(operator: OperatorInMemory) -> list[str]:
    """Names of the shared Pods that have not ended."""
    store = operator.store
    bodies = [(name, store.peek(Kind.POD, SHOP, name) or {}) for name in store.names(Kind.POD)]
    return [name for name, body in bodies if is_batch(body) and not has_ended(operator, name)]


def own_pods(operator: OperatorInMemory) -> dict[str, str]:
    """Table -> the Pod that one of its runs has alone and that has not ended."""
    store = operator.store
    bodies = {name: store.peek(Kind.POD, SHOP, name) or {} for name in store.names(Kind.POD)}
    alone = {name: body for name, body in bodies.items() if not is_batch(body) and not has_ended(operator, name)}
    return {body["metadata"]["labels"][TABLE_LABEL]: name for name, body in alone.items()}


def run_of(operator: OperatorInMemory, table: str) -> Manifest:
    """The only run of a table."""
    store = operator.store
    runs = [store.peek(Kind.RUN, SHOP, name) or {} for name in store.names(Kind.RUN)]
    (found,) = [run for run in runs if run["spec"]["tableRef"]["name"] == table]
    return found


@dataclass
class SharedDriver:
    """The process in one Pod. It performs nothing before its turn begins."""

    operator: OperatorInMemory
    pod: SharedPod
    left: list[str] = field(default_factory=list)
    """Runs that it has not asked for."""
    unreported: TurnReport | None = None
    performed: list[str] = field(default_factory=list)
    """Tables, in the order of their turns."""
    failing: dict[str, Manifest] = field(default_factory=dict)
    """Table -> the error of its result."""

    result: Manifest = field(default_factory=lambda: {"created": True})
    """What each success reports."""

    @property
    def types(self) -> list[str]:
        """Table and type of each run in the Pod, in their order."""
        return [f"{job['table']['name']} {job['operation']}" for _, job in self._jobs()]

    def _jobs(self) -> Iterator[tuple[str, Manifest]]:
        """UID of each run, and its job."""
        return ((uid, json.loads(job)) for uid, job in self.pod.jobs.items())

    @classmethod
    async def start(cls, operator: OperatorInMemory, name: str | None = None) -> SharedDriver:
        """The process in the shared Pod of this name, or the only one, which its kubelet reports as running."""
        if name is None:
            (name,) = shared_pods(operator)
        body = operator.store.peek(Kind.POD, SHOP, name) or {}
        pod = read_batch(body)
        assert pod is not None
        operator.store._stored(Kind.POD, {**body, "spec": {**body["spec"], "nodeName": "node-1"}})
        driver = cls(operator, pod, list(pod.runs))
        driver.report(pods.running(operator.time.now()))
        await operator.settle()
        return driver

    def report(self, status: Manifest) -> None:
        """The kubelet reports a status of the Pod."""
        self.operator.store.set_status(Kind.POD, SHOP, self.pod.name, status)

    async def ask(self) -> bool:
        """Reports the last result and asks for the next run. Returns whether its turn has begun."""
        run = self.left[0] if self.left else None
        uid = next((uid for uid, job in self._jobs() if job["run"]["name"] == run), "")
        following = None if run is None else TurnOf(name=run, uid=uid)
        begins = await self.send(TurnRequest(report=self.unreported, next=following))
        self.unreported, self.left = None, self.left[1:]
        return begins

    async def send(self, request: TurnRequest) -> bool:
        """The answer to one request. Raises TimeoutError when the operator decides nothing."""
        operator = self.operator
        giver = TurnGiver(turns=operator.turns, batches=operator.batches, reviewer=None)  # type: ignore[arg-type]
        asking = asyncio.ensure_future(carry_out(giver, self.pod, request))
        while not asking.done():
            await operator.settle()
            await asyncio.sleep(0)
            if not asking.done() and not operator.queue.depth and not operator.queue.busy:
                for _ in range(10):
                    await asyncio.sleep(0)
                if not asking.done() and not operator.queue.depth and not operator.queue.busy:
                    asking.cancel()
                    await asyncio.gather(asking, return_exceptions=True)
                    raise TimeoutError
        return asking.result()

    def perform(self, run: str) -> None:
        """Works on the table of the run. Nobody else may do so at this moment."""
        table = self.pod.runs[run]
        assert table not in own_pods(self.operator), f"another driver works on {table}"
        self.performed.append(table)
        self.operator.time.advance(3)
        error = self.failing.get(table)
        uid, job = next((uid, job) for uid, job in self._jobs() if job["run"]["name"] == run)
        document: dict[str, Any] = {"version": 1, "run": run, "operation": job["operation"], "ok": error is None}
        document |= self.result if error is None else {"error": error}
        self.unreported = TurnReport(run=TurnOf(name=run, uid=uid), result=json.dumps(document))

    async def turn(self) -> bool:
        """One turn: asks, and performs the run if it begins."""
        run = self.left[0]
        begins = await self.ask()
        if begins:
            self.perform(run)
        return begins

    async def finish(self) -> None:
        """All turns that are left, the last report, and the end of the Pod."""
        while self.left:
            await self.turn()
        if self.unreported is not None:
            await self.ask()
        await self.end()

    async def end(self, status: Manifest | None = None) -> None:
        """The Pod ends, with the result that could not be reported."""
        message = "" if self.unreported is None else self.unreported.result
        now = self.operator.time.now()
        self.report(pods.ended(0, message, finished=now) if status is None else status)
        await self.operator.settle()


async def shared(operator: OperatorInMemory, *names: str) -> SharedDriver:
    """The driver of the Pod that the first runs of these tables share."""
    await operator.apply(lake(), *tables(*(names or NAMES)))
    await operator.pass_time(seconds=WINDOW_S)
    return await SharedDriver.start(operator)


def reason(operator: OperatorInMemory, table: str) -> str:
    """Why the only run of the table is where it is."""
    conditions = run_of(operator, table)["status"]["conditions"]
    return next(str(each["reason"]) for each in conditions if each["type"] == "Succeeded")
