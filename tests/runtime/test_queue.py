"""The queue on a virtual clock: many notices, one look; never two workers with one key; never a notice lost."""

from __future__ import annotations

import asyncio

import pytest

from paimon_operator.runtime.queue import QueueClosedError, WorkQueue
from tests.support.virtual_time import VirtualTime


class Line:
    """A queue and its clock."""

    def __init__(self) -> None:
        self.time = VirtualTime()
        self.queue: WorkQueue[str] = WorkQueue(clock=self.time.seconds, call_later=self.time.call_later)

    async def taken(self) -> list[str]:
        """Every key that is in line now, each one finished at once."""
        keys = []
        while self.queue.depth:
            keys.append(await self.queue.get())
            self.queue.done(keys[-1])
        return keys


@pytest.fixture
def line() -> Line:
    return Line()


async def test_a_key_that_is_added_many_times_is_queued_once(line: Line) -> None:
    for _ in range(40):
        line.queue.add("a")
    assert await line.taken() == ["a"]


async def test_keys_leave_the_queue_in_the_order_of_their_arrival(line: Line) -> None:
    for key in ("c", "a", "b", "a", "c"):
        line.queue.add(key)
    assert await line.taken() == ["c", "a", "b"]


async def test_a_key_that_is_added_while_busy_is_queued_when_its_worker_is_done(line: Line) -> None:
    line.queue.add("a")
    assert await line.queue.get() == "a"
    line.queue.add("a")
    line.queue.add("a")
    assert line.queue.depth == 0, "a second worker could have taken it"
    line.queue.done("a")
    assert await line.taken() == ["a"]


async def test_a_key_can_be_added_again_after_done(line: Line) -> None:
    line.queue.add("a")
    assert await line.taken() == ["a"]
    line.queue.add("a")
    assert await line.taken() == ["a"]


async def test_a_waiting_worker_gets_the_next_key(line: Line) -> None:
    waiting = asyncio.create_task(line.queue.get())
    await asyncio.sleep(0)
    line.queue.add("a")
    assert await waiting == "a"


async def test_several_waiting_workers_get_one_key_each(line: Line) -> None:
    waiting = [asyncio.create_task(line.queue.get()) for _ in range(3)]
    await asyncio.sleep(0)
    for key in ("a", "b", "c"):
        line.queue.add(key)
    assert sorted(await asyncio.gather(*waiting)) == ["a", "b", "c"]


async def test_a_delayed_key_is_queued_after_its_delay(line: Line) -> None:
    line.queue.add_after("a", 10)
    line.time.advance(9.9)
    assert line.queue.depth == 0
    line.time.advance(0.1)
    assert await line.taken() == ["a"]


DATES = [
    ("the earlier comes second", (30, 10), 10),
    ("the earlier comes first", (10, 30), 10),
    ("of many the earliest wins", (50, 20, 40, 20, 35), 20),
]


@pytest.mark.parametrize(("delays", "due"), [case[1:] for case in DATES], ids=[case[0] for case in DATES])
async def test_of_several_delays_for_one_key_the_shortest_counts(line: Line, delays: tuple[int, ...], due: int) -> None:
    for delay in delays:
        line.queue.add_after("a", delay)
    line.time.advance(due - 0.5)
    assert line.queue.depth == 0
    line.time.advance(0.5)
    assert await line.taken() == ["a"]
    line.time.advance(1000)
    assert await line.taken() == [], "the later dates were dropped"


@pytest.mark.parametrize("delay", [0, -1])
async def test_a_delay_that_is_not_positive_queues_the_key_at_once(line: Line, delay: int) -> None:
    line.queue.add_after("a", delay)
    assert await line.taken() == ["a"]


async def test_an_added_key_loses_its_delay_because_its_reconcile_sets_a_new_one(line: Line) -> None:
    line.queue.add_after("a", 10)
    line.queue.add("a")
    assert await line.taken() == ["a"]
    line.time.advance(1000)
    assert await line.taken() == []


async def test_a_delay_for_a_queued_key_is_ignored(line: Line) -> None:
    line.queue.add("a")
    line.queue.add_after("a", 10)
    assert await line.taken() == ["a"]
    line.time.advance(1000)
    assert await line.taken() == []


async def test_a_busy_key_with_a_delay_is_queued_after_the_delay(line: Line) -> None:
    line.queue.add("a")
    key = await line.queue.get()
    line.queue.add_after(key, 10)
    line.queue.done(key)
    assert line.queue.depth == 0
    line.time.advance(10)
    assert await line.taken() == ["a"]


async def test_a_key_that_is_added_while_busy_ignores_the_delay_of_its_worker(line: Line) -> None:
    line.queue.add("a")
    key = await line.queue.get()
    line.queue.add(key)
    line.queue.add_after(key, 10)
    line.queue.done(key)
    assert await line.taken() == ["a"], "what changed meanwhile must not wait"
    line.time.advance(1000)
    assert await line.taken() == []


async def test_a_delay_that_ends_while_the_key_is_busy_queues_the_key_when_its_worker_is_done(line: Line) -> None:
    line.queue.add("a")
    key = await line.queue.get()
    line.queue.add_after(key, 10)
    line.time.advance(10)
    assert line.queue.depth == 0
    line.queue.done(key)
    assert await line.taken() == ["a"]


async def test_the_queue_measures_its_depth_and_the_age_of_its_oldest_key(line: Line) -> None:
    assert (line.queue.depth, line.queue.oldest_age) == (0, 0)
    line.queue.add("a")
    line.time.advance(5)
    line.queue.add("b")
    line.queue.add("a")
    line.time.advance(2)
    assert (line.queue.depth, line.queue.oldest_age) == (2, 7)
    await line.queue.get()
    assert (line.queue.depth, line.queue.busy, line.queue.oldest_age) == (1, 1, 2)


async def test_the_age_of_a_key_that_was_added_while_busy_counts_from_the_add(line: Line) -> None:
    line.queue.add("a")
    await line.queue.get()
    line.queue.add("a")
    line.time.advance(4)
    line.queue.done("a")
    assert line.queue.oldest_age == 4


async def test_a_closed_queue_returns_no_key(line: Line) -> None:
    line.queue.add("a")
    line.queue.close()
    with pytest.raises(QueueClosedError):
        await line.queue.get()


async def test_closing_the_queue_ends_the_wait_of_every_worker(line: Line) -> None:
    waiting = [asyncio.create_task(line.queue.get()) for _ in range(3)]
    await asyncio.sleep(0)
    line.queue.close()
    ends = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(end) for end in ends] == [QueueClosedError] * 3


async def test_a_closed_queue_drops_its_delayed_keys(line: Line) -> None:
    line.queue.add_after("a", 10)
    line.queue.close()
    line.time.advance(10)
    assert line.queue.depth == 0
