"""Twenty ticks of a scheduled append over a growing folder, while operator and driver are killed at random moments.

Once on the way the storage is shut for a while. The moments come from a seed that is shown, so that a bad run can be
repeated.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

from tests.cluster.processes import wait_until
from tests.e2e.drivers import drivers_of
from tests.e2e.kills import kill_driver, kill_operator
from tests.e2e.lab import Lab, scheduled
from tests.e2e.outages import S3Door

TICKS = 20
ROWS_PER_FILE = 50
OUTAGE_S = 30
MOST_OUTAGE_S = 300


@dataclass
class Soak:
    """One table that `run` puts through it."""

    lab: Lab
    seed: int
    door: S3Door
    operator_kills: int = 0
    driver_kills: int = 0
    outages: int = 0

    @staticmethod
    def expected_ids() -> list[int]:
        return list(range(TICKS * ROWS_PER_FILE))

    def run(self) -> None:
        """Twenty minutes, and until all is loaded."""
        dice = random.Random(self.seed)  # noqa: S311 - moments, not secrets
        table = self.lab.table("soak", {"id": "BIGINT", "tick": "INT"})
        table["spec"]["writes"] = [scheduled("import", "soak/", mode="Append")]
        self.lab.kubectl.apply(table)
        self.lab.ready("soak")
        outage = dice.randrange(3, TICKS - 3)
        for tick in range(TICKS):
            self._one_tick(tick, dice, outage=tick == outage)
        self._wait_until_all_is_loaded()

    def _one_tick(self, tick: int, dice: random.Random, *, outage: bool) -> None:
        """One file, and at two random moments of the minute one kill of either sort, or one outage."""
        end = time.monotonic() + 60
        ids = range(tick * ROWS_PER_FILE, (tick + 1) * ROWS_PER_FILE)
        self.lab.land(f"soak/{tick:02}.json", [{"id": i, "tick": tick} for i in ids])
        for moment in sorted(dice.uniform(0, 55) for _ in range(1 if outage else 2)):
            time.sleep(max(0.0, end - 60 + moment - time.monotonic()))  # the random moment is the point
            if outage:
                self.outages += self._shut_the_storage()
            elif dice.random() < 0.4:
                self.operator_kills += kill_operator(self.lab.kubectl) > 0
            else:
                self.driver_kills += self._kill_next_driver(dice)
        time.sleep(max(0.0, end - time.monotonic()))  # to the next tick

    def _shut_the_storage(self) -> bool:
        """From the next run on, until a driver has met it: a busy machine may need longer than that to start one.

        Returns whether one has.
        """
        with self.door.closed():
            start = time.monotonic()
            while not (met := self._met_the_outage()) and time.monotonic() < start + MOST_OUTAGE_S:
                time.sleep(2)  # polling a live server
            time.sleep(max(0.0, start + OUTAGE_S - time.monotonic()))  # how long it lasts is the point
        return met

    def _met_the_outage(self) -> bool:
        statuses = [run.get("status") or {} for run in self.lab.runs("soak", "Write")]
        attempts = [attempt for status in statuses for attempt in status.get("attempts", ())]
        return any(attempt.get("reason") == "StorageUnreachable" for attempt in attempts)

    def _kill_next_driver(self, dice: random.Random) -> bool:
        """Kills the next driver at a random moment of its short life."""
        name = self._next_run()
        wait_until(lambda: bool(drivers_of("soak")), timeout=60)  # a busy node takes its time to start one
        time.sleep(dice.uniform(0, 8))  # the random moment is the point
        return name != "" and kill_driver(name) > 0

    def _next_run(self) -> str:
        """Waits for a run, at most to the next tick; empty when there is none."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            table = self.lab.kubectl.get("paimontable", "soak") or {}
            active: dict[str, str] = table.get("status", {}).get("activeRun") or {}
            if active:
                return active["name"]
            time.sleep(0.5)  # polling a live server
        return ""

    def _wait_until_all_is_loaded(self) -> None:
        """No kills any more: what is left must come in by itself."""
        last_seen = -1
        deadline = time.monotonic() + 900
        while time.monotonic() < deadline:
            last_seen = len(self.lab.rows("soak"))
            if last_seen >= TICKS * ROWS_PER_FILE:
                return
            time.sleep(20)  # reading is a process of its own; a tick is a minute
        raise AssertionError(f"seed {self.seed}: {last_seen} rows after 15 quiet minutes")
