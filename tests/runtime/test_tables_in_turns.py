"""Work on all tables of a catalog lets other work go on, and shows each table as it is when its turn comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from paimon_operator.api.looks import Findings
from paimon_operator.core.ports import Kind
from paimon_operator.runtime.cache import Cache
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.looks import Looks
from paimon_operator.runtime.tables_in_turns import tables_in_turns
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, lake
from tests.support import builders
from tests.support.virtual_time import VirtualTime

LAKE = Key(Kind.CATALOG, builders.NAMESPACE, "lake")


@pytest.fixture
def cache() -> Cache:
    """A cache of a catalog's thousand tables, and one of another catalog."""
    cache = Cache()
    for number in range(1000):
        cache.put(Kind.TABLE, builders.table_manifest(f"t{number:03}"))
    cache.put(Kind.TABLE, builders.table_manifest("other", catalogRef={"name": "pond"}))
    return cache


@asynccontextmanager
async def counted_turns() -> AsyncIterator[list[int]]:
    """Counts the turns of other work in the block."""
    turns = [0]

    async def work() -> None:
        while True:
            turns[0] += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(work())
    try:
        yield turns
    finally:
        other.cancel()


async def test_other_work_has_its_turn_after_each_hundred_tables(cache: Cache) -> None:
    async with counted_turns() as turns:
        names = [key.name async for key, _ in tables_in_turns(cache, LAKE)]
    assert (names, turns) == ([f"t{number:03}" for number in range(1000)], [10])


async def test_a_report_of_an_observer_lets_others_work(cache: Cache) -> None:
    looks = Looks(cache, interval_s=60, clock=VirtualTime())
    async with counted_turns() as turns:
        await looks.receive(LAKE, Findings(age=timedelta(0), tables={}, same={}), VirtualTime().now())
    assert turns == [10]


async def test_a_pass_of_a_catalog_lets_others_work(operator: OperatorInMemory) -> None:
    await operator.apply(lake())
    turns_of = []
    for tables in (0, 1000):
        for number in range(tables):
            manifest = builders.table_manifest(f"t{number:03}", SHOP)
            operator.cache.put(Kind.TABLE, manifest)
        async with counted_turns() as turns:
            operator.queue.add(Key(Kind.CATALOG, SHOP, "lake"))
            await operator.settle()
        turns_of.append(turns[0])
    assert turns_of[1] - turns_of[0] >= 10


async def test_a_table_that_is_deleted_before_its_turn_is_left_out(cache: Cache) -> None:
    names: list[str] = []
    async for key, _ in tables_in_turns(cache, LAKE):
        if not names:
            cache.drop(Kind.TABLE, builders.table_manifest("t500"))
        names.append(key.name)
    assert len(names) == 999
    assert "t500" not in names
