"""Full garbage collections at set times, in place of those that Python (3.11 to 3.13) makes by its own rule.

A full collection looks at every object and stops the process meanwhile: 0.1 s with 5,000 tables. While a namespace
created tables, Python made one every 15 to 20 s, and each namespace waited for it. Most objects need no collection,
because they are in no cycle: Python frees them as soon as nothing refers to them.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable
from typing import Final

from prometheus_client import CollectorRegistry, ProcessCollector

PERIOD_S: Final = 300.0
"""Most seconds between two full collections."""
LOOK_S: Final = 10.0
"""Seconds between two looks at the memory."""
GROWTH_MIB: Final = 64.0
"""After so much growth the next full collection comes at once. kopf keeps each object of an event in a cycle."""
_NEVER: Final = 1_000_000_000
"""Collections of the middle generation before a full one."""
_PROCESS: Final = CollectorRegistry()
ProcessCollector(registry=_PROCESS)


def resident_mib() -> float:
    """The memory of this process that is in RAM. 0 on a system that does not tell it as Linux does."""
    return (_PROCESS.get_sample_value("process_resident_memory_bytes") or 0) / (1 << 20)


async def collect_at_set_times(
    memory: Callable[[], float] = resident_mib, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
) -> None:
    """Makes all full collections of the process from now on, until it is cancelled. `memory` is in MiB."""
    usual = gc.get_threshold()
    gc.set_threshold(*usual[:2], _NEVER)
    try:
        while True:
            await _until_due(memory, sleep)
            gc.collect()
    finally:
        gc.set_threshold(*usual)


async def _until_due(memory: Callable[[], float], sleep: Callable[[float], Awaitable[object]]) -> None:
    """Returns after the period, or once the memory has grown by much."""
    least = memory()
    for _ in range(round(PERIOD_S / LOOK_S)):
        await sleep(LOOK_S)
        least = min(least, now := memory())
        if now >= least + GROWTH_MIB:
            return
