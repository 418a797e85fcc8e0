"""Queue, workers and rate limit together: a backlog of one namespace delays the tables of another one by few requests.

Counted in requests and not in seconds: what a neighbour costs is then independent of the rate.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from paimon_operator.core.ports import Kind
from paimon_operator.kube.limiter import TokenBucket
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.queue import WorkQueue
from paimon_operator.runtime.workers import Workers
from tests.support.virtual_time import VirtualTime

WORKERS, REQUESTS, BACKLOG = 8, 3, 5000
RATE = 20.0


class SmallOperator:
    """Real queue, workers and limiter, connected as in `app`. A reconcile only sends its requests."""

    def __init__(self) -> None:
        self.time = time = VirtualTime()
        self.bucket = TokenBucket(rate=RATE, burst=2 * int(RATE), clock=time.seconds, call_later=time.call_later)
        self.queue: WorkQueue[Key] = WorkQueue(
            namespace_of=lambda key: key.namespace,
            clock=time.seconds,
            call_later=time.call_later,
            on_late=lambda _: None,
        )
        self.workers = Workers(
            self.queue,
            self._reconcile,
            count=WORKERS,
            clock=time.seconds,
            measure=lambda *_: None,
            on_error=lambda _: None,
        )
        self.sent: Counter[str] = Counter()
        self.reconciled: Counter[Key] = Counter()

    async def _reconcile(self, key: Key) -> None:
        for _ in range(REQUESTS):
            await self.bucket.take(key.namespace)
            self.sent[key.namespace] += 1
        self.reconciled[key] += 1

    def edit(self, namespace: str, *, tables: int = 1) -> None:
        """Enqueues the tables `0`, `1`, ... of the namespace."""
        for number in range(tables):
            self.queue.add(Key(Kind.TABLE, namespace, str(number)))

    async def pass_time(self, seconds: float) -> None:
        """Passes time in steps of half a token, after each of which every task continues."""
        for _ in range(round(seconds * RATE * 2)):
            self.time.advance(0.5 / RATE)
            for _ in range(6):
                await asyncio.sleep(0)

    async def reconcile(self, namespace: str, *, tables: int = 1) -> int:
        """Edits tables and waits for their reconciles. Returns how many requests of other namespaces were sent."""
        before, done = self.sent.total() - self.sent[namespace], self._done(namespace)
        self.edit(namespace, tables=tables)
        while self._done(namespace) < done + tables:
            await self.pass_time(1 / RATE)
        return self.sent.total() - self.sent[namespace] - before

    def _done(self, namespace: str) -> int:
        return sum(count for key, count in self.reconciled.items() if key.namespace == namespace)


@pytest.fixture
async def operator() -> AsyncIterator[SmallOperator]:
    """An operator that has been busy with a backlog of the namespace `large` for a while."""
    operator = SmallOperator()
    operator.edit("large", tables=BACKLOG)
    operator.workers.start()
    await operator.pass_time(5)
    yield operator
    stopping = asyncio.create_task(operator.workers.stop())
    while not stopping.done():
        await operator.pass_time(1)


AT_MOST = WORKERS * (REQUESTS - 1) + 1 + REQUESTS
"""Until a worker is free: the requests that the busy ones have left, in turns. Then one before each own request."""


async def test_a_backlog_of_one_namespace_delays_a_table_of_another_by_a_fixed_number_of_requests(
    operator: SmallOperator,
) -> None:
    assert await operator.reconcile("small") <= AT_MOST
    assert operator.queue.depth > BACKLOG - 100, "the backlog was worked on first"


async def test_every_edit_of_a_table_is_delayed_by_the_same_small_number_of_requests(operator: SmallOperator) -> None:
    delays = [await operator.reconcile("small") for _ in range(30)]
    assert max(delays) <= AT_MOST


async def test_two_namespaces_with_backlogs_get_the_same_number_of_reconciles(operator: SmallOperator) -> None:
    before = operator.sent["large"]
    operator.edit("other", tables=BACKLOG)
    await operator.pass_time(30)
    assert operator.sent["other"] == pytest.approx(operator.sent["large"] - before, abs=AT_MOST)


async def test_a_backlog_delays_many_small_namespaces_together_by_few_requests(operator: SmallOperator) -> None:
    namespaces = [f"team-{number}" for number in range(20)]
    for namespace in namespaces:
        operator.edit(namespace)
    before = operator.sent["large"]
    while sum(operator.reconciled[Key(Kind.TABLE, each, "0")] for each in namespaces) < len(namespaces):
        await operator.pass_time(1 / RATE)
    assert operator.sent["large"] - before <= AT_MOST + REQUESTS * len(namespaces)
    assert max(operator.reconciled.values()) == 1, "a table was reconciled twice after one edit"
