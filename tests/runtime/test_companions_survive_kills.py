"""Companions, and a run that gives way, survive a kill of the operator at any write: each is performed exactly once."""

from __future__ import annotations

import pytest

from paimon_operator.core.ports import Kind
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, lake, shop
from tests.runtime.shared_driver import FACTS, WINDOW_S, SharedDriver, own_pods, shared_pods, tables
from tests.runtime.test_companions import MEASURED, RETENTION
from tests.support.manifests import Manifest, run
from tests.support.random_examples import examples

BY_HAND = "a-by-hand"
WORK = ["Compact", "ExpirePartitions", "ExpireSnapshots"]


class Story:
    """Two expiries of one table are due. Once they wait in their Pod, a user asks for a compaction.

    With `withdraws`, the user takes that back after a kill, unless the compaction has its Pod.
    """

    def __init__(self, operator: OperatorInMemory, *, withdraws: bool = False) -> None:
        self.operator, self.withdraws = operator, withdraws
        self.wanted = list(WORK)
        self.asked_at = 0
        """How many writes have preceded the user's compaction."""
        self.drivers: dict[str, SharedDriver] = {}
        self.performed: list[str] = []
        """Types of the runs that drivers have performed, in their order."""

    async def tell(self) -> None:
        """All steps until each work is done."""
        for _ in range(40):
            await self._revive()
            await self.operator.pass_time(seconds=WINDOW_S)
            if self._may_ask():
                self.asked_at = len(self.operator.store.writes)
                await self.operator.apply(shop(run(spec__tableRef__name="a", metadata__name=BY_HAND)))
                await self._revive()
            await self._drive()
            if phases(self.operator) == succeeded(self.wanted) and not shared_pods(self.operator):
                return

    def _may_ask(self) -> bool:
        is_open = "Compact" in self.wanted and BY_HAND not in self.operator.store.names(Kind.RUN)
        return is_open and bool(shared_pods(self.operator))

    async def _revive(self) -> None:
        """After a kill, a new process lists all objects, and its watches deliver the Pods."""
        if not self.operator.store.dead:
            return
        self.operator.store.revive()
        self.operator = await self.operator.kill()
        for name in self.operator.store.names(Kind.POD):
            self.operator.router.on_event(Kind.POD, None, self.operator.store.peek(Kind.POD, SHOP, name) or {})
        for driver in self.drivers.values():
            driver.operator = self.operator
        is_begun = "Compact" in self.performed or own_pods(self.operator)
        if self.withdraws and BY_HAND in self.operator.store.names(Kind.RUN) and not is_begun:
            self.wanted.remove("Compact")
            self.operator.store.delete_as_user(Kind.RUN, SHOP, BY_HAND)
            await self.operator.settle()

    async def _drive(self) -> None:
        for pod in own_pods(self.operator).values():
            body = self.operator.store.peek(Kind.POD, SHOP, pod) or {}
            self.performed.append(type_of(self.operator, body["metadata"]["ownerReferences"][0]["name"]))
            await self.operator.end_pod(pod, **MEASURED)
        for name in shared_pods(self.operator):
            driver = self.drivers.get(name) or await SharedDriver.start(self.operator, name)
            self.drivers[name], driver.result = driver, MEASURED
            await self._drive_shared(driver)

    async def _drive_shared(self, driver: SharedDriver) -> None:
        asked, done = (driver.left or [""])[0], len(driver.performed)
        try:
            await (driver.turn() if driver.left else driver.ask())
        except TimeoutError:
            return
        if len(driver.performed) > done:
            self.performed.append(type_of(self.operator, asked))
        if not driver.left and driver.unreported is None:
            await driver.end()


def type_of(operator: OperatorInMemory, name: str) -> str:
    """The type of a run."""
    return str((operator.store.peek(Kind.RUN, SHOP, name) or {})["spec"]["type"])


async def told(number: int | None = None, *, carried_out: bool = False, withdraws: bool = False) -> tuple[Story, int]:
    """The story with a kill at this write, counted from its begin. Returns also how many writes preceded it."""
    operator = await OperatorInMemory(sharing=FACTS).start()
    await operator.apply(lake(), *(shop(table, spec__retention=RETENTION) for table in tables("a")))
    await operator.pass_time(seconds=WINDOW_S)
    await operator.end_pod(own_pods(operator)["a"], created=True, **MEASURED)
    before = len(operator.store.writes)
    if number is not None:
        operator.store.kill_at(number, carried_out=carried_out)
    story = Story(operator, withdraws=withdraws)
    await operator.pass_time(hours=1)
    await story.tell()
    return story, before


def succeeded(types: list[str]) -> list[str]:
    return [f"{type_} Succeeded" for type_ in types]


def phases(operator: OperatorInMemory) -> list[str]:
    """Type and phase of each run but the first."""
    bodies: list[Manifest] = [
        operator.store.peek(Kind.RUN, SHOP, name) or {} for name in operator.store.names(Kind.RUN)
    ]
    found = ((body["spec"]["type"], (body.get("status") or {}).get("phase")) for body in bodies)
    return sorted(f"{type_} {phase}" for type_, phase in found if type_ != "Provision")


@pytest.mark.worlds
@pytest.mark.every_write
async def test_after_a_kill_before_any_write_each_work_is_performed_exactly_once() -> None:
    """A kill after a write leaves what a kill before the next one leaves. `make test` tries every fourth write."""
    whole, before = await told()
    writes = [(request.verb, request.kind) for request in whole.operator.store.writes[before:]]
    assert whole.performed == WORK, "the compaction overtakes"
    await whole.operator.kill()
    assert len(writes) > 25
    for number in range(0, len(writes), 1 if examples(1) > 1 else 4):
        story, _ = await told(number)
        point = f"write {number} {writes[number]}"
        assert sorted(story.performed) == WORK, point
        assert phases(story.operator) == succeeded(WORK), point
        story.operator.store.revive()
        await story.operator.kill()


async def test_work_that_is_withdrawn_while_maintenance_gives_way_to_it_stops_nothing() -> None:
    whole, before = await told()
    await whole.operator.kill()
    withdrawn, asked_at = 0, whole.asked_at - before
    for number in range(asked_at, asked_at + 8):
        story, _ = await told(number, carried_out=True, withdraws=True)
        assert sorted(story.performed) == story.wanted, f"write {number}"
        assert phases(story.operator) == succeeded(story.wanted), f"write {number}"
        withdrawn += story.wanted != WORK
        story.operator.store.revive()
        await story.operator.kill()
    assert withdrawn >= 3, "after the request, the answer, and the choice of the other run"
