"""How long a new table waits for its conditions, alone and while another namespace creates many tables.

`python -m tools.benchmarks.fleet.neighbour [TABLES]`, by default beside 5,000. The operator has one core. The tables
of the other namespace come at two steady rates, and as `kubectl create -f` of a file creates them, each as soon as the
one before is stored. Each such namespace has a new API server, because one with more tables is slower. After each wait
a plain client sends the operator's requests itself, in a namespace that no operator watches: what they take is the API
server's part. This goes on until the operator has reconciled the last one, but for four minutes after its creation at
most.

A percentile of some hundred waits varies by a fifth. So the higher rate and the file are measured on two API servers,
and each rate is compared with the waits alone on all API servers. It fails where the 99th percentile beside tables at a
steady rate is more than twice that without them, where it grows more than twice as much as that of the client, and
where the operator reconciles the other tables at less than its rate.

The measurement hardly loads the API server: a watch reports the conditions, and time passes between two waits. It
makes its own garbage collections before and after the waits of a period, because a full one takes a quarter second.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from paimon_operator.core.naming import FINALIZER
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.runtime.keys import Key
from paimon_operator.settings import Settings
from tests.apiserver.connected import Connected, connected
from tests.apiserver.operator_process import OperatorProcess
from tests.cluster.apiserver import ApiServer
from tools.benchmarks.fleet.conditions import Conditions, has_conditions
from tools.benchmarks.fleet.stage import create_table, operator_on_one_core, serving

QUIET: Final = "quiet"
UNWATCHED: Final = "unwatched"
RATES: Final = {"steady": 20, "calm": 10, "steady-again": 20, "file": 0, "file-again": 0}
"""Namespace -> tables that are created in it in a second. 0: one after the other."""
PAUSE_S, PAUSE_BESIDE_A_FILE_S = 0.25, 0.09
"""Between two waits. A file is created in 25 to 75 s, in which FEWEST waits are needed. With a shorter pause the quiet
namespace itself would have more new tables than RATE."""
ALONE_S: Final = 240
"""How long is measured without other tables, on each API server."""
AFTER_S: Final = 240
"""How long is measured at most after the last creation: the operator reconciles the tables that wait at its rate."""
FEWEST: Final = 100
"""A period with fewer waits has no figure. That of the creations must have one."""
RATE: Final[float] = Settings.model_fields["new_tables_rate"].default
"""New tables of a namespace that the operator reconciles in a second."""
GOAL: Final = 2.0
Noise = AbstractContextManager[subprocess.Popen[bytes]]
"""A process that creates the tables of another namespace."""
_HEADER: Final = """\
| a new table | median s | p99 s | p99, times alone | a client: median s | p99 s | p99, times alone |
|---|---|---|---|---|---|---|"""
_PATIENCE_S: Final = 60


@dataclass(frozen=True)
class Waits:
    """Seconds from the creation of each table, one after the other, until it has conditions."""

    operators: list[float]
    """Of tables that the operator watches."""
    plain: list[float]
    """Of tables whose finalizer and status are written by the client that has created them."""


@dataclass(frozen=True)
class Beside:
    """The waits beside the tables of another namespace."""

    creating: Waits
    """While they are created."""
    after: Waits
    """After that, until the operator has reconciled the last one or AFTER_S have passed."""
    after_s: float
    """How long that was."""
    unsettled: int
    """Tables without conditions at the end, beyond those for which there was no time at the operator's rate."""


@dataclass(frozen=True)
class Measured:
    """The waits on one API server."""

    namespace: str
    """Whose tables come."""
    alone: Waits
    beside: Beside


@dataclass(frozen=True)
class Probe:
    """Creates tables in the quiet namespace and in the unwatched one, in turn, and measures their waits."""

    api: Connected
    operator: OperatorProcess
    pause_s: float
    """Between two tables."""
    numbers: Iterator[int] = field(default_factory=itertools.count)

    async def waits(self, goes_on: Callable[[], Awaitable[bool]]) -> Waits:
        """The waits while it goes on."""
        measured = Waits([], [])
        async with Conditions.watched(self.api, QUIET) as conditions:
            with without_collections():
                while await goes_on():
                    self.operator.require_running()
                    await self._one_more(measured, conditions)
        return measured

    async def _one_more(self, measured: Waits, conditions: Conditions) -> None:
        number = next(self.numbers)
        await asyncio.sleep(self.pause_s)
        began, created = time.monotonic(), await create_table(self.api, QUIET, number)
        table = await conditions.table_with(created["metadata"]["name"], _PATIENCE_S)
        measured.operators.append(time.monotonic() - began)
        await asyncio.sleep(self.pause_s)
        measured.plain.append(await self._create_with_status(number, table["status"]))

    async def _create_with_status(self, number: int, status: Manifest) -> float:
        """Seconds of a table's creation and of what the operator sends until it has conditions."""
        began, created = time.monotonic(), await create_table(self.api, UNWATCHED, number)
        table = await self.api.store.set_finalizers(Kind.TABLE, created, [FINALIZER]) or {}
        await self.api.store.apply_status(Kind.TABLE, table, status)
        return time.monotonic() - began


@contextmanager
def without_collections() -> Iterator[None]:
    """This process collects no garbage in cycles during the block, but before it and after it."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect()


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


async def beside(probe: Probe, noise: Noise, last: Key) -> Beside:
    """The waits while another namespace creates tables, and while the operator reconciles those until the `last`."""

    async def is_creating() -> bool:
        return process.poll() is None

    async def is_reconciling() -> bool:
        return time.monotonic() < began + AFTER_S and not has_conditions(await probe.api.store.get(*last) or {})

    first = time.monotonic()
    with noise as process:
        await asyncio.sleep(2)  # until the operator has work
        measured = await probe.waits(is_creating)
    began = time.monotonic()
    after = await probe.waits(is_reconciling)
    end = time.monotonic()
    tables = await probe.api.store.list(Kind.TABLE, last.namespace)
    return Beside(measured, after, end - began, unsettled(tables, end - first))


def unsettled(tables: Sequence[Manifest], seconds: float) -> int:
    """How many of the tables have no conditions, beyond those for which the seconds were too few at the rate."""
    return min(len(tables), int(RATE * seconds)) - sum(map(has_conditions, tables))


async def measure(server: ApiServer, operator: OperatorProcess, namespace: str, tables: int) -> Measured:
    """The waits alone, and then beside the other namespace."""
    async with connected(server.kubeconfig, namespaces=(QUIET, UNWATCHED, namespace), timeout_s=120) as api:
        pause = PAUSE_S if RATES[namespace] else PAUSE_BESIDE_A_FILE_S
        probe, end = Probe(api, operator, pause), time.monotonic() + ALONE_S

        async def is_alone() -> bool:
            return time.monotonic() < end

        alone = await probe.waits(is_alone)
        last = Key(Kind.TABLE, namespace, f"t{tables - 1}")
        return Measured(namespace, alone, await beside(probe, creating(server, namespace, tables), last))


def p99(waits: Sequence[float]) -> float:
    """The 99th percentile."""
    return statistics.quantiles(waits, n=100)[98]


def together(waits: Iterable[Waits]) -> Waits:
    """The waits on several API servers."""
    all_ = list(waits)
    return Waits([each for one in all_ for each in one.operators], [each for one in all_ for each in one.plain])


def _cells(waits: Sequence[float], alone: Sequence[float]) -> str:
    return f"{statistics.median(waits):.3f} | {p99(waits):.3f} | {p99(waits) / p99(alone):.1f}"


def missed(rate: int, beside: Waits, alone: Waits) -> list[str]:
    """The goals that the waits beside tables at a rate have missed."""
    longer = p99(beside.operators) / p99(alone.operators)
    than_plain = longer / (p99(beside.plain) / p99(alone.plain))
    found = [f"{_named(rate)}: {longer:.2f} times as long, goal {GOAL:g}"] if rate and longer > GOAL else []
    if than_plain > GOAL:
        found += [f"{_named(rate)}: grows {than_plain:.2f} times as much as a client's, goal {GOAL:g}"]
    return found


def _named(rate: int) -> str:
    return f"{rate} a second" if rate else "one after the other"


def _on_new_api_server(namespace: str, tables: int) -> Measured:
    with (
        tempfile.TemporaryDirectory() as directory,
        serving(Path(directory), QUIET, namespace, UNWATCHED) as server,
        operator_on_one_core(server, Path(directory), QUIET, namespace) as operator,
    ):
        operator.wait_until_working()
        return asyncio.run(measure(server, operator, namespace, tables))


def _line(name: str, waits: Waits, alone: Waits) -> bool:
    """Prints the line if there are enough waits, and returns whether there are."""
    what = f"{name}, {len(waits.operators)} times"
    if len(waits.operators) < FEWEST:
        return False
    print(f"| {what} | {_cells(waits.operators, alone.operators)} | {_cells(waits.plain, alone.plain)} |", flush=True)
    return True


def run(namespace: str, tables: int) -> Measured:
    """Measures on a new API server, and prints a line for each of its periods, compared with that API server alone."""
    measured = _on_new_api_server(namespace, tables)
    after = f"in the {measured.beside.after_s:.0f} s after that"
    _line("alone", measured.alone, measured.alone)
    _line(f"beside {tables}, {_named(RATES[namespace])}", measured.beside.creating, measured.alone)
    _line(after, measured.beside.after, measured.alone)
    return measured


def report(all_measured: Sequence[Measured]) -> list[str]:
    """Prints a line for each period of each rate, compared with all API servers alone. Returns the missed goals."""
    alone = together(each.alone for each in all_measured)
    _line("alone, on all API servers", alone, alone)
    few = [each.namespace for each in all_measured if len(each.beside.creating.operators) < FEWEST]
    found = [f"{each}: fewer than {FEWEST} waits" for each in few]
    behind = {each.namespace: each.beside.unsettled for each in all_measured if each.beside.unsettled > 0}
    found += [f"{each}: {count} tables are not reconciled in time" for each, count in behind.items()]
    for rate in dict.fromkeys(RATES[each.namespace] for each in all_measured):
        of_rate = [each.beside for each in all_measured if RATES[each.namespace] == rate]
        creating, after = together(each.creating for each in of_rate), together(each.after for each in of_rate)
        for name, waits in {"": creating, ", after the last one": after}.items():
            if _line(f"{_named(rate)}{name}", waits, alone):
                found += missed(rate, waits, alone)
    return found


def main(arguments: Sequence[str]) -> int:
    """Prints the figures as a table in Markdown. Returns 1 where the goal is missed."""
    tables = int(arguments[0]) if arguments else 5000
    print(_HEADER, flush=True)
    problems = report([run(namespace, tables) for namespace in RATES])
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
