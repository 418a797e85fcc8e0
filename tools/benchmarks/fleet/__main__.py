"""Measures fleets of tables: `python -m tools.benchmarks.fleet [TABLES ...]`, by default of 100 and of 1,000 tables.

Of each fleet five things are measured, with the operator alone on one core:

* create: the tables are created, suspended, by twenty clients at once, until each has its conditions;
* restart: a new operator process, from its start until every table is reconciled;
* watch: from then on, until kopf has listed all objects too, with which its watches begin, and the process is quiet;
* idle: a minute in which nothing changes. Afterwards the most memory is read that the process has had;
* runs: at most RUNS of the tables are resumed at once, until the result of each Provision is in its table's status.

It fails where a restart grows more than the number of tables, and where a goal is missed. Those of requests: 3 for a
new table, 0.2 a second for an idle fleet, at a restart those for the pages of the lists, and for a run 14 beside the
edit, the end of the suspension, the catalog's count, and its reads every five seconds. Those of time and memory, for
fleets of at least 300 tables: 300 runs a minute, 60 s of a restart for 10,000 tables, and 300 MiB.
test_operator_requests.py of tests/apiserver counts the requests of a run exactly, and test_fleet.py measures a small
fleet.
"""

from __future__ import annotations

import asyncio
import math
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, NamedTuple

from paimon_operator.core.ports import Kind
from paimon_operator.kube.resources import RESOURCES
from tests.apiserver.connected import Connected, connected
from tests.apiserver.operator_process import OperatorProcess
from tests.cluster.apiserver import ApiServer
from tools.benchmarks.fleet.kubelet import Kubelets
from tools.benchmarks.fleet.operator_figures import Figures, cpu_s, figures, is_idle, peak_mib
from tools.benchmarks.fleet.stage import create_tables, operator_on_one_core, serving, until

RUNS: Final = 300
NAMESPACE: Final = "fleet"
IDLE_S: Final = 60
_QUIET_S: Final = 3.0
_QUIET_SHARE: Final = 0.2
"""Of a core: with less, the process has nothing to do but its heartbeat, also on a slow machine."""
_PAGE: Final = 50
_OF_THE_PROCESS: Final = 10
"""Requests that do not depend on the number of tables: the identity of the cluster, the catalog, its observers."""
_TABLES: Final = RESOURCES[Kind.TABLE]
_OF_A_RUN: Final = 17
"""Requests: 14 of the run, and the user's edit, the table without its suspension and the catalog's count of tables."""
_LOOK_S: Final = 5
_OF_A_LOOK: Final = 3
"""Reads of a run each `_LOOK_S` beside the one before its launch: of the run, its table and its Pod."""
_MEASURED: Final = 300
"""Tables from which on time and memory have goals: fewer are over before anything is measured."""
RUNS_A_MINUTE: Final = 300
RESTART_S: Final = 60.0
MEMORY_MIB: Final = 300.0
_LARGEST: Final = 10_000
"""Tables up to which a restart and memory have these goals."""
_RESUMED: Final = {"paimon-benchmark": "resumed"}
HEAD: Final = """| tables | what | seconds | CPU s | CPU ms each | requests each | a minute | peak MiB |
|---|---|---|---|---|---|---|---|"""


class Line(NamedTuple):
    """What was measured."""

    what: str
    seconds: float
    used: Figures
    objects: float
    """How many tables, runs or seconds it was for."""


class Fleet:
    """Tables of one size on one API server."""

    def __init__(self, api: Connected, count: int) -> None:
        self._api, self._count = api, count
        self.lines: list[Line] = []

    async def create(self, operator: OperatorProcess) -> None:
        """Creates the tables and waits until each has its conditions."""

        async def settled() -> bool:
            return await self._count_where("Suspended", "True") == self._count

        async def work() -> None:
            await create_tables(self._api, NAMESPACE, range(self._count))
            await until(settled, operator)

        await self._measured("create", operator, work, self._count)

    async def restart(self, operator: OperatorProcess) -> None:
        """Waits until a process that has just started has reconciled every table."""

        async def done() -> bool:
            if operator.probe("livez")[0] == 0:  # it has just been started
                return False
            return figures(operator).tables_reconciled >= self._count and is_idle(operator)

        began = time.monotonic()
        await until(done, operator)
        self.lines.append(Line("restart", time.monotonic() - began, figures(operator), self._count))

    async def watch(self, operator: OperatorProcess) -> None:
        """Waits until the process uses no CPU any more: kopf lists everything once more before it watches."""

        async def quiet() -> bool:
            before = cpu_s(operator.process.pid)
            await asyncio.sleep(_QUIET_S)
            return cpu_s(operator.process.pid) - before < _QUIET_SHARE * _QUIET_S

        await self._measured("watch", operator, lambda: until(quiet, operator), self._count)

    async def idle(self, operator: OperatorProcess, seconds: float) -> None:
        """Lets some time pass."""
        await self._measured("idle", operator, lambda: asyncio.sleep(seconds), seconds)

    async def runs(self, operator: OperatorProcess, runs: int) -> None:
        """Resumes tables and waits until each is Ready."""
        names = [f"t{number}" for number in range(min(self._count, runs))]

        async def ready() -> bool:
            # Not all tables: to list 10,000 again and again would keep both cores busy.
            return await self._count_where("Ready", "True", _RESUMED) >= len(names)

        async def work() -> None:
            async with Kubelets(self._api, NAMESPACE).working():
                for name in names:
                    path = _TABLES.path(NAMESPACE, name)
                    edit = {"metadata": {"labels": _RESUMED}, "spec": {"suspend": False}}
                    await self._api.server.request("merge", path, kind=Kind.TABLE, body=edit)
                await until(ready, operator)

        await self._measured("runs", operator, work, len(names))

    async def _measured(
        self, name: str, operator: OperatorProcess, work: Callable[[], Awaitable[object]], count: float
    ) -> None:
        before, began = figures(operator), time.monotonic()
        await work()
        self.lines.append(Line(name, time.monotonic() - began, figures(operator).since(before), count))

    async def _count_where(self, type_: str, status: str, labels: Mapping[str, str] | None = None) -> int:
        """How many tables, of those with these labels, have this condition."""
        found = 0
        for table in await self._api.store.list(Kind.TABLE, NAMESPACE, labels):
            conditions = (table.get("status") or {}).get("conditions") or ()
            found += any((each["type"], each["status"]) == (type_, status) for each in conditions)
        return found


async def measure(
    server: ApiServer,
    count: int,
    directory: Path,
    *,
    starting: Callable[[ApiServer, Path, str], AbstractContextManager[OperatorProcess]] = operator_on_one_core,
    runs: int = RUNS,
    idle_s: float = IDLE_S,
) -> tuple[list[Line], float]:
    """What was measured of one fleet, and the most MiB that the operator had from its restart to the end of idle.

    `starting` runs an operator for a block.
    """
    async with connected(server.kubeconfig, namespaces=(NAMESPACE,), timeout_s=120) as api:
        fleet = Fleet(api, count)
        with starting(server, directory, NAMESPACE) as operator:
            operator.wait_until_working()
            await fleet.create(operator)
        with starting(server, directory, NAMESPACE) as operator:
            await fleet.restart(operator)
            await fleet.watch(operator)
            await fleet.idle(operator, idle_s)
            peak = peak_mib(operator.process.pid)
            await fleet.runs(operator, runs)
    return fleet.lines, peak


def _row(count: int, line: Line, peak: float) -> str:
    name, seconds, used, objects = line
    cpu = used.cpu_s / objects * 1000
    memory = f"{peak:.0f}" if name == "idle" else ""
    a_minute = f"{objects / seconds * 60:.0f}" if name != "idle" else ""
    return (
        f"| {count} | {name} | {seconds:.1f} | {used.cpu_s:.1f} | {cpu:.1f} | {used.requests / objects:.2f} "
        f"| {a_minute} | {memory} |"
    )


def missed(lines: Sequence[Line]) -> list[str]:
    """What has taken more requests than its goal."""
    found = []
    for name, seconds, used, objects in lines:
        pages = objects / _PAGE
        looks = min(max(used.reads - objects, 0), objects * _OF_A_LOOK * (seconds // _LOOK_S))
        goals = {
            "create": 3 * objects + _OF_THE_PROCESS,
            "restart": pages + _OF_THE_PROCESS,
            "idle": 0.2 * objects,
            "runs": _OF_A_RUN * objects + _OF_THE_PROCESS + looks,
        }
        most = goals.get(name, math.inf)
        found += [f"{name}: {used.requests:.0f} requests, goal {most:.0f}"] if used.requests > most else []
    return found


def too_slow(count: int, lines: Sequence[Line], peak: float) -> list[str]:
    """The goals of time and memory that a fleet of so many tables has missed."""
    if count < _MEASURED:
        return []
    known = {line.what: line for line in lines}
    a_minute, seconds = known["runs"].objects / known["runs"].seconds * 60, known["restart"].seconds
    found = [f"runs: {a_minute:.0f} a minute, goal {RUNS_A_MINUTE}"] if a_minute < RUNS_A_MINUTE else []
    if count <= _LARGEST:
        found += [f"restart: {seconds:.0f} s, goal {RESTART_S:.0f} s"] if seconds > RESTART_S else []
        found += [f"memory: {peak:.0f} MiB, goal {MEMORY_MIB:.0f} MiB"] if peak > MEMORY_MIB else []
    return found


def growth(smallest: Sequence[Line], largest: Sequence[Line]) -> list[str]:
    """How many times the CPU time that one table, run or second took in the smallest fleet it takes in the largest."""
    pairs = zip(smallest, largest, strict=True)
    return [f"| {one.what} | {_cpu_of_each(other) / _cpu_of_each(one):.2f} |" for one, other in pairs]


def more_than_linear(smallest: Sequence[Line], largest: Sequence[Line]) -> list[str]:
    """The goal of a restart: ten times the tables take at most ten times as long."""
    (one,), (other,) = ([line for line in lines if line.what == "restart"] for lines in (smallest, largest))
    is_more = other.seconds / one.seconds > other.objects / one.objects
    return [f"restart: {one.seconds:.1f} s grew to {other.seconds:.1f} s, which is more than linear"] if is_more else []


def _cpu_of_each(line: Line) -> float:
    return line.used.cpu_s / line.objects


def main(arguments: Sequence[str]) -> int:
    """Prints the figures as tables in Markdown. Returns 1 where a goal is missed."""
    rows: list[str] = []
    problems: list[str] = []
    fleets: list[list[Line]] = []
    for count in sorted(int(each) for each in arguments or (100, 1000)):
        with tempfile.TemporaryDirectory() as directory, serving(Path(directory), NAMESPACE) as server:
            lines, peak = asyncio.run(measure(server, count, Path(directory)))
        rows += [_row(count, line, peak) for line in lines]
        problems += [f"{count} tables: {each}" for each in (*missed(lines), *too_slow(count, lines, peak))]
        fleets.append(lines)
    problems += more_than_linear(fleets[0], fleets[-1])
    print(HEAD)
    print("\n".join(rows))
    print("\n| what | CPU of each, largest fleet / smallest |\n|---|---|")
    print("\n".join([*growth(fleets[0], fleets[-1]), *problems]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
