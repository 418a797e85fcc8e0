"""Runs that share a Pod survive a kill of the operator at any write: each is performed exactly once.

The driver lives on. It repeats a request that nobody has answered, as spark_apps/driver/turns.py does.
"""

from __future__ import annotations

import pytest

from paimon_operator.core.ports import Kind
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, lake
from tests.runtime.shared_driver import FACTS, WINDOW_S, SharedDriver, own_pods, run_of, shared_pods, tables

NAMES = ("a", "b")


class Story:
    """Two tables become Ready while the operator may be killed."""

    def __init__(self, operator: OperatorInMemory) -> None:
        self.operator = operator
        self.drivers: dict[str, SharedDriver] = {}
        self.alone: list[str] = []
        """Tables whose run had a Pod of its own, in the order of their ends."""

    @property
    def performed(self) -> list[str]:
        """The table of each run that was performed."""
        return sorted([*self.alone, *(table for driver in self.drivers.values() for table in driver.performed)])

    async def tell(self) -> None:
        """All steps until the tables are Ready."""
        for _ in range(30):
            await self._revive()
            await self.operator.pass_time(seconds=WINDOW_S)
            await self._drive()
            if all(self._is_ready(name) for name in NAMES) and not shared_pods(self.operator):
                return

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

    async def _drive(self) -> None:
        for table, pod in own_pods(self.operator).items():
            self.alone.append(table)
            await self.operator.end_pod(pod, created=True)
        for name in shared_pods(self.operator):
            driver = self.drivers.get(name) or await SharedDriver.start(self.operator, name)
            self.drivers[name] = driver
            try:
                await (driver.turn() if driver.left else driver.ask())
            except TimeoutError:
                continue
            if not driver.left and driver.unreported is None:
                await driver.end()

    def _is_ready(self, name: str) -> bool:
        conditions = (self.operator.store.peek(Kind.TABLE, SHOP, name) or {}).get("status", {}).get("conditions", [])
        return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


async def told(number: int | None = None) -> Story:
    """The story with a kill before this write; None: without a kill."""
    operator = await OperatorInMemory(sharing=FACTS).start()
    if number is not None:
        operator.store.kill_at(number, carried_out=False)
    story = Story(operator)
    await operator.apply(lake(), *tables(*NAMES))
    await story.tell()
    return story


@pytest.mark.every_write
async def test_after_a_kill_before_any_write_each_run_is_performed_exactly_once() -> None:
    """A kill after a write leaves what a kill before the next one leaves."""
    whole = await told()
    writes = [(request.verb, request.kind) for request in whole.operator.store.writes]
    assert whole.performed == sorted(NAMES)
    assert whole.alone == []
    await whole.operator.kill()
    assert len(writes) > 20
    for number in range(len(writes)):
        story = await told(number)
        point = f"write {number} {writes[number]}"
        assert story.performed == sorted(NAMES), point
        phases = [run_of(story.operator, name)["status"]["phase"] for name in NAMES]
        assert phases == ["Succeeded"] * 2, point
        assert [len(run_of(story.operator, name)["status"]["attempts"]) for name in NAMES] == [1, 1], point
        story.operator.store.revive()
        await story.operator.kill()
