"""The expected length of a run, and the window in which it starts because of it."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass, RunTrigger
from paimon_operator.api.units import delta
from paimon_operator.core.operations.base import DueRun
from paimon_operator.core.spec import spread
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.table.maintenance_start import Start, start_of
from paimon_operator.core.windows import open_at
from tests.core.table.windowed import (
    EXPIRY,
    NIGHT,
    SPREAD,
    at,
    decision,
    expiry,
    finish_after,
    go_to,
    said,
    wake,
    world,
)
from tests.support import builders

SECOND = timedelta(seconds=1)
EVENING: dict[str, Any] = {"schedule": "0 20 * * *", "duration": "30m"}
NOON: dict[str, Any] = {"schedule": "0 12 * * *", "duration": "8h"}
ALL_DAY: dict[str, Any] = {"schedule": "* * * * *", "duration": "1h"}


def context(now: datetime, *windows: dict[str, Any]) -> TableContext:
    known = builders.context(builders.table(), builders.catalog(maintenanceWindows=list(windows)))
    return replace(known, now=now)


OWN = spread.delay(SPREAD, builders.table().metadata.uid)
"""The delay of the builders' table after the opening of a long window."""


def due(since: str, expected: str | None = None, max_delay: str | None = None, tick: str | None = None) -> DueRun:
    """An expiry that waits since then."""
    return DueRun(
        type_="ExpireSnapshots",
        trigger=RunTrigger.SCHEDULE,
        due=at(since),
        due_time=at(tick or since),
        first_due=at(since),
        expected=delta(expected) if expected else None,
        max_delay=delta(max_delay) if max_delay else None,
    )


CASES: list[tuple[str, list[dict[str, Any]], DueRun, str, datetime]] = [
    ("a length that is not known fits", [NIGHT], due("2026-11-22 04:59"), "2026-11-22 04:59", at("2026-11-22 04:59")),
    ("it ends just at the closing", [NIGHT], due("2026-11-22 04:00", "1h"), "2026-11-22 04:00", at("2026-11-22 04:00")),
    ("it would outlast the window by a second", [NIGHT], due("2026-11-22 04:00", "1h"), "2026-11-22 04:00:01", at("2026-11-23 01:00") + OWN),
    ("it fits into another window that is open", [NIGHT, {"schedule": "0 2 * * *", "duration": "6h"}], due("2026-11-22 04:00", "2h"), "2026-11-22 04:30", at("2026-11-22 04:30")),
    ("it waits for the window into which it fits", [NIGHT, EVENING], due("2026-11-22 06:00", "1h"), "2026-11-22 06:00", at("2026-11-23 01:00") + OWN),
    ("it is longer than the window and starts after the opening", [NIGHT], due("2026-11-22 00:30", "5h"), "2026-11-22 00:30", at("2026-11-22 01:00") + OWN),
    ("it is longer and became due after the opening", [NIGHT], due("2026-11-22 01:01", "5h"), "2026-11-22 01:01", at("2026-11-23 01:00") + OWN),
    ("it is longer and something else blocked it after the opening", [NIGHT], due("2026-11-22 00:30", "5h"), "2026-11-22 04:30", at("2026-11-22 04:30")),
    ("it is longer and became due at the opening", [NIGHT], due("2026-11-22 01:00", "5h"), "2026-11-22 01:20", at("2026-11-22 01:20")),
    ("it is longer and starts in the longest window", [EVENING, NIGHT], due("2026-11-22 19:00", "5h"), "2026-11-22 19:00", at("2026-11-23 01:00") + OWN),
    ("it is longer than one window only", [NIGHT, NOON], due("2026-11-22 00:30", "5h"), "2026-11-22 00:30", at("2026-11-22 12:00") + OWN),
    ("it fills the window but for twice the spread", [NIGHT], due("2026-11-22 00:30", "220m"), "2026-11-22 01:20", at("2026-11-22 01:20")),
    ("so it waits for the next window if it missed that", [NIGHT], due("2026-11-22 00:30", "220m"), "2026-11-22 01:21", at("2026-11-23 01:00") + OWN),
    ("a second more counts as longer than the window", [NIGHT], due("2026-11-22 00:30", "13201s"), "2026-11-22 01:21", at("2026-11-22 01:21")),
    ("windows that are always open let it start at once", [ALL_DAY], due("2026-11-22 03:07", "40m"), "2026-11-22 03:07", at("2026-11-22 03:07")),
    ("also when it was blocked", [ALL_DAY], due("2026-11-22 03:07", "40m"), "2026-11-22 03:31", at("2026-11-22 03:31")),
    ("and one that is longer", [ALL_DAY], due("2026-11-22 03:07", "5h"), "2026-11-22 03:31", at("2026-11-22 03:31")),
    ("its own moment comes first where another window opens after it", [NIGHT, {"schedule": "1 1 * * *", "duration": "4h"}], due("2026-11-22 00:30"), "2026-11-22 01:00", at("2026-11-22 01:00") + OWN),
    ("maxDelay comes before the window", [NIGHT], due("2026-11-22 06:00", max_delay="1h"), "2026-11-22 06:30", at("2026-11-22 07:00")),
    ("the window comes before maxDelay", [NIGHT], due("2026-11-22 06:00", max_delay="1d"), "2026-11-22 06:30", at("2026-11-23 01:00") + OWN),
    ("maxDelay has passed", [NIGHT], due("2026-11-22 06:00", max_delay="1h"), "2026-11-22 07:00", at("2026-11-22 07:00")),
    ("maxDelay lets it outlast the window", [NIGHT], due("2026-11-22 03:00", "2h", max_delay="90m"), "2026-11-22 04:30", at("2026-11-22 04:30")),
    ("maxDelay of a retry counts from its tick", [NIGHT], due("2026-11-22 06:00", max_delay="2h", tick="2026-11-22 04:30"), "2026-11-22 06:00", at("2026-11-22 06:30")),
    ("without windows all of this does not matter", [], due("2026-11-22 06:00", "9d"), "2026-11-22 06:00", at("2026-11-22 06:00")),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "windows", "work", "now", "starts"), CASES, ids=[each[0] for each in CASES])
def test_when_due_maintenance_starts(
    sentence: str, windows: list[dict[str, Any]], work: DueRun, now: str, starts: datetime
) -> None:
    found = start_of(context(at(now), *windows), work)
    assert found.at == starts, sentence
    assert found.has_come(at(now)) is (starts <= at(now))


MESSAGES: list[tuple[str, DueRun, str, str]] = [
    ("it starts in its window", due("2026-11-22 04:00", "1h"), "2026-11-22 04:00", ""),
    ("it is longer than the window", due("2026-11-22 00:30", "5h"), "2026-11-22 02:00", "its last run took 5h, for which every maintenance window is too short, so it may outlast this one"),
    ("it has waited for maxDelay", due("2026-11-22 06:00", max_delay="1h"), "2026-11-22 07:00", "it has waited since 2026-11-22T06:00:00Z, longer than maxDelay (1h), so it does not wait for a maintenance window"),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "work", "now", "message"), MESSAGES, ids=[each[0] for each in MESSAGES])
def test_what_is_unusual_about_a_start(sentence: str, work: DueRun, now: str, message: str) -> None:
    found = start_of(context(at(now), NIGHT), work)
    assert found.has_come(at(now)), sentence
    assert found.message == message


def test_work_that_would_outlast_the_open_window_says_so() -> None:
    found = start_of(context(at("2026-11-22 04:30"), NIGHT), due("2026-11-22 04:00", "1h"))
    assert found.message.startswith("due at 2026-11-22T04:00:00Z, starts at 2026-11-23T01:0")
    assert found.message.endswith(". Its last run took 1h, so it would outlast the window that is open now")


def test_work_that_waits_for_its_own_moment_names_the_window_that_has_opened() -> None:
    found = start_of(context(at("2026-11-22 01:00"), NIGHT), due("2026-11-22 00:30", "1h"))
    assert timedelta() < OWN, "else the test shows nothing"
    assert "in the window that opened at 2026-11-22T01:00:00Z" in found.message
    assert "outlast" not in found.message


def test_work_that_is_no_maintenance_of_a_schedule_starts_now() -> None:
    now, night = at("2026-11-22 09:00"), NIGHT
    of_a_user = replace(due("2026-11-22 08:00"), trigger=RunTrigger.USER)
    a_write = replace(due("2026-11-22 08:00"), type_="Write")
    assert start_of(context(now, night), of_a_user) == start_of(context(now, night), a_write) == Start(at=now)


def test_starts_of_many_tables_are_spread_over_the_first_tenth_of_a_window() -> None:
    known, work = context(at("2026-11-22 00:30"), {"schedule": "0 1 * * *", "duration": "10m"}), due("2026-11-22 00:30")
    moments = set()
    for number in range(1000):
        metadata = known.table.metadata.model_copy(update={"uid": f"uid-{number}"})
        start = start_of(replace(known, table=known.table.model_copy(update={"metadata": metadata})), work)
        assert start.at is not None
        moments.add(start.at - at("2026-11-22 01:00"))
    assert moments == {timedelta(seconds=each) for each in range(60)}


SOME_WINDOWS = st.lists(
    st.builds(
        lambda schedule, duration: {"schedule": schedule, "duration": duration},
        st.sampled_from(["0 1 * * *", "30 2 * * *", "*/20 * * * *", "* * * * *", "0 0 * * 0", "15 3 1 * *"]),
        st.sampled_from(["1m", "10m", "1h", "4h", "7d"]),
    ),
    min_size=1,
    max_size=3,
)
AROUND_A_CLOCK_CHANGE = st.integers(0, 3 * 86_400).map(lambda seconds: at("2026-10-24 00:00") + seconds * SECOND)
WAITED = st.one_of(st.just(0), st.integers(0, 600), st.integers(0, 10 * 86_400))
LENGTHS = st.one_of(st.none(), st.sampled_from(["5s", "9m", "40m", "47m", "3h", "220m", "5h", "9d"]))


@settings(max_examples=400, deadline=None)
@given(SOME_WINDOWS, AROUND_A_CLOCK_CHANGE, WAITED, LENGTHS, st.sampled_from(["UTC", "Europe/Berlin"]))
def test_all_work_starts_in_a_window_and_at_the_time_that_it_was_told(
    listed: list[dict[str, Any]], now: datetime, waited: int, expected: str | None, zone: str
) -> None:
    known, work = (
        replace(context(now, *listed), windows_zone=zone),
        due(str((now - waited * SECOND).replace(tzinfo=None)), expected),
    )
    told = start_of(known, work)
    assert told.at is not None
    start = max(told.at, now)
    assert open_at(known.windows, start) is not None, "it starts in a window"
    assert start_of(replace(known, now=start), work).has_come(start), "and it may start then"


def test_a_run_records_how_long_it_took() -> None:
    seen = world(NIGHT, retention=EXPIRY)
    assert expiry(seen).last_duration_seconds is None
    go_to(seen, "2026-11-22 02:00")
    finish_after(seen, minutes=75)
    assert expiry(seen).last_duration_seconds == 75 * 60


def test_a_failure_keeps_the_length_of_the_last_success() -> None:
    seen = world(NIGHT, retention=EXPIRY)
    go_to(seen, "2026-11-22 02:00")
    finish_after(seen, minutes=75)
    go_to(seen, "2026-11-23 02:00")
    seen.now += timedelta(minutes=5)
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.POD_LOST, startTime=at("2026-11-23 02:00"))
    seen.settle()
    assert expiry(seen).last_duration_seconds == 75 * 60


@pytest.mark.parametrize(
    "result", [{}, {"startTime": "2026-11-22T09:00:00Z"}], ids=["no start", "a start after its end"]
)
def test_a_run_without_a_start_that_can_be_right_keeps_the_known_length(result: dict[str, Any]) -> None:
    seen = world(NIGHT, retention=EXPIRY)
    go_to(seen, "2026-11-22 02:00")
    finish_after(seen, minutes=75)
    go_to(seen, "2026-11-22 03:30")
    seen.finish(**result)
    seen.settle()
    assert expiry(seen).last_duration_seconds == 75 * 60


def test_the_strategies_of_compaction_have_lengths_of_their_own() -> None:
    schedules = {"minor": {"schedule": "0 2 * * *"}, "full": {"schedule": "30 2 * * *"}}
    seen = world(NIGHT, compaction={"mode": "Dedicated", **schedules})
    go_to(seen, "2026-11-22 02:00")
    finish_after(seen, minutes=5)
    go_to(seen, "2026-11-22 02:30")
    finish_after(seen, hours=2)
    state = seen.table.status.compaction
    assert state is not None
    assert state.minor is not None
    assert state.full is not None
    assert (state.minor.last_duration_seconds, state.full.last_duration_seconds) == (300, 7200)


def test_a_run_whose_expected_length_would_outlast_the_window_waits_for_the_next_one() -> None:
    seen = world(NIGHT, retention={"snapshots": {"schedule": "30 4 * * *"}})
    go_to(seen, "2026-11-22 04:30")
    finish_after(seen, hours=1)
    go_to(seen, "2026-11-23 04:30")
    assert said(seen) == ("Waiting", Reason.WAITING_FOR_WINDOW)
    assert "Its last run took 1h" in decision(seen).message
    wake(seen)
    assert seen.now == at("2026-11-24 01:00") + OWN
    assert seen.active.spec.trigger is not None
    assert seen.active.spec.trigger.message == "due at 2026-11-23T04:30:00Z"


def test_a_run_that_may_outlast_its_window_says_so_in_its_trigger() -> None:
    seen = world(NIGHT, retention={"snapshots": {"schedule": "0 1 * * *"}})
    go_to(seen, "2026-11-22 01:30")
    finish_after(seen, hours=9)
    go_to(seen, "2026-11-23 01:30")
    assert seen.active.spec.trigger is not None
    assert seen.active.spec.trigger.message == (
        "due at 2026-11-23T01:00:00Z; its last run took 9h, for which every maintenance window is too short, so it may "
        "outlast this one"
    )


def test_a_retry_by_a_clock_ahead_counts_from_its_tick_and_starts_in_the_next_window() -> None:
    """Its own time is never reached, so that it would wait for every opening again."""
    seen = world(NIGHT, retention={"snapshots": {"schedule": "30 0 * * *"}})
    go_to(seen, "2026-11-22 01:15")
    finish_after(seen, hours=9)
    go_to(seen, "2027-11-23 01:15")
    seen.fail(FailureClass.ENVIRONMENT, Reason.ACCESS_DENIED)
    seen.settle()
    go_to(seen, "2026-11-23 00:45")
    assert said(seen) == ("Waiting", Reason.WAITING_FOR_WINDOW)
    go_to(seen, "2026-11-23 01:15")
    assert seen.active.spec.type == "ExpireSnapshots"
