"""Days of a table with a virtual clock. Only the operator's own wake-ups let the time pass.

Maintenance starts only inside windows, and each missed tick is answered exactly once.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import FailureClass
from paimon_operator.api.units import delta
from paimon_operator.core.operations.base import DueRun
from paimon_operator.core.schedule import parse
from paimon_operator.core.spec import spread
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.table import maintenance_start
from tests.core.table.windowed import at
from tests.support import builders
from tests.support.random_examples import examples
from tests.support.table_world import TableWorld

Windows = list[dict[str, str]]
NIGHT: Windows = [{"schedule": "0 1 * * *", "duration": "4h"}]
TWICE: Windows = [{"schedule": "30 2 * * *", "duration": "1h"}, {"schedule": "0 13 * * *", "duration": "30m"}]
OVERLAPPING: Windows = [{"schedule": "0 22 * * *", "duration": "3h"}, {"schedule": "30 0 * * *", "duration": "2h"}]
WEEKEND: Windows = [{"schedule": "0 0 * * 6", "duration": "1d"}]
SPRING, AUTUMN = "2026-03-28 12:00", "2026-10-24 12:00"
"""Half a day before the clock changes of Berlin and Lord Howe, or shortly around those of New York."""
BERLIN, NEW_YORK, LORD_HOWE = "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"
EXPIRY, FULL = "20 * * * *", "50 3 * * *"
MAINTENANCE: dict[str, Any] = {
    "retention": {"snapshots": {"schedule": EXPIRY}},
    "compaction": {"mode": "Dedicated", "full": {"schedule": FULL}},
}
CASES = [
    ("the night", NIGHT, BERLIN, SPRING),
    ("the night", NIGHT, BERLIN, AUTUMN),
    ("an opening in the skipped hour", TWICE, BERLIN, SPRING),
    ("an opening in the repeated hour", TWICE, BERLIN, AUTUMN),
    ("an opening in the skipped hour", TWICE, NEW_YORK, "2026-03-07 12:00"),
    ("two windows that overlap", OVERLAPPING, NEW_YORK, "2026-10-31 12:00"),
    ("the night", NIGHT, LORD_HOWE, "2026-04-03 12:00"),
    ("an opening in the skipped half hour", TWICE, LORD_HOWE, "2026-10-02 12:00"),
    ("a day of the week", WEEKEND, BERLIN, SPRING),
]


@dataclass
class Days:
    """A table from `start` on, as long as the operator wakes it."""

    windows: Windows
    zone: str
    start: datetime
    spec: dict[str, Any]

    def __post_init__(self) -> None:
        spec: dict[str, Any] = {"maintenanceWindows": self.windows, "timeZone": self.zone}
        metadata = {"creationTimestamp": self.start}
        table = builders.table(metadata=metadata, **self.spec)
        self.world = TableWorld(table=table, catalog=builders.catalog(**spec), now=self.start).ready()

    def run(self, end: datetime, ends_run: Callable[[TableWorld], None]) -> None:
        """Passes the time until `end`. Each run ends by `ends_run`, which may let time pass."""
        while self.world.now < end:
            decision = self.world.settle()
            if self.world.table.status.active_run is not None:
                ends_run(self.world)
                continue
            assert decision.requeue_after is not None, "nothing wakes the table any more"
            self.world.now += decision.requeue_after

    def starts(self, type_: str) -> list[tuple[datetime, datetime]]:
        """When each run of a type started, and which tick it answers."""
        return [(began(run), tick_of(run)) for run in self.world.created if run.spec.type == type_]

    def is_open(self, moment: datetime) -> bool:
        """Whether a window is open, by a walk over all ticks that can have opened it."""
        for window in self.windows:
            length = _length(window["duration"])
            opening = moment - length
            while (opening := parse(window["schedule"], self.zone).next_after(opening)) <= moment:
                if moment < opening + length:
                    return True
        return False

    def expected(self, schedule: str, end: datetime) -> Iterator[tuple[datetime, datetime]]:
        """When runs without a length start, and for which tick: a model that knows neither wake-ups nor status."""
        waiting: list[datetime] = []
        start = end
        for tick in _ticks(schedule, self.zone, self.start, end):
            if waiting and start < tick:
                yield start, waiting[-1]
                waiting = []
            start = start if waiting else self.starts_at(tick)
            waiting.append(tick)
        if waiting and start < end:
            yield start, waiting[-1]

    def starts_at(self, tick: datetime) -> datetime:
        """The tick inside a window. Otherwise the table's own moment in the next window that opens."""
        if self.is_open(tick) and not self.opens_at(tick):
            return tick
        opening = next(each for each in _minutes(tick) if self.opens_at(each))
        return opening + spread.delay(self.spread_at(opening), self.world.table.metadata.uid)

    def opens_at(self, moment: datetime) -> bool:
        """Whether a window opens and none was open until then."""
        return self.is_open(moment) and not self.is_open(moment - timedelta(seconds=1))

    def spread_at(self, opening: datetime) -> timedelta:
        """Over what time the starts after an opening are spread: a tenth of the window, at most ten minutes."""
        before = opening - timedelta(seconds=1)
        opened = [each for each in self.windows if parse(each["schedule"], self.zone).next_after(before) == opening]
        return min(delta(opened[0]["duration"]) / 10, timedelta(minutes=10))


@cache
def _length(duration: str) -> timedelta:
    """A duration of the manifest: the model asks for it at each minute."""
    return delta(duration)


def _ticks(schedule: str, zone: str, start: datetime, end: datetime) -> Iterator[datetime]:
    tick = start
    while (tick := parse(schedule, zone).next_after(tick)) < end:
        yield tick


def _minutes(start: datetime) -> Iterator[datetime]:
    return (start + number * timedelta(minutes=1) for number in range(60 * 24 * 8))


def began(run: PaimonRun) -> datetime:
    created = run.metadata.creation_timestamp
    assert created is not None
    return created


def tick_of(run: PaimonRun) -> datetime:
    assert run.spec.trigger is not None
    assert run.spec.trigger.due_time is not None
    return run.spec.trigger.due_time


def at_once(world: TableWorld) -> None:
    """A run that ends when it starts."""
    world.finish(startTime=world.now)


@pytest.mark.parametrize(("sentence", "windows", "zone", "start"), CASES)
def test_runs_without_a_length_start_where_a_simple_model_expects_them(
    sentence: str, windows: Windows, zone: str, start: str
) -> None:
    days = Days(windows, zone, at(start), MAINTENANCE)
    end = at(start) + timedelta(days=3)
    days.run(end, at_once)
    for type_, schedule in (("ExpireSnapshots", EXPIRY), ("Compact", FULL)):
        found, expected = days.starts(type_), [*days.expected(schedule, end)]
        assert [each for each in found if each[0] < end] == expected, sentence
        assert len(expected) > 1 or windows is WEEKEND, "something starts in these days"


def test_writes_start_at_each_of_their_ticks() -> None:
    writes = {"writes": [builders.write(schedule="*/30 * * * *")]}
    days = Days(NIGHT, BERLIN, at(SPRING), MAINTENANCE | writes)
    end = at(SPRING) + timedelta(days=2)
    days.run(end, at_once)
    assert [began for began, _ in days.starts("Write")] == [*_ticks("*/30 * * * *", BERLIN, at(SPRING), end)]


class Dice:
    """Runs of random lengths, some of which fail. Some of the lengths fit into no window."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - lengths, not secrets
        self.failed: Counter[tuple[str, datetime]] = Counter()

    def end_run(self, world: TableWorld) -> None:
        started, run = world.now, world.active
        world.settle()
        world.now += timedelta(seconds=self.random.choice([5, 60, 900, 3600, 10_000, 20_000]))
        if self.random.random() < 0.2:
            self.failed[run.spec.type, tick_of(run)] += 1
            world.fail(FailureClass.ENVIRONMENT, Reason.ACCESS_DENIED, startTime=started)
        else:
            world.finish(startTime=started)


def play(seed: int) -> int:
    """Days with random windows and runs. Returns how many runs started."""
    dice = Dice(seed)
    _, windows, zone, start = dice.random.choice(CASES)
    days = Days(windows, zone, at(start), MAINTENANCE)
    end = at(start) + timedelta(days=9)
    days.run(end, dice.end_run)
    for type_, schedule in (("ExpireSnapshots", EXPIRY), ("Compact", FULL)):
        starts = days.starts(type_)
        assert all(days.is_open(began) for began, _ in starts), "a run starts outside every window"
        for tick, count in Counter(tick for _, tick in starts).items():
            assert count <= 1 + dice.failed[type_, tick], f"the tick of {tick} is answered {count} times"
        newest = max((tick for _, tick in starts), default=at(start))
        waiting = [tick for tick in _ticks(schedule, zone, at(start), end) if tick > newest]
        longest = timedelta(days=8 if windows is WEEKEND else 3)
        assert not waiting or end - waiting[0] < longest, f"the tick of {waiting[0]} waits for ever"
    return len(days.world.created)


@pytest.mark.worlds
def test_runs_of_any_length_start_only_inside_windows_and_no_tick_twice() -> None:
    count = examples(6, most=500)
    assert sum(play(seed) for seed in range(count)) > 3 * count


@pytest.mark.parametrize(("sentence", "later"), [("outside every window", 0), ("waits for ever", 3600)])
def test_the_check_notices_starts_at_other_times(sentence: str, later: float, monkeypatch: pytest.MonkeyPatch) -> None:
    def start_of(context: TableContext, _: DueRun) -> maintenance_start.Start:
        return maintenance_start.Start(at=context.now + timedelta(seconds=later))

    monkeypatch.setattr(maintenance_start, "start_of", start_of)
    with pytest.raises(AssertionError, match=sentence):
        sum(play(seed) for seed in range(20))
