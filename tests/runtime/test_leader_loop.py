"""The leader loop: the order in which its parts start and stop, and the errors that end it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from paimon_operator.core.ports import Kind
from paimon_operator.errors import ForbiddenError, RetryableError
from paimon_operator.runtime.health import ProcessHealth
from paimon_operator.runtime.leader_loop import LeaderLoop
from tests.runtime.operator_in_memory import OperatorInMemory, lake, orders
from tests.support.object_store import Fault


class LeaderLife:
    """A leader loop around an operator in memory, with a watch that the test controls."""

    def __init__(self) -> None:
        self.operator = OperatorInMemory()
        self.health = ProcessHealth(clock=self.operator.time.seconds)
        self.stop = asyncio.Event()
        self.steps: list[str] = []
        self.watch_ends = asyncio.Event()
        self.watch_error: Exception | None = None

    def loop(self) -> LeaderLoop:
        return LeaderLoop(
            resync=self.operator.resync,
            workers=self.operator.workers,
            queue=self.operator.queue,
            health=self.health,
            on_listed=self.operator.decided.listed,
            heartbeat=self._heartbeat,
            watch=self._watch,
        )

    async def _heartbeat(self) -> None:
        self.steps.append("heartbeat runs")
        await asyncio.Event().wait()

    async def _watch(self, stop: asyncio.Event) -> None:
        self.steps.append("watching")
        self.operator.store.watch = self.operator._watch
        ending = asyncio.create_task(self.watch_ends.wait())
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({ending, stopping}, return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        stopping.cancel()
        if self.watch_error is not None:
            raise self.watch_error
        self.steps.append(f"watch closed, {self.operator.queue.busy} busy")


async def wait_until(condition: Callable[[], object]) -> None:
    for _ in range(10_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("the condition never became true")


async def test_the_leader_lists_then_starts_its_workers_then_watches() -> None:
    life = LeaderLife()
    life.operator.store.put(lake())
    life.operator.store.put(orders())
    working = asyncio.create_task(life.loop().run(life.stop))
    await wait_until(lambda: life.operator.store.names(Kind.POD))
    kinds = [(request.verb, request.kind) for request in life.operator.store.requests[:3]]
    assert kinds == [("list", Kind.CATALOG), ("list", Kind.TABLE), ("list", Kind.RUN)]
    life.stop.set()
    await working
    assert life.steps == ["heartbeat runs", "watching", "watch closed, 0 busy"]


async def test_a_failed_first_list_is_repeated_before_any_reconcile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("paimon_operator.runtime.leader_loop._PAUSE", 0)
    life = LeaderLife()
    life.operator.store.put(lake())
    broken = [Fault("list", Kind.RUN, RetryableError("broken", status=500)) for _ in range(3)]
    life.operator.store.faults.extend(broken)
    working = asyncio.create_task(life.loop().run(life.stop))
    await wait_until(lambda: not life.operator.store.faults)
    assert life.operator.reconciles == []
    assert life.steps == []
    await wait_until(lambda: life.operator.reconciles)
    life.stop.set()
    await working


async def test_missing_rights_at_the_first_list_end_the_leader_loop() -> None:
    life = LeaderLife()
    life.operator.store.faults.append(Fault("list", Kind.RUN, ForbiddenError("cannot list", status=403)))
    with pytest.raises(ForbiddenError):
        await life.loop().run(life.stop)


async def test_a_failed_watch_ends_the_leader_loop_with_its_error_after_busy_keys_have_ended() -> None:
    life = LeaderLife()
    life.watch_error = ForbiddenError("cannot watch", status=403)
    working = asyncio.create_task(life.loop().run(life.stop))
    await wait_until(lambda: "watching" in life.steps)
    life.watch_ends.set()
    with pytest.raises(ForbiddenError, match="cannot watch"):
        await working
    assert life.operator.queue.busy == 0


async def test_a_lost_lease_cancels_the_leader_loop_at_once() -> None:
    life = LeaderLife()
    working = asyncio.create_task(life.loop().run(life.stop))
    await wait_until(lambda: "watching" in life.steps)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert "watch closed" not in str(life.steps)
    life.operator.queue.close()
