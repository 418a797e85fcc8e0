"""Random histories of one schedule: edits, zones, clock jumps in both directions, outages and failing runs.

No tick runs twice, none is lost for longer than one interval, and none starts because of an edit. A tick whose run has
failed is tried again at its time, and not before.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core import schedule
from paimon_operator.core.backoff import CLOCKS_DIFFER, has_come
from paimon_operator.core.operations import schedule_state
from tests.support import builders
from tests.support.random_examples import examples
from tests.support.table_world import TableWorld

CRONS = ["*/15 * * * *", "0 * * * *", "30 2 * * *", "0 3 * * *", "0 3 * * 0", "15 1 1 * *"]
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland"]
STEPS = 14


class History:
    """One table whose only scheduled operation is the expiry of snapshots."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.cron, self.zone = dice.choice(CRONS), dice.choice(ZONES)
        self.world = TableWorld(table=builders.table(**self.manifest)).ready()
        self.world.run_due()
        self.baseline = self.now
        """No tick up to here has to run: the schedule is new or edited, or the clock was put back."""
        created = self.world.table.metadata.creation_timestamp
        assert created is not None
        self.passed = [(created, self.now)]
        """The stretches of time that the clock went through, or jumped over."""
        self.failures: Counter[datetime] = Counter()

    @property
    def now(self) -> datetime:
        return self.world.now

    @property
    def manifest(self) -> dict[str, Any]:
        return {"retention": {"snapshots": {"schedule": self.cron}}, "timeZone": self.zone}

    @property
    def starts(self) -> Counter[datetime]:
        """How often each tick was started."""
        runs = (run for run in self.world.created if run.spec.type == "ExpireSnapshots" and run.spec.trigger)
        return Counter(run.spec.trigger.due_time for run in runs if run.spec.trigger and run.spec.trigger.due_time)

    def step(self) -> None:
        self.dice.choice([self.time_passes, self.time_passes, self.outage, self.edit, self.jump])()

    def time_passes(self) -> None:
        self.forward(timedelta(minutes=self.dice.choice([1, 7, 45, 600, 3000])))
        self.look()

    def outage(self) -> None:
        """The operator is away. Edits happen meanwhile, or do not."""
        self.forward(timedelta(minutes=self.dice.choice([10, 300, 20_000])))
        if self.dice.random() < 0.3:
            self.edit()
        else:
            self.look()

    def edit(self) -> None:
        """Whatever was missed before it and whatever the new schedule would have done: nothing starts."""
        before = (self.cron, self.zone)
        self.cron, self.zone = self.dice.choice(CRONS), self.dice.choice(ZONES)
        self.world.edit(**self.manifest)
        if (self.cron, self.zone) == before:
            return self.look()
        known, retried, self.baseline = self.starts, self.retry_is_due, self.now
        self.look(may_fail=False)
        assert retried or self.starts == known, "an edit started a tick"
        return None

    def jump(self) -> None:
        """The clock is put forward or back, by seconds or by years."""
        by = timedelta(minutes=self.dice.choice([0.5, 3, 8, 90, 3000, 600_000]))
        if self.dice.random() < 0.5:
            self.forward(by)
        else:
            self.world.now -= by
            if by > CLOCKS_DIFFER:  # a tick that was answered up to so far ahead is trusted
                self.baseline = self.now + CLOCKS_DIFFER
            if self.retry_is_due:  # a failed tick of the wrong clock is tried again as the latest tick
                self.failures[self.latest] += 1
        self.look()

    def forward(self, by: timedelta) -> None:
        self.passed.append((self.now, self.now + by))
        self.world.now += by

    @property
    def latest(self) -> datetime:
        """The latest tick of the schedule."""
        return schedule.parse(self.cron, self.zone).latest(self.now)

    @property
    def retry_is_due(self) -> bool:
        state = self.world.table.status.retention
        return state is not None and state.failure is not None

    def look(self, *, may_fail: bool = True) -> None:
        """The operator does what is due. Some runs fail."""
        self.world.settle()
        while self.world.table.status.active_run is not None:
            tick = self.world.table.status.active_run.due_time
            if may_fail and tick is not None and self.dice.random() < 0.15:
                self.world.fail(FailureClass.ENVIRONMENT, Reason.ACCESS_DENIED)
                self.failures[tick] += 1
                self.world.settle()
                again = self.world.table.status.active_run
                assert again is None or again.due_time != tick, f"the tick of {tick} is tried again at once"
                continue
            self.world.finish()
            self.world.settle()
        self.check()

    def check(self) -> None:
        state = self.world.table.status.retention
        late = state is not None and state.failure is not None and has_come(state.failure.next_try, self.now)
        assert not late, f"a failed tick is not tried again at {self.now}"
        starts = self.starts
        newest = self.latest
        # Of several missed ticks the latest runs. Clocks that differ by minutes may already have seen a later one.
        answered = any(newest <= tick <= self.now + CLOCKS_DIFFER for tick in starts)
        assert newest <= self.baseline or answered, f"the tick of {newest} is lost at {self.now}"
        for tick, count in starts.items():
            passes = sum(1 for begin, end in self.passed if begin < tick <= end)
            assert count <= passes + self.failures[tick], f"the tick of {tick} ran {count} times"


def play(count: int) -> int:
    """Plays histories. Returns how many ticks were started."""
    started = 0
    for seed in range(count):
        history = History(random.Random(seed))  # noqa: S311 - moments, not secrets
        for _ in range(STEPS):
            history.step()
        started += history.starts.total()
    return started


@pytest.mark.worlds
def test_in_random_histories_no_tick_runs_twice_or_is_lost_or_starts_because_of_an_edit() -> None:
    count = examples(30)
    assert play(count) > count


@pytest.mark.parametrize(
    ("sentence", "broken"),
    [
        ("nothing is ever due", lambda *_, **__: None),
        ("a schedule that is edited starts", None),
    ],
)
def test_the_check_notices_a_broken_scheduler(
    sentence: str, broken: Callable[..., None] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if broken is not None:
        monkeypatch.setattr(schedule_state, "due_run", broken)
    else:
        honest = schedule_state.with_next
        forgets = lambda state, *rest: honest(state.model_copy(update={"schedule": None}), *rest)  # noqa: E731
        monkeypatch.setattr(schedule_state, "with_next", forgets)
    with pytest.raises(AssertionError, match="tick"):
        play(60)
    assert sentence
