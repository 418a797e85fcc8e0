"""Drivers that run on this machine: containers, found by their processes and not through the API server.

A test that stops the API server cannot ask it for the number of drivers, but it can read /proc.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self

EVERY_S: Final = 0.5
"""How often a table's drivers are counted."""


@dataclass(frozen=True, order=True)
class Driver:
    """One container of a driver. Its PID namespace distinguishes it from other containers of the same Pod."""

    run: str
    attempt: str
    namespace: str


def drivers_of(table: str) -> dict[Driver, set[str]]:
    """Returns the running drivers of the table's runs (named `<table>-...`), each with the names of its programs."""
    found: dict[Driver, set[str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):  # a process can end during the search
                if driver := _driver(entry, table):
                    found.setdefault(driver, set()).add((entry / "comm").read_text().strip())
    return found


def _driver(process: Path, table: str) -> Driver | None:
    # A zombie's environment is empty: what has ended is not counted.
    pairs = [item.decode(errors="replace").partition("=") for item in (process / "environ").read_bytes().split(b"\0")]
    variables = {name: value for name, _, value in pairs}
    run = variables.get("RUN_NAME", "")
    if not run.startswith(f"{table}-") or "SPARK_EXECUTOR_ID" in variables:
        return None
    namespace = (process / "ns" / "pid").readlink().name
    return Driver(run, variables.get("RUN_ATTEMPT", ""), namespace)


@dataclass(frozen=True)
class Sample:
    """The drivers that ran at one moment of the monotonic clock."""

    at: float
    drivers: frozenset[Driver]


@dataclass
class DriverWatch:
    """Counts the drivers of one table twice a second during a `with` block, in its own thread."""

    table: str
    samples: list[Sample] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._watch, name=f"drivers of {self.table}", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def since(self, start: float) -> list[Sample]:
        return [sample for sample in list(self.samples) if sample.at >= start]

    def most(self, start: float) -> int:
        """Returns the largest number of drivers at one moment, over all runs of the table."""
        return max((len(sample.drivers) for sample in self.since(start)), default=0)

    def longest_gap(self, start: float) -> float:
        """Returns the longest time between two samples in seconds."""
        times = [start, *(sample.at for sample in self.since(start)), time.monotonic()]
        return max(later - earlier for earlier, later in itertools.pairwise(times))

    def last_alive(self, start: float) -> float | None:
        """Returns the time of the last sample with a driver, or None."""
        return max(_with_driver(self.since(start)), default=None)

    def _watch(self) -> None:
        while not self._stop.wait(EVERY_S):
            at = time.monotonic()
            self.samples.append(Sample(at, frozenset(drivers_of(self.table))))


def _with_driver(samples: Iterable[Sample]) -> Iterator[float]:
    return (sample.at for sample in samples if sample.drivers)
