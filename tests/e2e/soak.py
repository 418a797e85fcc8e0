"""Twenty ticks of a scheduled append over a growing folder, while operator and driver are killed at random moments.

It runs beside the other tests, because twenty ticks of a cron schedule take twenty minutes; `test_exactly_once` waits
for its end and judges. The moments come from a seed that is shown, so that a bad run can be repeated.
"""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field

from botocore.exceptions import ConnectionClosedError, EndpointConnectionError

from tests.e2e.kills import kill_driver, kill_operator
from tests.e2e.lab import Lab, scheduled

TICKS = 20
ROWS_PER_FILE = 50


@dataclass
class Soak:
    """Start it early, `join` it late."""

    lab: Lab
    seed: int
    operator_kills: int = 0
    driver_kills: int = 0
    failure: BaseException | None = None
    _thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._guarded, name="soak", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        self._thread.join()
        if self.failure:
            raise self.failure

    @staticmethod
    def expected_ids() -> list[int]:
        return list(range(TICKS * ROWS_PER_FILE))

    def _guarded(self) -> None:
        try:
            self._run()
        except BaseException as error:  # noqa: BLE001 - carried over to the thread that joins
            self.failure = error

    def _run(self) -> None:
        dice = random.Random(self.seed)  # noqa: S311 - moments, not secrets
        table = self.lab.table("soak", {"id": "BIGINT", "tick": "INT"})
        table["spec"]["writes"] = [scheduled("import", "soak/", mode="Append")]
        self.lab.kubectl.apply(table)
        self.lab.ready("soak", seconds=600)
        for tick in range(TICKS):
            self._one_tick(tick, dice)
        self._wait_until_all_is_loaded()

    def _one_tick(self, tick: int, dice: random.Random) -> None:
        """One file, and at two random moments of the minute one kill of either sort."""
        end = time.monotonic() + 60
        ids = range(tick * ROWS_PER_FILE, (tick + 1) * ROWS_PER_FILE)
        self._land(f"soak/{tick:02}.json", [{"id": i, "tick": tick} for i in ids])
        for moment in sorted(dice.uniform(0, 55) for _ in range(2)):
            time.sleep(max(0.0, end - 60 + moment - time.monotonic()))  # the random moment is the point
            if dice.random() < 0.4:
                self.operator_kills += kill_operator(self.lab.kubectl) > 0
            else:
                self.driver_kills += self._kill_next_driver(dice)
        time.sleep(max(0.0, end - time.monotonic()))  # to the next tick

    def _land(self, path: str, rows: list[dict[str, int]]) -> None:
        """Other tests stop the S3 server for a while: a producer waits, as one would."""
        while True:
            try:
                return self.lab.land(path, rows)
            except (EndpointConnectionError, ConnectionClosedError):
                time.sleep(2)  # the outage has no event to wait for

    def _kill_next_driver(self, dice: random.Random) -> bool:
        """Waits for a driver, at most to the next tick, and kills it at a random moment of its short life."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            table = self.lab.kubectl.get("paimontable", "soak") or {}
            active = table.get("status", {}).get("activeRun") or {}
            if active:
                time.sleep(dice.uniform(0, 8))  # the random moment is the point
                return kill_driver(active["name"]) > 0
            time.sleep(0.5)  # polling a live server
        return False

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
