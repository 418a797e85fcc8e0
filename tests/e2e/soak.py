"""Ticks of a scheduled append from a growing folder, while operator and driver are killed at random moments.

The storage has one outage. The moments come from a seed, which is printed, so that a failing run can be
repeated.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from tests.cluster.processes import wait_until
from tests.e2e.drivers import drivers_of
from tests.e2e.kills import kill_driver, kill_operator
from tests.e2e.lab import Lab, scheduled
from tests.e2e.outages import DedicatedS3
from tests.support.kubectl import Object

ROWS_PER_FILE = 50
TICK_S = 60.0
LATEST_S = 55.0
"""Into a tick, for what happens in it."""
OUTAGE_S = 30
MOST_OUTAGE_S = 300


class Event(Enum):
    """A fault at a moment of a tick."""

    KILL_OPERATOR = "operator killed"
    KILL_DRIVER = "driver killed"
    OUTAGE = "storage shut"


def script(seed: int, ticks: int) -> list[list[tuple[float, Event]]]:
    """Returns moments (seconds into the tick) and events of each tick: two kills, or the outage on one middle tick.

    Two of five kills are of the operator, the others of a driver, which does not always exist.
    """
    dice = random.Random(seed)  # noqa: S311 - moments, not secrets
    kills = 2 * (ticks - 1)
    events = [Event.KILL_OPERATOR if 5 * n < 2 * kills else Event.KILL_DRIVER for n in range(kills)]
    dice.shuffle(events)
    pairs = [[events.pop(), events.pop()] for _ in range(ticks - 1)]
    pairs.insert(dice.randrange(ticks // 3, ticks - ticks // 3), [Event.OUTAGE])
    return [_at_moments(pair, dice) for pair in pairs]


def _at_moments(events: list[Event], dice: random.Random) -> list[tuple[float, Event]]:
    return list(zip(sorted(dice.uniform(0, LATEST_S) for _ in events), events, strict=True))


@dataclass
class Soak:
    """The soak of one table."""

    lab: Lab
    seed: int
    dedicated_s3: DedicatedS3
    operator_kills: int = 0
    driver_kills: int = 0
    outages: int = 0

    def run(self, ticks: int) -> None:
        """Performs the ticks, one per minute, and waits until all files are loaded."""
        table = self.lab.table("soak", {"id": "BIGINT", "tick": "INT"})
        table["spec"]["writes"] = [scheduled("import", "soak/", mode="Append")]
        self.lab.kubectl.apply(table)
        self.lab.ready("soak")
        dice = random.Random(f"{self.seed} drivers")  # noqa: S311 - moments, not secrets
        for tick, events in enumerate(script(self.seed, ticks)):
            self._one_tick(tick, events, dice)
        self._wait_until_loaded(ticks * ROWS_PER_FILE)

    def _one_tick(self, tick: int, events: list[tuple[float, Event]], dice: random.Random) -> None:
        """Lands one file and performs the script's events of this minute."""
        start = time.monotonic()
        ids = range(tick * ROWS_PER_FILE, (tick + 1) * ROWS_PER_FILE)
        self.lab.land(f"soak/{tick:02}.json", [{"id": i, "tick": tick} for i in ids])
        for moment, event in events:
            time.sleep(max(0.0, start + moment - time.monotonic()))  # a random moment
            match event:
                case Event.OUTAGE:
                    self.outages += self._shut_the_storage()
                case Event.KILL_OPERATOR:
                    self.operator_kills += kill_operator(self.lab.kubectl) > 0
                case Event.KILL_DRIVER:
                    self.driver_kills += self._kill_next_driver(dice)
        time.sleep(max(0.0, start + TICK_S - time.monotonic()))  # to the next tick

    def _shut_the_storage(self) -> bool:
        """Stops the storage from the next run on until a driver has failed on it.

        Returns whether one has failed.
        """
        with self.dedicated_s3.outage():
            start = time.monotonic()
            met = self._occurs("paimonrun", "paimon-operator.dev/table=soak", _met_the_outage, MOST_OUTAGE_S)
            time.sleep(max(0.0, start + OUTAGE_S - time.monotonic()))  # the duration of the outage
        return met

    def _kill_next_driver(self, dice: random.Random) -> bool:
        """Kills the next driver at a random moment."""
        if not self._occurs("paimontable", "", _active_run, TICK_S):
            return False
        wait_until(lambda: bool(drivers_of("soak")), timeout=60)  # a busy node needs time to start one
        time.sleep(dice.uniform(0, 8))  # a random moment
        name = _active_run(self.lab.kubectl.list("paimontable"))
        return name != "" and kill_driver(name) > 0

    def _occurs(self, kind: str, selector: str, holds: Callable[[list[Object]], object], seconds: float) -> bool:
        try:
            self.lab.kubectl.until_list(kind, selector, holds, what="seen", seconds=seconds)
        except AssertionError:
            return False
        return True

    def _wait_until_loaded(self, rows: int) -> None:
        """Waits without further faults until the rest is loaded."""
        last_seen = -1
        deadline = time.monotonic() + 900
        while time.monotonic() < deadline:
            last_seen = len(self.lab.rows("soak"))
            if last_seen >= rows:
                return
            time.sleep(10)  # each read starts a process
        raise AssertionError(f"seed {self.seed}: {last_seen} rows after 15 quiet minutes")


def _active_run(tables: list[Object]) -> str:
    """Returns the name of the active run of the lab's only table, or an empty text."""
    names = [((table.get("status") or {}).get("activeRun") or {}).get("name", "") for table in tables]
    return names[0] if names else ""


def _met_the_outage(runs: list[Object]) -> bool:
    statuses = [run.get("status") or {} for run in runs if run["spec"]["type"] == "Write"]
    attempts = [attempt for status in statuses for attempt in status.get("attempts", ())]
    return any(attempt.get("reason") == "StorageUnreachable" for attempt in attempts)
