"""The tables of a catalog, for work on all of them: 10,000 take tenths of a second, for which nothing else may wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from paimon_operator.core.ports import Manifest
from paimon_operator.runtime.cache import Cache
from paimon_operator.runtime.keys import Key

_AT_A_TIME: Final = 100
"""Tables until others get their turn: two milliseconds."""


async def tables_in_turns(cache: Cache, catalog: Key) -> AsyncIterator[tuple[Key, Manifest]]:
    """The tables that name the catalog at the begin, sorted, each as the cache keeps it when its turn comes."""
    for place, table in enumerate(cache.tables_of(catalog), start=1):
        if (body := cache.get(*table)) is not None:
            yield table, body
        if place % _AT_A_TIME == 0:
            await asyncio.sleep(0)
