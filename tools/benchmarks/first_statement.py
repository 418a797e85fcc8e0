"""`make bench`: from a driver's start to its first Paimon statement, in one Pod and with two executors.

Full compactions of one small table, in both modes in turn. A driver begins with the first process of its container, to
10 ms as the kernel reports it; its steps have the times that the container runtime gives the lines of its log. Paimon
answers as soon as the JVM is ready, SQL as soon as Spark is: in mode Cluster that waits for the first executor.
"""

from __future__ import annotations

import os
import statistics
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from spark_apps.progress import JVM_READY, SPARK_READY
from tests.cluster import release
from tests.e2e.lab import Lab, once
from tests.support.executor_namespace import account_objects
from tests.support.kubectl import Kubectl
from tools.benchmarks.executors import SPARK

NAMESPACE = "bench-start"
STEPS = {JVM_READY: "Paimon's catalog", SPARK_READY: "a statement in SQL"}
LOOK_EVERY_S = 0.05
FIELD_START = 21
"""Of /proc/<pid>/stat (starttime), counted from 0."""


def started(run: str) -> float | None:
    """When the first living process of the run's driver began, in seconds of the wall clock."""
    booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    ticks = list(_start_ticks(f"RUN_NAME={run}".encode()))
    return booted + min(ticks) / os.sysconf("SC_CLK_TCK") if ticks else None


def _start_ticks(wanted: bytes) -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        try:
            variables = (entry / "environ").read_bytes().split(b"\0") if entry.name.isdigit() else []
            if wanted in variables and not any(each.startswith(b"SPARK_EXECUTOR_ID=") for each in variables):
                # The name, in brackets, may hold blanks.
                yield int((entry / "stat").read_text().rpartition(")")[2].split()[FIELD_START - 2])
        except OSError:
            continue  # a process may end while we look


@contextmanager
def start_of(run: str) -> Iterator[list[float]]:
    """Watches for the driver of `run` inside the block: the list has when it began, and then nothing more."""
    found: list[float] = []
    over = threading.Event()

    def watch() -> None:
        while not found and not over.wait(LOOK_EVERY_S):
            if (at := started(run)) is not None:
                found.append(at)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()


class Bench:
    """One namespace with one small table."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.lab = Lab(kubectl=Kubectl(namespace=NAMESPACE, env=env), env=env, engine=release.newest_engine())
        self.lab.kubectl.apply(release.restricted_namespace(NAMESPACE))
        self.lab.kubectl.apply(self.lab.secret(), self.lab.catalog(spark=SPARK))
        self.lab.kubectl.apply(*account_objects(NAMESPACE))
        self.lab.land("few.json", [{"id": n, "v": "x"} for n in range(100)])
        columns = {"id": "BIGINT", "v": "STRING"}
        self.lab.kubectl.apply(self.lab.table("t", columns, keys=["id"], writes=[once("load", "few.json")]))
        self.lab.settled("t")
        self.stamp = f"{int(time.time()):x}"

    def measure(self, mode: str, number: int) -> dict[str, float]:
        """Step -> seconds after the driver's start."""
        self.lab.kubectl.apply(self.lab.catalog(spark=SPARK | {"mode": mode}))
        name = f"t-{self.stamp}-{mode.lower()}-{number}"
        with start_of(name) as begun:
            self.lab.kubectl.apply(self.lab.compaction("t", name))
            self.lab.kubectl.until_condition(name, "Succeeded", "True", kind="paimonrun", seconds=300)
        log = self.lab.kubectl.run("logs", f"{name}-1", "--timestamps")
        parted = (line.partition(" ") for line in log.splitlines())
        times = {step: at for at, _, step in parted}
        return {step: datetime.fromisoformat(times[step]).timestamp() - begun[0] for step in STEPS}

    def remove(self) -> None:
        self.lab.kubectl.run("delete", "namespace", NAMESPACE, "--wait=false")


def main() -> None:
    """One line per mode: medians, and the extremes in brackets."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    bench = Bench(release.ready_cluster())
    found: dict[str, list[dict[str, float]]] = {"Local": [], "Cluster": []}
    for number in range(rounds):
        for mode, measured in found.items():
            measured.append(bench.measure(mode, number))
    bench.remove()
    print(f"| driver's start until ... can be asked, {rounds} rounds | {' | '.join(STEPS.values())} |\n|---|---|---|")
    for mode, measured in found.items():
        print(f"| {mode} | {' | '.join(_told([each[step] for each in measured]) for step in STEPS)} |")


def _told(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.1f} s ({min(seconds):.1f}-{max(seconds):.1f})"


if __name__ == "__main__":
    main()
