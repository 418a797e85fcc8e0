"""The work queue on a virtual clock: a key is queued once, has one worker at a time and is never lost."""

from __future__ import annotations

import asyncio

import pytest

from paimon_operator.runtime.queue import QueueClosedError, WorkQueue
from tests.support.virtual_time import VirtualTime


class TimedQueue:
    """A queue of keys `<namespace>/<name>` and its virtual clock. All keys without a slash are in one namespace."""

    def __init__(self) -> None:
        self.time = VirtualTime()
        self.late: list[str] = []
        self.queue: WorkQueue[str] = WorkQueue(
            namespace_of=lambda key: key.partition("/")[0] if "/" in key else "",
            clock=self.time.seconds,
            call_later=self.time.call_later,
            on_late=self.late.append,
        )

    async def drain(self) -> list[str]:
        """Takes every queued key and marks each one done. Returns the keys in their order."""
        keys = []
        while self.queue.depth:
            keys.append(await self.queue.get())
            self.queue.done(keys[-1])
        return keys


@pytest.fixture
def timed() -> TimedQueue:
    return TimedQueue()


async def test_a_key_that_is_added_many_times_is_queued_once(timed: TimedQueue) -> None:
    for _ in range(40):
        timed.queue.add("a")
    assert await timed.drain() == ["a"]


async def test_keys_leave_the_queue_in_the_order_of_their_arrival(timed: TimedQueue) -> None:
    for key in ("c", "a", "b", "a", "c"):
        timed.queue.add(key)
    assert await timed.drain() == ["c", "a", "b"]


async def test_a_key_that_is_added_while_busy_is_queued_when_its_worker_is_done(timed: TimedQueue) -> None:
    timed.queue.add("a")
    assert await timed.queue.get() == "a"
    timed.queue.add("a")
    timed.queue.add("a")
    assert timed.queue.depth == 0, "a second worker could have taken it"
    timed.queue.done("a")
    assert await timed.drain() == ["a"]


async def test_a_key_can_be_added_again_after_done(timed: TimedQueue) -> None:
    timed.queue.add("a")
    assert await timed.drain() == ["a"]
    timed.queue.add("a")
    assert await timed.drain() == ["a"]


async def test_a_waiting_worker_gets_the_next_key(timed: TimedQueue) -> None:
    waiting = asyncio.create_task(timed.queue.get())
    await asyncio.sleep(0)
    timed.queue.add("a")
    assert await waiting == "a"


async def test_several_waiting_workers_get_one_key_each(timed: TimedQueue) -> None:
    waiting = [asyncio.create_task(timed.queue.get()) for _ in range(3)]
    await asyncio.sleep(0)
    for key in ("a", "b", "c"):
        timed.queue.add(key)
    assert sorted(await asyncio.gather(*waiting)) == ["a", "b", "c"]


async def test_a_delayed_key_is_queued_after_its_delay(timed: TimedQueue) -> None:
    timed.queue.add_after("a", 10)
    timed.time.advance(9.9)
    assert timed.queue.depth == 0
    timed.time.advance(0.1)
    assert await timed.drain() == ["a"]


async def test_a_key_of_which_an_event_may_be_lost_is_late_from_then_on_whatever_enqueues_it(timed: TimedQueue) -> None:
    timed.queue.add("waits")
    timed.queue.add_late_after("waits", 10)
    timed.queue.add_late_after("comes", 10)
    assert timed.late == ["waits", "comes"]
    timed.queue.add("comes")
    assert sorted(await timed.drain()) == ["comes", "waits"]
    timed.time.advance(10)
    assert await timed.drain() == []


async def test_a_key_whose_time_has_come_is_late_unless_it_was_expected_or_enqueued_before(timed: TimedQueue) -> None:
    timed.queue.add_after("late", 10)
    timed.queue.add_after("expected", 10, expected=True)
    timed.queue.add_after("enqueued", 10)
    timed.queue.add("enqueued")
    timed.time.advance(10)
    assert sorted(await timed.drain()) == ["enqueued", "expected", "late"]
    assert timed.late == ["late"]


DELAYS = [
    ("the shorter delay second", (30, 10), 10),
    ("the shorter delay first", (10, 30), 10),
    ("several delays", (50, 20, 40, 20, 35), 20),
]


@pytest.mark.parametrize(("delays", "due"), [case[1:] for case in DELAYS], ids=[case[0] for case in DELAYS])
async def test_of_several_delays_for_one_key_the_shortest_counts(
    timed: TimedQueue, delays: tuple[int, ...], due: int
) -> None:
    for delay in delays:
        timed.queue.add_after("a", delay)
    timed.time.advance(due - 0.5)
    assert timed.queue.depth == 0
    timed.time.advance(0.5)
    assert await timed.drain() == ["a"]
    timed.time.advance(1000)
    assert await timed.drain() == [], "the longer delays were not dropped"


@pytest.mark.parametrize("delay", [0, -1])
async def test_a_delay_that_is_not_positive_queues_the_key_at_once(timed: TimedQueue, delay: int) -> None:
    timed.queue.add_after("a", delay)
    assert await timed.drain() == ["a"]


async def test_an_added_key_loses_its_delay_because_its_reconcile_sets_a_new_one(timed: TimedQueue) -> None:
    timed.queue.add_after("a", 10)
    timed.queue.add("a")
    assert await timed.drain() == ["a"]
    timed.time.advance(1000)
    assert await timed.drain() == []


async def test_a_delay_for_a_queued_key_is_ignored(timed: TimedQueue) -> None:
    timed.queue.add("a")
    timed.queue.add_after("a", 10)
    assert await timed.drain() == ["a"]
    timed.time.advance(1000)
    assert await timed.drain() == []


async def test_a_busy_key_with_a_delay_is_queued_after_the_delay(timed: TimedQueue) -> None:
    timed.queue.add("a")
    key = await timed.queue.get()
    timed.queue.add_after(key, 10)
    timed.queue.done(key)
    assert timed.queue.depth == 0
    timed.time.advance(10)
    assert await timed.drain() == ["a"]


async def test_a_key_that_is_added_while_busy_ignores_the_delay_of_its_worker(timed: TimedQueue) -> None:
    timed.queue.add("a")
    key = await timed.queue.get()
    timed.queue.add(key)
    timed.queue.add_after(key, 10)
    timed.queue.done(key)
    assert await timed.drain() == ["a"], "a change during the work had to wait"
    timed.time.advance(1000)
    assert await timed.drain() == []


async def test_a_delay_that_ends_while_the_key_is_busy_queues_the_key_when_its_worker_is_done(
    timed: TimedQueue,
) -> None:
    timed.queue.add("a")
    key = await timed.queue.get()
    timed.queue.add_after(key, 10)
    timed.time.advance(10)
    assert timed.queue.depth == 0
    timed.queue.done(key)
    assert await timed.drain() == ["a"]


async def test_the_queue_measures_its_depth_and_the_age_of_its_oldest_key(timed: TimedQueue) -> None:
    assert (timed.queue.depth, timed.queue.oldest_age) == (0, 0)
    timed.queue.add("a")
    timed.time.advance(5)
    timed.queue.add("b")
    timed.queue.add("a")
    timed.time.advance(2)
    assert (timed.queue.depth, timed.queue.oldest_age) == (2, 7)
    await timed.queue.get()
    assert (timed.queue.depth, timed.queue.busy, timed.queue.oldest_age) == (1, 1, 2)


async def test_the_age_of_a_key_that_was_added_while_busy_counts_from_the_add(timed: TimedQueue) -> None:
    timed.queue.add("a")
    await timed.queue.get()
    timed.queue.add("a")
    timed.time.advance(4)
    timed.queue.done("a")
    assert timed.queue.oldest_age == 4


async def test_a_closed_queue_returns_no_key(timed: TimedQueue) -> None:
    timed.queue.add("a")
    timed.queue.close()
    with pytest.raises(QueueClosedError):
        await timed.queue.get()


async def test_closing_the_queue_ends_the_wait_of_every_worker(timed: TimedQueue) -> None:
    waiting = [asyncio.create_task(timed.queue.get()) for _ in range(3)]
    await asyncio.sleep(0)
    timed.queue.close()
    ends = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(end) for end in ends] == [QueueClosedError] * 3


async def test_a_closed_queue_drops_its_delayed_keys(timed: TimedQueue) -> None:
    timed.queue.add_after("a", 10)
    timed.queue.close()
    timed.time.advance(10)
    assert timed.queue.depth == 0
