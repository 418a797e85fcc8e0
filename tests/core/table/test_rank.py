"""The order in which waiting runs start: gain per cost gives a bounded head start, so nothing starves."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

import pytest

from paimon_operator.api.run.status import RunTrigger
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import QueuedRun
from paimon_operator.core.operations.base import DueRun
from paimon_operator.core.table.observed import TableObserved
from paimon_operator.core.table.rank import LONGEST, files_gained, head_start
from paimon_operator.core.table.run_slots import RunLimit, RunSlots
from tests.core.table.measured import HOURLY, measure, measured_table
from tests.core.table.test_run_slots import catalog, table
from tests.support import builders
from tests.support.table_world import TableWorld

FULL = TableObserved(stopped_by=lambda _: RunLimit(1, "lake"))


def queued(*, took: float | None = None, **health: Any) -> QueuedRun:
    """The place of a due compaction after so long a run, with this measurement."""
    seen = measured_table()
    if took is not None:
        seen.wait(hours=1)
        measure(seen, sortedRunsMax=9)
        seen.settle()
        started = seen.now
        seen.wait(seconds=took)
        seen.finish("Compact", startTime=started)
        seen.settle()
    seen.wait(hours=2)
    measure(seen, snapshot=9, **health)
    seen.observed = FULL
    seen.settle()
    return place_of(seen)


def place_of(seen: TableWorld) -> QueuedRun:
    found = seen.table.status.queued_run
    assert found is not None, "nothing waits for a place"
    return found


def lead(place: QueuedRun) -> float:
    """The head start in minutes."""
    assert place.rank is not None
    return round((place.since - place.rank).total_seconds() / 60, 1)


@pytest.mark.parametrize(
    ("sentence", "took", "health", "minutes"),
    [
        ("one file in each second gives half of the longest", 60.0, {"sortedRunsMax": 61}, 30.0),
        ("the same gain at ten times the cost", 600.0, {"sortedRunsMax": 61}, 5.5),
        ("ten times the gain", 60.0, {"sortedRunsMax": 11, "smallFiles": 590, "smallFilesMax": 99}, 54.5),
    ],
)
def test_the_head_start_of_maintenance_is_its_gain_per_cost(
    sentence: str, took: float, health: dict[str, Any], minutes: float
) -> None:
    assert lead(queued(took=took, **health)) == minutes, sentence


def test_a_kind_that_never_succeeded_is_expected_to_take_a_minute() -> None:
    seen = measured_table()
    work = DueRun(type_="Compact", trigger=RunTrigger.SCHEDULE, due=seen.now)
    measure(seen, sortedRunsMax=61)
    assert head_start(builders.context(seen.table, seen.catalog), seen.table.status, work) == timedelta(minutes=30)


def test_what_somebody_waits_for_has_the_longest_head_start() -> None:
    seen = TableWorld(table=builders.table(writes=[builders.write(schedule=HOURLY)])).ready()
    seen.run_due()
    seen.observed = FULL
    seen.wait(hours=1)
    seen.settle()
    assert place_of(seen).type == "Write"
    assert lead(place_of(seen)) == 60


def test_maintenance_without_a_measured_gain_waits_in_the_order_of_its_ticks() -> None:
    seen = measured_table()
    work = DueRun(type_="ExpirePartitions", trigger=RunTrigger.SCHEDULE, due=seen.now)
    assert head_start(builders.context(seen.table, seen.catalog), seen.table.status, work) == timedelta(0)


@pytest.mark.parametrize(
    "health",
    [{}, {"sortedRunsMax": 0, "smallFiles": 0}, {"sortedRunsMax": 1, "smallFiles": -1}, {"sortedRunsMax": -1}],
)
def test_a_measurement_without_a_gain_gives_no_head_start(health: dict[str, Any]) -> None:
    seen = measured_table()
    measure(seen, **health)
    work = DueRun(type_="Compact", trigger=RunTrigger.SCHEDULE, due=seen.now, expected=timedelta(seconds=0))
    context = builders.context(seen.table, seen.catalog)
    assert head_start(context, seen.table.status, work) == timedelta(0)
    assert files_gained(context, seen.table.status, work) == 0


def test_the_files_of_a_table_without_primary_key_are_no_sorted_runs_that_merge() -> None:
    seen = measured_table(schema=builders.EVENTS)
    measure(seen, sortedRunsMax=5000, level0FilesMax=5000, smallFiles=7)
    work = DueRun(type_="Compact", trigger=RunTrigger.SCHEDULE, due=seen.now)
    assert files_gained(builders.context(seen.table, seen.catalog), seen.table.status, work) == 7


def test_a_look_for_drift_has_no_head_start_before_maintenance() -> None:
    seen = measured_table()
    work = DueRun(type_="Observe", trigger=RunTrigger.SCHEDULE, due=seen.now, yields=True)
    assert head_start(builders.context(seen.table, seen.catalog), seen.table.status, work) == timedelta(0)


@pytest.mark.parametrize("seed", range(20))
def test_work_that_has_waited_an_hour_longer_starts_first_whatever_the_others_gain(seed: int) -> None:
    """The bound that keeps every table from starving, in random queues."""
    source = random.Random(seed)  # noqa: S311 - no secret
    slots, lake = RunSlots(), catalog(limit=1)
    slots.put(table("busy", active=True), lake)
    oldest = builders.NOW - LONGEST - timedelta(seconds=source.randint(1, 600))
    slots.put(waiting("oldest", oldest, timedelta(0)), lake)
    for number in range(source.randint(1, 20)):
        since = builders.NOW - timedelta(seconds=source.randint(0, 60))
        slots.put(waiting(f"t{number}", since, timedelta(seconds=source.randint(0, 3600))), lake)
    assert {name for _, name in slots.put(table("busy"), lake)} == {"oldest"}


def waiting(name: str, since: datetime, lead: timedelta) -> PaimonTable:
    """A table with this place in the queue."""
    found = table(name, waits=since)
    place = found.status.queued_run
    assert place is not None
    ranked = place.model_copy(update={"rank": since - lead})
    return found.model_copy(update={"status": found.status.model_copy(update={"queued_run": ranked})})
