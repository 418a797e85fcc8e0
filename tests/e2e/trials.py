"""Faults at random moments of one table's runs, and the checks afterwards.

Every write adds 1 to the sum of every key, so the sums show a lost write and one that is loaded twice.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from tests.e2e.drivers import DriverWatch, drivers_of
from tests.e2e.faults import Fault
from tests.e2e.lab import Lab, once
from tests.e2e.leftovers import remains
from tests.support.kubectl import PATIENCE_S, Object, RefusedError, condition

KEYS: Final = 20_000
_YEARLY: Final = "0 0 1 1 *"
TOO_LATE: Final = "after its end"


@dataclass(frozen=True)
class Moment:
    """The fault is injected into a run of type `run_type` after `share` of a driver's usual time since the decision."""

    run_type: str
    share: float


def moments(seed: int, fault: str, count: int) -> list[Moment]:
    """Returns the moments. The second and every fifth after it is a compaction; of a single one the seed decides."""
    dice = random.Random(f"{seed} {fault}")  # noqa: S311 - moments, not secrets
    first = int(count == 1 and dice.random() < 1 / 2)
    return [Moment("Compact" if n % 5 == 1 else "Write", dice.random()) for n in range(first, first + count)]


@dataclass(kw_only=True)
class Outcome:
    """The result of one moment: a line of the report."""

    fault: str
    run_type: str
    share: float
    second: float = 0.0
    """Seconds from the decision to the fault."""
    stage: str = ""
    """How far the run was."""
    attempts: int = 0
    failures: list[str] = field(default_factory=list)
    """Reasons of the attempts that failed."""
    right_after: float | None = None
    """Seconds from the fault until the table was right again; None: it did not get there."""
    drivers: int = 0
    """Most drivers of the table that were seen at once."""
    watch_gap: float = 0.0
    """Longest time between two observations."""
    rows: int = 0
    wrong: str = ""
    """What was not as it must be."""

    def take(self, run: Object) -> None:
        """Takes the values of the run's status."""
        attempts = run["status"]["attempts"]
        self.attempts = len(attempts)
        self.failures = [each["reason"] for each in attempts if "reason" in each]

    def sentence(self) -> str:
        after = "not right" if self.right_after is None else f"right after {self.right_after:.0f} s"
        return f"{self.fault}: {self.run_type}, share {self.share:.3f} ({self.second:.1f} s, {self.stage}): {after}"


@dataclass
class Trials:
    """The table `name` in its lab. Call `begin` first, inside the watch."""

    lab: Lab
    watch: DriverWatch
    written: int = 0
    made: set[str] = field(default_factory=set)
    usual: float = 0.0
    """Seconds from the decision to the end of the driver, of a run without a fault."""

    @property
    def name(self) -> str:
        return self.watch.table

    def begin(self) -> None:
        """Creates the table and measures the time of a write without a fault."""
        self.lab.kubectl.apply(self._manifest())
        self.lab.ready(self.name)
        self._land_for("Write")
        start = time.monotonic()
        self._ended(self._ask_for("Write"), "Write")
        self.usual = (self.watch.last_alive(start) or time.monotonic()) - start

    def inject(self, fault: Fault, moment: Moment) -> Outcome:
        """Injects the fault into one run. Repeats it earlier if the run had ended before."""
        share = moment.share
        while True:
            outcome = Outcome(fault=fault.name, run_type=moment.run_type, share=share)
            try:
                self._inject(fault, outcome)
            except (AssertionError, RefusedError) as error:
                outcome.wrong = str(error)
            if outcome.wrong or outcome.stage != TOO_LATE:
                return outcome
            share *= 0.6

    def _inject(self, fault: Fault, outcome: Outcome) -> None:
        with fault.prepared(self.lab) as inject:
            self._land_for(outcome.run_type)
            snapshots, start = self._snapshots(), time.monotonic()
            name = self._ask_for(outcome.run_type)
            time.sleep(max(0.0, start + outcome.share * self.usual - time.monotonic()))
            outcome.stage, injected = self._stage(start, snapshots), time.monotonic()
            outcome.second = injected - start
            if outcome.stage != TOO_LATE and not inject(self.name):
                outcome.stage = TOO_LATE
            outcome.take(self._ended(name, outcome.run_type))
            self._wait_until_recovered()
            outcome.right_after = time.monotonic() - injected
        outcome.drivers, outcome.watch_gap = self.watch.most(start), self.watch.longest_gap(start)
        outcome.rows = self._count_rows()

    def _stage(self, start: float, snapshots: int) -> str:
        """Returns the stage of the run, by its processes and its files in the storage."""
        living = list(drivers_of(self.name).values())
        if not living:
            return TOO_LATE if self.watch.last_alive(start) else "no driver yet"
        if self._snapshots() > snapshots:
            return "after the commit"
        return "driver running" if any("python" in p for programs in living for p in programs) else "JVM starting"

    def _land_for(self, run_type: str) -> None:
        """Lands the input of the next write. It is not part of the time of a run, and takes seconds on HDFS."""
        if run_type == "Write":
            self.written += 1
            self.lab.land(self._input, [{"id": key, "times": 1} for key in range(KEYS)])

    def _ask_for(self, run_type: str) -> str:
        """Starts a run of that type. Returns its name if the test has chosen it."""
        self.made |= {run["metadata"]["name"] for run in self._runs()}
        if run_type == "Write":
            self.lab.kubectl.apply(self._manifest())
            return ""
        name = f"{self.name}-compact-{len(self.made)}"
        self.lab.kubectl.apply(self.lab.compaction(self.name, name))
        return name

    def _ended(self, name: str, run_type: str) -> Object:
        """Returns the new run of that type once it has succeeded and the table's status has its result."""

        def over(table: Object | None) -> bool:
            run = self._newest(name, run_type)
            phase = run.get("status", {}).get("phase")
            assert phase not in ("Failed", "Unknown"), f"{run['metadata']['name']}: {run['status']['conditions']}"
            return phase == "Succeeded" and not ((table or {}).get("status") or {}).get("activeRun")

        what = f"through with a {run_type}"
        self.lab.kubectl.until("paimontable", self.name, over, what=what)
        return self._newest(name, run_type)

    def _newest(self, name: str, run_type: str) -> Object:
        runs = [run for run in self._runs() if run["metadata"]["name"] not in self.made]
        new = [run for run in runs if run["spec"]["type"] == run_type]
        assert len(new) <= 1, f"more than one run for one {run_type}: {[run['metadata']['name'] for run in new]}"
        return next((run for run in new if name in ("", run["metadata"]["name"])), {})

    def _wait_until_recovered(self) -> None:
        """Checks that the table is Ready for the current manifest, not Stalled or failing, and that nothing is left."""
        self.lab.ready(self.name)
        until = time.monotonic() + PATIENCE_S
        while (wrong := [*self._complaints(), *remains(self.lab, self.name)]) and time.monotonic() < until:
            time.sleep(0.5)  # garbage collection is slow after an outage of the API server
        assert not wrong, "; ".join(wrong)

    def _complaints(self) -> Iterator[str]:
        table = self.lab.kubectl.get("paimontable", self.name)
        for type_, right in (("Ready", "True"), ("Stalled", "False"), ("Healthy", "True")):
            if (found := condition(table, type_)) and found["status"] != right:
                yield f"{type_} is {found['status']}: {found.get('message')}"

    def _count_rows(self) -> int:
        """Returns the number of rows, read by pypaimon, after a check that each sum has every write once."""
        rows = self.lab.rows(self.name)
        wrong = [row for row in rows if row["times"] != self.written]
        assert not wrong, f"{len(wrong)} keys were not loaded {self.written} times, such as {wrong[0]}"
        assert [row["id"] for row in rows] == list(range(KEYS))
        return len(rows)

    def _snapshots(self) -> int:
        return len(self.lab.snapshots(self.name))

    def _runs(self) -> list[Object]:
        runs = self.lab.kubectl.list("paimonrun")
        return [run for run in runs if run["spec"]["tableRef"]["name"] == self.name]

    @property
    def _input(self) -> str:
        """File of the latest write. A write of another name that reads the same file would be done already."""
        return f"{self.name}/keys-{self.written}.json"

    def _manifest(self) -> Object:
        columns: dict[str, Any] = {"id": "BIGINT", "times": {"type": "BIGINT", "aggregate": {"function": "sum"}}}
        write = once("load", self._input)
        return self.lab.table(
            self.name,
            columns,
            keys=["id"],
            bucket={"type": "Fixed", "fixed": {"count": 1}},
            mergeEngine={"type": "Aggregation"},
            compaction={"mode": "Dedicated", "full": {"schedule": _YEARLY}},
            writes=[write] if self.written else [],
        )
