"""Work on all tables of a catalog lets other work go on, and shows each table as it is when its turn comes."""

from __future__ import annotations

import asyncio

import pytest

from paimon_operator.core.ports import Kind
from paimon_operator.runtime.cache import Cache
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.tables_in_turns import tables_in_turns
from tests.support import builders

LAKE = Key(Kind.CATALOG, builders.NAMESPACE, "lake")


@pytest.fixture
def cache() -> Cache:
    """A cache of a catalog's thousand tables, and one of another catalog."""
    cache = Cache()
    for number in range(1000):
        cache.put(Kind.TABLE, builders.table_manifest(f"t{number:03}"))
    cache.put(Kind.TABLE, builders.table_manifest("other", catalogRef={"name": "pond"}))
    return cache


async def test_other_work_has_its_turn_after_each_hundred_tables(cache: Cache) -> None:
    turns = 0

    async def work() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(work())
    names = [key.name async for key, _ in tables_in_turns(cache, LAKE)]
    other.cancel()
    assert (names, turns) == ([f"t{number:03}" for number in range(1000)], 10)


async def test_a_table_that_is_deleted_before_its_turn_is_left_out(cache: Cache) -> None:
    names: list[str] = []
    async for key, _ in tables_in_turns(cache, LAKE):
        if not names:
            cache.drop(Kind.TABLE, builders.table_manifest("t500"))
        names.append(key.name)
    assert len(names) == 999
    assert "t500" not in names
