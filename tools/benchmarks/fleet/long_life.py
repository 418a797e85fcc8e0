"""Whether anything grows in eight hours: `python -m tools.benchmarks.fleet.long_life [HOURS]`.

The hours pass ten times as fast: schedules are due each minute instead of every ten, the resync takes a minute instead
of ten, and users change ten times as much. So eight hours take 48 minutes. In the third hour the API server is away for
a few seconds, in the fifth one it and etcd are killed.

The operator's memory, tasks, queue and open files are read ten times an hour. It fails where the median of one of them
is larger in the last hour than in the second one: memory by 5 %, tasks and files, of which runs have some while they
are active, by 10 %, the queue at all. The seed of the users is 1.
"""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.apiserver.connected import connected
from tests.apiserver.operator_process import OperatorProcess
from tests.cluster.apiserver import ApiServer
from tests.cluster.processes import wait_until
from tools.benchmarks.fleet.churn import NAMESPACE, Churn
from tools.benchmarks.fleet.kubelet import Kubelets
from tools.benchmarks.fleet.stage import serving

HOURS: Final = 8
HOUR_S: Final = 360.0
"""Seconds of an hour at ten-fold speed."""
TABLES: Final = 200
CHANGES: Final = 5
"""Tables that are created, edited and deleted in a minute."""
READINGS_AN_HOUR: Final = 10
API_SERVER_AWAY, STORE_KILLED = 3, 5
"""The hours in which that happens, counted from 1."""
AWAY_S: Final = 4.0
"""Less than the operator may go without its Lease, after which it ends and another process begins at nothing."""
LEEWAY: Final = {"memory_mib": 1.05, "tasks": 1.1, "queue": 1.0, "files": 1.1}
"""A process that does not grow has no more than so many times what it had before."""


@dataclass(frozen=True)
class Reading:
    """One process at one moment."""

    memory_mib: float
    tasks: float
    queue: float
    files: float


class CountedOperator(OperatorProcess):
    """An operator whose tasks can be counted."""

    def __init__(self, kubeconfig: Path, directory: Path) -> None:
        super().__init__(kubeconfig, directory, namespaces=(NAMESPACE,), lease_namespace=NAMESPACE, resync="60")
        self._file = directory / "tasks"
        self.program = ("-m", "tools.benchmarks.fleet.counted_operator", str(self._file))

    def read(self) -> Reading:
        """What the process has now. Raises TimeoutError if it does not answer."""
        self.require_running()
        self._file.unlink(missing_ok=True)
        pid = self.process.pid
        os.kill(pid, signal.SIGUSR1)
        if not wait_until(lambda: self._file.exists() and bool(self._file.read_text()), timeout=30):
            raise TimeoutError(f"the operator counts no tasks:\n{self.log()[-2000:]}")
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        memory = int(status.partition("VmRSS:")[2].split()[0]) / 1024
        queue = self.metrics()["paimon_operator_queue_depth"]
        return Reading(memory, float(self._file.read_text()), queue, len(os.listdir(f"/proc/{pid}/fd")))


class LongLife:
    """One operator and its fleet."""

    def __init__(self, server: ApiServer, operator: CountedOperator) -> None:
        self._server, self._operator = server, operator
        self.hours: list[list[Reading]] = []

    async def live(self, hours: int) -> None:
        """Lets the hours pass and reads the operator."""
        async with connected(self._server.kubeconfig, namespaces=(NAMESPACE,), timeout_s=30) as api:
            churn = Churn(api, TABLES, seed=1)
            async with Kubelets(api, NAMESPACE).working():
                await churn.fill()
                for hour in range(1, hours + 1):
                    self.hours.append([])
                    await asyncio.gather(self._read(), self._users(churn), self._fail(hour))
                    print(_row(str(hour), self.hours[-1]), flush=True)

    async def _users(self, churn: Churn) -> None:
        for _ in range(round(HOUR_S / 60)):
            began = time.monotonic()
            await churn.minute(CHANGES)
            await asyncio.sleep(max(0.0, 60 - (time.monotonic() - began)))

    async def _read(self) -> None:
        for _ in range(READINGS_AN_HOUR):
            await asyncio.sleep(HOUR_S / READINGS_AN_HOUR)
            self.hours[-1].append(self._operator.read())

    async def _fail(self, hour: int) -> None:
        await asyncio.sleep(HOUR_S / 2)
        if hour == API_SERVER_AWAY:
            self._server.stop_server()
            await asyncio.sleep(AWAY_S)
            self._server.start_server()
        if hour == STORE_KILLED:
            self._server.restart_store()


def grown(second: Sequence[Reading], last: Sequence[Reading]) -> list[str]:
    """What is larger in the last hour than in the second one."""
    before, after = _medians(second), _medians(last)
    larger = [name for name, value in after.items() if value > before[name] * LEEWAY[name]]
    return [f"{name}: {after[name]:.0f}, before {before[name]:.0f}" for name in larger]


def _medians(hour: Sequence[Reading]) -> dict[str, float]:
    return {name: statistics.median(getattr(each, name) for each in hour) for name in Reading.__annotations__}


def _row(name: str, hour: Sequence[Reading]) -> str:
    return f"| {name} | " + " | ".join(f"{value:.0f}" for value in _medians(hour).values()) + " |"


def main(arguments: Sequence[str]) -> int:
    """Prints the medians of each hour as a table in Markdown. Returns 1 where something has grown."""
    hours = int(arguments[0]) if arguments else HOURS
    print("| hour | MiB | tasks | queue | open files |\n|---|---|---|---|---|")
    with (
        tempfile.TemporaryDirectory() as directory,
        serving(Path(directory), NAMESPACE) as server,
        CountedOperator(server.kubeconfig, Path(directory)) as operator,
    ):
        operator.wait_until_working()
        life = LongLife(server, operator)
        asyncio.run(life.live(hours))
    problems = grown(life.hours[1], life.hours[-1])
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
