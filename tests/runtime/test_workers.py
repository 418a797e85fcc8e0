"""The workers: one worker per key, an error ends no worker, and stopping waits for busy keys."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from itertools import pairwise

import pytest

from paimon_operator.core.ports import Kind
from paimon_operator.errors import (
    ForbiddenError,
    KubernetesError,
    LeaseLostError,
    NotFoundError,
    RetryableError,
    StaleError,
)
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.workers import RETRY, Workers
from tests.runtime.timed_queue import queue_on
from tests.support.virtual_time import VirtualTime

KEY = Key(Kind.TABLE, "shop", "orders")
Reconcile = Callable[[Key], Awaitable[timedelta | None]]


class TimedWorkers:
    """Workers on a queue with a virtual clock, and their measured results."""

    def __init__(self, reconcile: Reconcile, *, count: int = 3) -> None:
        self.time = VirtualTime()
        self.queue = queue_on(self.time)
        self.failed: list[Key] = []
        self.measured: list[tuple[str, str]] = []
        self.workers = Workers(
            self.queue,
            reconcile,
            count=count,
            clock=self.time.seconds,
            measure=lambda kind, result, _: self.measured.append((kind, result)),
            on_error=self.failed.append,
        )
        self.workers.start()

    async def settle(self) -> None:
        while self.queue.depth or self.queue.busy:  # noqa: ASYNC110  (lets the workers take one step)
            await asyncio.sleep(0)


@pytest.fixture
async def start_workers() -> AsyncIterator[Callable[..., TimedWorkers]]:
    started_workers: list[TimedWorkers] = []

    def start(reconcile: Reconcile, **options: int) -> TimedWorkers:
        started_workers.append(TimedWorkers(reconcile, **options))
        return started_workers[-1]

    yield start
    for pool in started_workers:
        await pool.workers.stop()


async def test_two_workers_never_have_the_same_key(start_workers: Callable[..., TimedWorkers]) -> None:
    inside: list[Key] = []
    most = 0

    async def reconcile(key: Key) -> None:
        nonlocal most
        inside.append(key)
        most = max(most, len(inside))
        assert len(set(inside)) == len(inside), "two workers have the same key"
        await asyncio.sleep(0)
        inside.remove(key)

    pool = start_workers(reconcile)
    for round_ in range(20):
        for name in ("a", "b", "c", "d"):
            pool.queue.add(Key(Kind.TABLE, "shop", name))
        if round_ % 3 == 0:
            await asyncio.sleep(0)
    await pool.settle()
    assert most == 3, "the three workers did not run at the same time"
    assert {result for _, result in pool.measured} == {"ok"}


async def test_a_key_is_requeued_after_the_delay_that_its_reconcile_returns(
    start_workers: Callable[..., TimedWorkers],
) -> None:
    reconciles = 0

    async def reconcile(_: Key) -> timedelta | None:
        nonlocal reconciles
        reconciles += 1
        return timedelta(minutes=5) if reconciles == 1 else None

    pool = start_workers(reconcile)
    pool.queue.add(KEY)
    await pool.settle()
    pool.time.advance(299)
    await pool.settle()
    assert reconciles == 1
    pool.time.advance(1)
    await pool.settle()
    pool.time.advance(10_000)
    await pool.settle()
    assert reconciles == 2


ERRORS: list[tuple[Exception, str]] = [
    (RetryableError("broken", status=500), "retry"),
    (StaleError("changed", status=409), "retry"),
    (NotFoundError("gone", status=404), "retry"),
    (LeaseLostError("lost"), "retry"),
    (ForbiddenError("no", status=403), "error"),
    (KubernetesError("teapot", status=418), "error"),
    (ZeroDivisionError("a bug"), "error"),
]


@pytest.mark.parametrize(
    ("asked", "took", "left"),
    [(60, 0, 60), (60, 40, 20), (60, 70, 1), (0.5, 40, 0.5)],
    ids=["at once", "while the reconcile took long", "longer than the delay", "a short delay"],
)
async def test_a_delay_counts_from_the_beginning_of_the_reconcile(
    asked: float, took: float, left: float, start_workers: Callable[..., TimedWorkers]
) -> None:
    """So a tick that comes during a slow write is late by no more than that."""
    passes: list[float] = []

    async def reconcile(_: Key) -> timedelta | None:
        passes.append(pool.time.seconds())
        pool.time.advance(took)
        return timedelta(seconds=asked) if len(passes) == 1 else None

    pool = start_workers(reconcile)
    pool.queue.add(KEY)
    await pool.settle()
    pool.time.advance(left - 0.1)
    await pool.settle()
    assert len(passes) == 1
    pool.time.advance(0.1)
    await pool.settle()
    assert passes == [0, pytest.approx(took + left)]


@pytest.mark.parametrize(("error", "result"), ERRORS, ids=[type(error).__name__ for error, _ in ERRORS])
async def test_an_error_is_counted_and_its_key_is_retried_at_growing_intervals(
    start_workers: Callable[..., TimedWorkers], error: Exception, result: str
) -> None:
    reconciles: list[float] = []

    async def reconcile(_: Key) -> None:
        reconciles.append(pool.time.seconds())
        raise error

    pool = start_workers(reconcile)
    pool.queue.add(KEY)
    for _ in range(3600):
        await pool.settle()
        pool.time.advance(1)
    pauses = [later - earlier for earlier, later in pairwise(reconciles)]
    assert pool.measured[0] == ("PaimonTable", result)
    assert pool.failed == [KEY] * len(reconciles), "each error is reported before the key is retried"
    assert pauses[0] <= 2
    assert pauses[-1] > 200
    assert max(pauses) <= RETRY.last.total_seconds() + 1


async def test_after_a_success_the_next_error_is_retried_soon(start_workers: Callable[..., TimedWorkers]) -> None:
    fails = [True] * 6 + [False, True, False]
    reconciles: list[float] = []

    async def reconcile(_: Key) -> None:
        reconciles.append(pool.time.seconds())
        if fails.pop(0):
            raise RetryableError("broken", status=500)

    pool = start_workers(reconcile)
    pool.queue.add(KEY)
    for _ in range(600):
        await pool.settle()
        pool.time.advance(1)
    pool.queue.add(KEY)
    await pool.settle()
    started = reconciles[-1]
    pool.time.advance(2)
    await pool.settle()
    assert fails == []
    assert reconciles[-1] - started <= 2


async def test_stopping_waits_for_the_busy_key_and_takes_no_other(start_workers: Callable[..., TimedWorkers]) -> None:
    entered, may_end = asyncio.Event(), asyncio.Event()
    ended: list[Key] = []

    async def reconcile(key: Key) -> None:
        entered.set()
        await may_end.wait()
        ended.append(key)

    pool = start_workers(reconcile, count=1)
    pool.queue.add(KEY)
    pool.queue.add(Key(Kind.TABLE, "shop", "next"))
    await entered.wait()
    stopping = asyncio.create_task(pool.workers.stop())
    await asyncio.sleep(0)
    may_end.set()
    await stopping
    assert ended == [KEY]
    assert pool.queue.depth == 1


async def test_a_key_that_does_not_end_is_cancelled(
    start_workers: Callable[..., TimedWorkers], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paimon_operator.runtime.workers._DRAIN", 0.05)
    entered = asyncio.Event()

    async def reconcile(_: Key) -> None:
        entered.set()
        await asyncio.Event().wait()

    pool = start_workers(reconcile, count=1)
    pool.queue.add(KEY)
    await entered.wait()
    await pool.workers.stop()
    assert pool.queue.busy == 0
