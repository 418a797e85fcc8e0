"""The work queue is fair by namespace: a backlog of one namespace delays no key of another one."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_operator.core.ports import Kind
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.queue import WorkQueue
from tests.support.virtual_time import VirtualTime

BACKLOG = 5000


def key(namespace: str, name: object = "orders") -> Key:
    return Key(Kind.TABLE, namespace, str(name))


def queue_on(time: VirtualTime) -> WorkQueue[Key]:
    return WorkQueue(
        namespace_of=lambda each: each.namespace,
        clock=time.seconds,
        call_later=time.call_later,
        on_late=lambda _: None,
    )


@pytest.fixture
def queue() -> WorkQueue[Key]:
    """A queue with a backlog of one namespace."""
    queue = queue_on(VirtualTime())
    for number in range(BACKLOG):
        queue.add(key("large", number))
    return queue


async def test_a_key_is_next_after_at_most_one_key_of_a_namespace_with_a_backlog(queue: WorkQueue[Key]) -> None:
    queue.add(key("small"))
    taken = [(await queue.get()).namespace for _ in range(2)]
    assert "small" in taken


async def test_the_first_free_worker_takes_the_key_of_a_namespace_that_has_no_worker(queue: WorkQueue[Key]) -> None:
    busy = [await queue.get() for _ in range(8)]
    queue.add(key("small"))
    queue.done(busy[0])
    assert await queue.get() == key("small")


async def test_namespaces_with_backlogs_have_equally_many_workers(queue: WorkQueue[Key]) -> None:
    busy = [await queue.get() for _ in range(8)]
    for number in range(BACKLOG):
        queue.add(key("other", number))
    for each in busy:
        queue.done(each)
        await queue.get()
    taken = Counter([(await queue.get()).namespace for _ in range(8)])
    assert taken == {"large": 4, "other": 4}
    assert queue.depth == 2 * BACKLOG - 24


async def test_a_namespace_that_waits_alone_has_all_workers(queue: WorkQueue[Key]) -> None:
    assert {(await queue.get()).namespace for _ in range(8)} == {"large"}


async def test_a_key_that_returns_at_once_takes_no_turn_of_others(queue: WorkQueue[Key]) -> None:
    queue.add(key("small"))
    taken = []
    for _ in range(20):
        taken.append(await queue.get())
        queue.add(key("small"))  # while busy, or waiting: it comes back as soon as it is done
        queue.done(taken[-1])
    assert Counter(each.namespace for each in taken) == {"large": 10, "small": 10}


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.sampled_from("abcd"), st.integers(1, 3)),
        st.tuples(st.just("later"), st.sampled_from("abcd"), st.integers(1, 3)),
        st.tuples(st.just("done"), st.just(""), st.integers(0, 5)),
        st.tuples(st.sampled_from(("get", "pass")), st.just(""), st.just(1)),
    ),
    max_size=80,
)


class CheckedQueue:
    """A queue, and what must be true of each key that it returns."""

    def __init__(self) -> None:
        self.time = VirtualTime()
        self.queue = queue_on(self.time)
        self.busy: list[Key] = []
        self.added: set[Key] = set()
        """Keys that were added after a worker last took them."""
        self.delayed: set[Key] = set()
        self.passed: dict[str, Counter[str]] = defaultdict(Counter)
        """For each waiting namespace without a busy key: the keys of each other namespace that went first."""

    async def step(self, action: str, namespace: str, number: int) -> None:
        if action == "add":
            self.queue.add(key(namespace, number))
            self.added.add(key(namespace, number))
            self.delayed.discard(key(namespace, number))
        elif action == "later":
            self.queue.add_after(key(namespace, number), 10)
            self.delayed |= {key(namespace, number)} - self.added
        elif action == "pass":
            self.time.advance(10)
            self.added |= self.delayed
            self.delayed.clear()
        elif action == "done" and self.busy:
            self.queue.done(self.busy.pop(number % len(self.busy)))
        elif action == "get" and self.queue.depth:
            self.check(await self.queue.get())

    def check(self, taken: Key) -> None:
        assert taken not in self.busy, "two workers have one key"
        assert taken in self.added, "nobody added the key"
        others = {each.namespace for each in self.added if each not in self.busy} - {taken.namespace}
        in_use = Counter(each.namespace for each in self.busy)
        for other in others:
            assert in_use[taken.namespace] <= in_use[other], f"{other} has fewer workers and waits"
            if not in_use[other]:
                self.passed[other][taken.namespace] += 1
                assert self.passed[other][taken.namespace] == 1, f"{other} starves"
        self.passed.pop(taken.namespace, None)
        self.added.remove(taken)
        self.busy.append(taken)


@given(STEPS)
def test_no_key_is_lost_none_has_two_workers_and_no_namespace_starves(steps: Sequence[tuple[str, str, int]]) -> None:
    async def work() -> None:
        checked = CheckedQueue()
        for step in [*steps, ("pass", "", 1)]:
            await checked.step(*step)
        while checked.queue.depth or checked.busy:
            await checked.step("done", "", 0)
            await checked.step("get", "", 1)
        assert not checked.added, "keys were lost"

    asyncio.run(work())
