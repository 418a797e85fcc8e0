"""How late scheduled runs start: `python -m tools.benchmarks.fleet.ticks [TABLES]`.

* A hundred tables have a write each minute, for three minutes.
* TABLES tables (1,000) have a write at the same minute of the day.

The operator may use one core. Lateness is the time from the tick to the creation of the run's Pod: what follows is the
node's. Every table has to answer every tick. It fails where the 99th percentile of the first is 5 s or more.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.kube.resources import RESOURCES
from tests.apiserver.connected import Connected, connected
from tests.apiserver.operator_process import OperatorProcess
from tests.cluster.apiserver import ApiServer
from tests.support.kubectl import condition
from tests.support.manifests import keyed_table
from tools.benchmarks.fleet.kubelet import Kubelets
from tools.benchmarks.fleet.stage import at_once, operator_on_one_core, serving, until

NAMESPACE: Final = "fleet"
EACH_MINUTE: Final = 100
TICKS: Final = 3
GOAL_S: Final = 5.0
DRIVER_S: Final = 3.0
"""How long a simulated driver runs: as long as a real one that does almost nothing."""
_NEVER: Final = "0 0 30 2 *"
_LEAD: Final = timedelta(minutes=2)
"""From the begin of the minute in which the schedules are edited to the first tick that counts."""
_TABLES: Final = RESOURCES[Kind.TABLE]


class Fleet:
    """Tables with one scheduled write each."""

    def __init__(self, api: Connected, operator: OperatorProcess) -> None:
        self._api, self._operator = api, operator

    async def create(self, numbers: Iterable[int]) -> None:
        """Creates the tables and waits until each is Ready."""

        async def all_ready() -> bool:
            tables = await self._api.store.list(Kind.TABLE, NAMESPACE)
            return all(condition(table, "Ready").get("status") == "True" for table in tables)

        await at_once(self._create, numbers)
        await until(all_ready, self._operator)

    async def lateness(self, numbers: Sequence[int], schedule: str, ticks: Sequence[datetime]) -> list[float]:
        """Seconds from each of the ticks to the Pod of each table. Every table has to answer every tick."""
        await at_once(lambda number: self._schedule(number, schedule), numbers)
        pods: dict[tuple[str, datetime], str] = {}
        created: dict[str, datetime] = {}

        async def all_answered() -> bool:
            runs, bodies = [await self._api.store.list(kind, NAMESPACE) for kind in (Kind.RUN, Kind.POD)]
            pods.update(each for run in runs for each in _answers(run) if each[0][1] in ticks)
            created.update(map(_creation, bodies))  # (a finished run goes with its Pod after some others)
            return len(pods) == len(numbers) * len(ticks) and created.keys() >= set(pods.values())

        await until(all_answered, self._operator)
        await at_once(lambda number: self._schedule(number, _NEVER), numbers)
        return [(created[pod] - tick).total_seconds() for (_, tick), pod in pods.items()]

    async def _create(self, number: int) -> None:
        body = keyed_table(metadata__name=f"t{number}", metadata__namespace=NAMESPACE, spec__writes=[_write(_NEVER)])
        await self._api.store.create(Kind.TABLE, NAMESPACE, body)

    async def _schedule(self, number: int, schedule: str) -> None:
        body = {"spec": {"writes": [_write(schedule)]}}
        await self._api.server.request("merge", _TABLES.path(NAMESPACE, f"t{number}"), kind=Kind.TABLE, body=body)


def _write(schedule: str) -> dict[str, Any]:
    (write,) = keyed_table()["spec"]["writes"]
    return {**write, "trigger": {"type": "Schedule", "schedule": schedule}}


def _answers(run: Manifest) -> list[tuple[tuple[str, datetime], str]]:
    """The table, the tick and the Pod of a scheduled write that has started; empty for any other run."""
    due = (run["spec"].get("trigger") or {}).get("dueTime")
    attempts = (run.get("status") or {}).get("attempts") or ()
    if run["spec"]["type"] != "Write" or due is None or not attempts or "started" not in attempts[0]:
        return []
    return [((run["spec"]["tableRef"]["name"], datetime.fromisoformat(due)), attempts[0]["pod"])]


def _creation(body: Manifest) -> tuple[str, datetime]:
    return body["metadata"]["name"], datetime.fromisoformat(body["metadata"]["creationTimestamp"])


def _next_ticks(count: int) -> list[datetime]:
    """So many full minutes, from the first one that the edit of all schedules precedes for sure."""
    first = datetime.now(UTC).replace(second=0, microsecond=0) + _LEAD
    return [first + timedelta(minutes=number) for number in range(count)]


async def measure(server: ApiServer, operator: OperatorProcess, tables: int) -> tuple[list[float], list[float]]:
    """The lateness of the runs of each minute, and of those of one moment."""
    async with connected(server.kubeconfig, namespaces=(NAMESPACE,), timeout_s=120) as api:
        fleet = Fleet(api, operator)
        async with Kubelets(api, NAMESPACE, DRIVER_S).working():
            await fleet.create(range(EACH_MINUTE))
            each_minute = await fleet.lateness(range(EACH_MINUTE), "* * * * *", _next_ticks(TICKS))
            await fleet.create(range(EACH_MINUTE, tables))
            (tick,) = ticks = _next_ticks(1)
            together = await fleet.lateness(range(tables), f"{tick.minute} {tick.hour} * * *", ticks)
        return each_minute, together


def main(arguments: Sequence[str]) -> int:
    """Prints the figures as a table in Markdown. Returns 1 where the goal is missed."""
    tables = int(arguments[0]) if arguments else 1000
    with (
        tempfile.TemporaryDirectory() as directory,
        serving(Path(directory), NAMESPACE) as server,
        operator_on_one_core(server, Path(directory), NAMESPACE) as operator,
    ):
        operator.wait_until_working()
        each_minute, together = asyncio.run(measure(server, operator, tables))
    print("| scheduled runs | median s | p99 s | last s |\n|---|---|---|---|")
    names = {f"{EACH_MINUTE} each minute": each_minute, f"{tables} at one moment": together}
    p99 = {name: statistics.quantiles(late, n=100)[98] for name, late in names.items()}
    for name, late in names.items():
        print(f"| {name} | {statistics.median(late):.0f} | {p99[name]:.0f} | {max(late):.0f} |")
    return 0 if p99[f"{EACH_MINUTE} each minute"] < GOAL_S else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
