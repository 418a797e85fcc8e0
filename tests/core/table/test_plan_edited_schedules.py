"""Edits of schedules and time zones, and clocks that were wrong: what is due afterwards."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from tests.support import builders
from tests.support.table_world import TableWorld

WEEKLY = {"mode": "Dedicated", "minor": None, "full": {"schedule": "0 3 * * 0"}}
DAILY = {"mode": "Dedicated", "minor": None, "full": {"schedule": "0 3 * * *"}}


def world(**spec: Any) -> TableWorld:
    """A table that is Ready and has done what is due."""
    seen = TableWorld(table=builders.table(**spec)).ready()
    seen.run_due()
    return seen


def compactions(seen: TableWorld) -> int:
    return len([run for run in seen.run_due() if run == ("Compact", "Full")])


@pytest.mark.parametrize(
    ("sentence", "edit"),
    [
        ("another schedule", {"compaction": DAILY}),
        ("another time zone", {"timeZone": "Asia/Tokyo"}),
        ("both", {"compaction": DAILY, "timeZone": "America/New_York"}),
    ],
)
@pytest.mark.parametrize("hours", [2, 30, 80], ids=lambda hours: f"{hours} h later")
def test_an_edit_starts_nothing_and_its_first_tick_lies_after_it(
    sentence: str, edit: dict[str, Any], hours: int
) -> None:
    seen = world(compaction=WEEKLY)
    seen.wait(hours=hours)
    seen.run_due()
    seen.edit(**edit)
    assert compactions(seen) == 0, sentence
    state = seen.table.status.compaction
    assert state is not None
    assert state.full is not None
    assert state.full.next is not None
    assert state.full.next > seen.now


def test_an_edit_of_the_catalogs_time_zone_starts_nothing() -> None:
    seen = world(compaction=DAILY)
    seen.wait(hours=30)
    seen.run_due()
    seen.catalog = builders.catalog(timeZone="Asia/Tokyo")
    assert compactions(seen) == 0
    seen.wait(hours=24)
    assert compactions(seen) == 1


def test_an_outage_without_an_edit_answers_the_newest_missed_tick_once() -> None:
    seen = world(compaction=DAILY)
    seen.wait(days=5)
    assert compactions(seen) == 1
    assert compactions(seen) == 0


@pytest.mark.parametrize("ahead", [timedelta(hours=3), timedelta(days=365)], ids=str)
def test_after_a_clock_that_was_ahead_the_schedule_goes_on(ahead: timedelta) -> None:
    seen = world(retention={"snapshots": {"schedule": "0 * * * *"}})
    before = seen.now
    seen.now += ahead
    seen.run_due()
    seen.now = before
    seen.run_due()
    assert seen.table.status.retention is not None
    assert seen.table.status.retention.next is not None
    assert seen.table.status.retention.next - seen.now <= timedelta(hours=1)
    seen.wait(hours=1)
    assert ("ExpireSnapshots", "") in seen.run_due()


def test_a_time_in_the_future_is_reported_once() -> None:
    seen = world(retention={"snapshots": {"schedule": "0 * * * *"}})
    before = seen.now
    seen.now += timedelta(days=365)
    seen.run_due()
    seen.now = before
    seen.run_due()
    notes = [event.note for decision in seen.decisions for event in decision.events if event.reason == "ClockDiffers"]
    assert notes == ["ExpireSnapshots: the stored time 2027-11-21T08:00:00Z lies in the future and counts as now"]


def test_two_clocks_that_differ_by_seconds_answer_no_tick_twice() -> None:
    seen = world(retention={"snapshots": {"schedule": "0 * * * *"}})
    seen.now = seen.now.replace(minute=0, second=1) + timedelta(hours=1)
    assert ("ExpireSnapshots", "") in seen.run_due()
    seen.now -= timedelta(seconds=30)
    assert seen.run_due() == []


def test_a_retry_that_a_wrong_clock_set_is_tried_now() -> None:
    seen = world(retention={"snapshots": {"schedule": "0 3 * * 0"}})
    before = seen.now
    seen.now += timedelta(days=365)
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.ACCESS_DENIED)
    seen.settle()
    seen.now = before
    seen.settle()
    assert seen.active.spec.type == "ExpireSnapshots"


def test_a_storage_outage_loses_no_weekly_tick() -> None:
    seen = world(retention={"snapshots": {"schedule": "0 3 * * 0"}})
    seen.wait(days=7)
    seen.settle()
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.STORAGE_UNREACHABLE)
    seen.settle()
    seen.wait(minutes=2)
    assert ("ExpireSnapshots", "") in seen.run_due(), "it is retried before the next week"
