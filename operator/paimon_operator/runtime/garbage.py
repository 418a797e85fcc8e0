"""Full garbage collections at set times instead of whenever Python finds that the heap has grown by a quarter.

A full collection looks at every object and stops the process meanwhile: 0.1 s with 5,000 tables. While a namespace
creates tables, Python made one every 15 to 20 s, and each namespace waited for it. Most objects need no collection,
because they are in no cycle: Python frees them as soon as nothing refers to them.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable
from typing import Final

PERIOD_S: Final = 300.0
"""Seconds between two full collections. What is in cycles meanwhile (errors, ended tasks) stays in memory."""
_NEVER: Final = 1_000_000_000
"""Collections of the middle generation before a full one."""


async def collect_at_set_times(sleep: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
    """Makes all full collections of the process from now on, until it is cancelled."""
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, _NEVER)
    while True:
        await sleep(PERIOD_S)
        gc.collect()
