"""How long a new table waits for its conditions, alone and while another namespace creates many tables.

`python -m tools.benchmarks.fleet.neighbour [TABLES]`, by default beside 5,000. The operator is alone on one core. It
fails where the 99th percentile beside the others is more than twice that without them.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from paimon_operator.core.ports import Kind, Manifest
from tests.apiserver.connected import Connected, connected
from tests.cluster.apiserver import ApiServer
from tools.benchmarks.fleet.stage import create_table, create_tables, operator_on_one_core, serving

QUIET, NOISY = "quiet", "noisy"
SAMPLES: Final = 200
GOAL: Final = 2.0
_BETWEEN_LOOKS_S: Final = 0.01
_BETWEEN_SAMPLES_S: Final = 0.1
_PATIENCE_S: Final = 300


async def waits(api: Connected, numbers: Iterable[int]) -> list[float]:
    """Seconds from the creation of each table of the quiet namespace, one after the other, until it has conditions."""
    return [await _wait(api, number) for number in numbers]


async def _wait(api: Connected, number: int) -> float:
    await asyncio.sleep(_BETWEEN_SAMPLES_S)
    began, name = time.monotonic(), await create_table(api, QUIET, number)
    while not _has_conditions(await api.store.get(Kind.TABLE, QUIET, name)):
        if time.monotonic() - began > _PATIENCE_S:
            raise TimeoutError(f"table {name} has no conditions")
        await asyncio.sleep(_BETWEEN_LOOKS_S)
    return time.monotonic() - began


async def _is_settled(api: Connected) -> bool:
    """Whether every table of the noisy namespace has its conditions."""
    return all(map(_has_conditions, await api.store.list(Kind.TABLE, NOISY)))


def _has_conditions(table: Manifest | None) -> bool:
    return bool(((table or {}).get("status") or {}).get("conditions"))


async def measure(server: ApiServer, tables: int) -> tuple[list[float], list[float], bool]:
    """The waits alone, those beside the others, and whether the others were still waiting at the last of them."""
    async with connected(server.kubeconfig, namespaces=(QUIET, NOISY), timeout_s=120) as api:
        alone = await waits(api, range(SAMPLES))
        noise = asyncio.create_task(create_tables(api, NOISY, range(tables)))
        await asyncio.sleep(1)  # until the operator has work
        beside = await waits(api, range(SAMPLES, 2 * SAMPLES))
        is_busy = not noise.done() or not await _is_settled(api)
        await noise
        return alone, beside, is_busy


def p99(waits: Sequence[float]) -> float:
    """The 99th percentile."""
    return statistics.quantiles(waits, n=100)[98]


def _run(tables: int) -> tuple[list[float], list[float], bool]:
    with (
        tempfile.TemporaryDirectory() as directory,
        serving(Path(directory), QUIET, NOISY) as server,
        operator_on_one_core(server, Path(directory), QUIET, NOISY) as operator,
    ):
        operator.wait_until_working()
        return asyncio.run(measure(server, tables))


def main(arguments: Sequence[str]) -> int:
    """Prints the figures as a table in Markdown. Returns 1 where the goal is missed, or nothing was measured."""
    tables = int(arguments[0]) if arguments else 5000
    alone, beside, is_busy = _run(tables)
    print("| a new table | median s | p99 s |\n|---|---|---|")
    for name, waits in (("alone", alone), (f"beside {tables} of another namespace", beside)):
        print(f"| {name} | {statistics.median(waits):.3f} | {p99(waits):.3f} |")
    ratio = p99(beside) / p99(alone)
    print(f"p99: {ratio:.2f} times, goal {GOAL:g}" + ("" if is_busy else "; the others had ended before"))
    return 0 if is_busy and ratio <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
