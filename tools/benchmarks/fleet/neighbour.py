"""How long a new table waits for its conditions, alone and while another namespace creates many tables.

`python -m tools.benchmarks.fleet.neighbour [TABLES]`, by default beside 5,000. The operator has one core. The tables of
the other namespace come once at a steady rate, and once as fast as the API server takes them, which then is what all
wait for. It fails where the 99th percentile beside the steady ones is more than twice that without them.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from paimon_operator.core.ports import Kind, Manifest
from tests.apiserver.connected import Connected, connected
from tests.apiserver.operator_process import OperatorProcess
from tests.cluster.apiserver import ApiServer
from tools.benchmarks.fleet.stage import create_table, operator_on_one_core, serving, until

QUIET: Final = "quiet"
STEADY: Final = "steady"
RATES: Final = {STEADY: 20, "storm": 1000}
"""Namespace -> tables that are created in it in a second."""
SAMPLES: Final = {QUIET: 1000, STEADY: 1000, "storm": 200}
"""How many waits are measured: alone, and while the tables of each other namespace come. A storm ends soon."""
GOAL: Final = 2.0
Noise = AbstractContextManager[subprocess.Popen[bytes]]
"""A process that creates the tables of another namespace."""
_BETWEEN_LOOKS_S: Final = 0.01
_BETWEEN_SAMPLES_S: Final = 0.1
_PATIENCE_S: Final = 300


async def waits(api: Connected, operator: OperatorProcess, numbers: Iterable[int]) -> list[float]:
    """Seconds from the creation of each table of the quiet namespace, one after the other, until it has conditions."""
    return [await _wait(api, operator, number) for number in numbers]


async def _wait(api: Connected, operator: OperatorProcess, number: int) -> float:
    await asyncio.sleep(_BETWEEN_SAMPLES_S)
    began, name = time.monotonic(), await create_table(api, QUIET, number)
    while not _has_conditions(await api.store.get(Kind.TABLE, QUIET, name)):
        operator.require_running()
        if time.monotonic() - began > _PATIENCE_S:
            raise TimeoutError(f"table {name} has no conditions")
        await asyncio.sleep(_BETWEEN_LOOKS_S)
    return time.monotonic() - began


def _has_conditions(table: Manifest | None) -> bool:
    return bool(((table or {}).get("status") or {}).get("conditions"))


@contextmanager
def creating(server: ApiServer, namespace: str, tables: int) -> Iterator[subprocess.Popen[bytes]]:
    """A process that creates the tables of a namespace. At the end of the block it has created all."""
    program = [sys.executable, "-m", "tools.benchmarks.fleet.creating", str(server.kubeconfig), namespace]
    with subprocess.Popen([*program, str(tables), str(RATES[namespace])]) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise
    assert process.returncode == 0, f"tables of {namespace} could not be created"


async def beside(
    api: Connected, operator: OperatorProcess, namespace: str, noise: Noise, numbers: Iterable[int]
) -> list[float]:
    """The waits while another namespace creates tables. Raises RuntimeError if that is settled before the last one."""
    with noise as process:
        await asyncio.sleep(2)  # until the operator has work
        measured = await waits(api, operator, numbers)
        if process.poll() is not None and await _is_settled(api, namespace):
            raise RuntimeError(f"{namespace} was settled before the last wait: more tables are needed")
    await until(partial(_is_settled, api, namespace), operator)
    return measured


async def _is_settled(api: Connected, namespace: str) -> bool:
    """Whether every table of the namespace has its conditions."""
    return all(map(_has_conditions, await api.store.list(Kind.TABLE, namespace)))


async def measure(server: ApiServer, operator: OperatorProcess, tables: int) -> dict[str, list[float]]:
    """The waits alone, and beside each of the other namespaces."""
    async with connected(server.kubeconfig, namespaces=(QUIET, *RATES), timeout_s=120) as api:
        numbers = itertools.count()
        measured = {"alone": await waits(api, operator, itertools.islice(numbers, SAMPLES[QUIET]))}
        for namespace in RATES:
            few = itertools.islice(numbers, SAMPLES[namespace])
            noise = creating(server, namespace, tables)
            measured[namespace] = await beside(api, operator, namespace, noise, few)
        return measured


def p99(waits: Sequence[float]) -> float:
    """The 99th percentile."""
    return statistics.quantiles(waits, n=100)[98]


def _run(tables: int) -> dict[str, list[float]]:
    namespaces = (QUIET, *RATES)
    with (
        tempfile.TemporaryDirectory() as directory,
        serving(Path(directory), *namespaces) as server,
        operator_on_one_core(server, Path(directory), *namespaces) as operator,
    ):
        operator.wait_until_working()
        return asyncio.run(measure(server, operator, tables))


def main(arguments: Sequence[str]) -> int:
    """Prints the figures as a table in Markdown. Returns 1 where the goal is missed."""
    tables = int(arguments[0]) if arguments else 5000
    measured = _run(tables)
    least = p99(measured["alone"])
    print("| a new table | median s | p99 s | p99, times alone |\n|---|---|---|---|")
    for name, each in measured.items():
        what = f"beside {tables}, at most {RATES[name]} a second" if name in RATES else name
        print(f"| {what} | {statistics.median(each):.3f} | {p99(each):.3f} | {p99(each) / least:.2f} |")
    ratio = p99(measured[STEADY]) / least
    print(f"beside the steady ones: {ratio:.2f} times, goal {GOAL:g}")
    return 0 if ratio <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
