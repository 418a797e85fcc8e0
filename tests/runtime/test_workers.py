"""Workers: one key with one worker, errors never end one, and stopping lets busy ones end."""

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
from paimon_operator.runtime.queue import WorkQueue
from paimon_operator.runtime.workers import RETRY, Workers
from tests.support.virtual_time import VirtualTime

KEY = Key(Kind.TABLE, "shop", "orders")
Look = Callable[[Key], Awaitable[timedelta | None]]


class Shop:
    """Workers on a queue, and what they measured."""

    def __init__(self, context: Look, *, count: int = 3) -> None:
        self.time = VirtualTime()
        self.queue: WorkQueue[Key] = WorkQueue(clock=self.time.seconds, call_later=self.time.call_later)
        self.measured: list[tuple[str, str]] = []
        self.workers = Workers(
            self.queue,
            context,
            count=count,
            clock=self.time.seconds,
            measure=lambda kind, result, _: self.measured.append((kind, result)),
        )
        self.workers.start()

    async def settle(self) -> None:
        while self.queue.depth or self.queue.busy:  # noqa: ASYNC110  (lets the workers take one step)
            await asyncio.sleep(0)


@pytest.fixture
async def shops() -> AsyncIterator[Callable[..., Shop]]:
    opened: list[Shop] = []

    def open_shop(context: Look, **options: int) -> Shop:
        opened.append(Shop(context, **options))
        return opened[-1]

    yield open_shop
    for shop in opened:
        await shop.workers.stop()


async def test_two_workers_never_have_the_same_key(shops: Callable[..., Shop]) -> None:
    inside: list[Key] = []
    most = 0

    async def reconcile(key: Key) -> None:
        nonlocal most
        inside.append(key)
        most = max(most, len(inside))
        assert len(set(inside)) == len(inside), "one key with two workers"
        await asyncio.sleep(0)
        inside.remove(key)

    shop = shops(reconcile)
    for round_ in range(20):
        for name in ("a", "b", "c", "d"):
            shop.queue.add(Key(Kind.TABLE, "shop", name))
        if round_ % 3 == 0:
            await asyncio.sleep(0)
    await shop.settle()
    assert most == 3, "three workers, four keys: all work at once"
    assert {result for _, result in shop.measured} == {"ok"}


async def test_a_key_is_requeued_after_the_delay_that_its_reconcile_returns(shops: Callable[..., Shop]) -> None:
    looks = 0

    async def reconcile(_: Key) -> timedelta | None:
        nonlocal looks
        looks += 1
        return timedelta(minutes=5) if looks == 1 else None

    shop = shops(reconcile)
    shop.queue.add(KEY)
    await shop.settle()
    shop.time.advance(299)
    await shop.settle()
    assert looks == 1
    shop.time.advance(1)
    await shop.settle()
    shop.time.advance(10_000)
    await shop.settle()
    assert looks == 2


ERRORS: list[tuple[Exception, str]] = [
    (RetryableError("broken", status=500), "retry"),
    (StaleError("changed", status=409), "retry"),
    (NotFoundError("gone", status=404), "retry"),
    (LeaseLostError("lost"), "retry"),
    (ForbiddenError("no", status=403), "error"),
    (KubernetesError("teapot", status=418), "error"),
    (ZeroDivisionError("a bug"), "error"),
]


@pytest.mark.parametrize(("error", "result"), ERRORS, ids=[type(error).__name__ for error, _ in ERRORS])
async def test_an_error_is_counted_and_its_key_is_retried_at_growing_intervals(
    shops: Callable[..., Shop], error: Exception, result: str
) -> None:
    looks: list[float] = []

    async def reconcile(_: Key) -> None:
        looks.append(shop.time.seconds())
        raise error

    shop = shops(reconcile)
    shop.queue.add(KEY)
    for _ in range(3600):
        await shop.settle()
        shop.time.advance(1)
    pauses = [later - earlier for earlier, later in pairwise(looks)]
    assert shop.measured[0] == ("PaimonTable", result)
    assert pauses[0] <= 2
    assert pauses[-1] > 200
    assert max(pauses) <= RETRY.last.total_seconds() + 1


async def test_after_a_success_the_next_error_is_retried_soon(shops: Callable[..., Shop]) -> None:
    fails = [True] * 6 + [False, True, False]
    looks: list[float] = []

    async def reconcile(_: Key) -> None:
        looks.append(shop.time.seconds())
        if fails.pop(0):
            raise RetryableError("broken", status=500)

    shop = shops(reconcile)
    shop.queue.add(KEY)
    for _ in range(600):
        await shop.settle()
        shop.time.advance(1)
    shop.queue.add(KEY)
    await shop.settle()
    started = looks[-1]
    shop.time.advance(2)
    await shop.settle()
    assert fails == []
    assert looks[-1] - started <= 2


async def test_stopping_waits_for_the_busy_key_and_takes_no_other(shops: Callable[..., Shop]) -> None:
    entered, may_end = asyncio.Event(), asyncio.Event()
    ended: list[Key] = []

    async def reconcile(key: Key) -> None:
        entered.set()
        await may_end.wait()
        ended.append(key)

    shop = shops(reconcile, count=1)
    shop.queue.add(KEY)
    shop.queue.add(Key(Kind.TABLE, "shop", "next"))
    await entered.wait()
    stopping = asyncio.create_task(shop.workers.stop())
    await asyncio.sleep(0)
    may_end.set()
    await stopping
    assert ended == [KEY]
    assert shop.queue.depth == 1


async def test_a_key_that_does_not_end_is_cancelled(
    shops: Callable[..., Shop], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paimon_operator.runtime.workers._DRAIN", 0.05)
    entered = asyncio.Event()

    async def reconcile(_: Key) -> None:
        entered.set()
        await asyncio.Event().wait()

    shop = shops(reconcile, count=1)
    shop.queue.add(KEY)
    await entered.wait()
    await shop.workers.stop()
    assert shop.queue.busy == 0
