"""The semantics of maintenance windows: openings, lengths, overlaps and clock changes."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paimon_operator.api.units import delta
from paimon_operator.core.schedule import parse
from paimon_operator.core.windows import Recurrence, Window, Windows, near, open_at

BERLIN, NEW_YORK, LORD_HOWE = "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"
MINUTE = timedelta(minutes=1)


def at(text: str) -> datetime:
    """`2026-03-29 02:30` in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def windows(*recurrences: tuple[str, str], zone: str = "UTC") -> Windows:
    """Windows from pairs of schedule and duration."""
    return tuple(Recurrence(parse(schedule, zone), delta(duration)) for schedule, duration in recurrences)


NIGHT = ("0 1 * * *", "4h")
LATE = ("0 22 * * *", "4h")


@pytest.mark.parametrize(
    ("sentence", "listed", "moment", "expected"),
    [
        ("without windows none is open", [], "2026-11-21 02:00", None),
        ("a window is closed just before its opening", [NIGHT], "2026-11-21 00:59:59.999999", None),
        ("a window is open at its opening", [NIGHT], "2026-11-21 01:00", ("2026-11-21 01:00", "2026-11-21 05:00")),
        ("a window is open just before its closing", [NIGHT], "2026-11-21 04:59:59.999999", ("2026-11-21 01:00", "2026-11-21 05:00")),
        ("a window is closed at its closing", [NIGHT], "2026-11-21 05:00", None),
        ("a window passes midnight", [LATE], "2026-11-22 01:59", ("2026-11-21 22:00", "2026-11-22 02:00")),
        ("a window passes a month and a year", [("0 22 31 12 *", "2d")], "2027-01-02 21:59", ("2026-12-31 22:00", "2027-01-02 22:00")),
        ("a length in seconds closes between two minutes", [("0 1 * * *", "90s")], "2026-11-21 01:01:29", ("2026-11-21 01:00", "2026-11-21 01:01:30")),
        ("and not later", [("0 1 * * *", "90s")], "2026-11-21 01:01:30", None),
        ("a window of a week is open on its last day", [("0 0 * * 0", "7d")], "2026-11-28 23:59", ("2026-11-22 00:00", "2026-11-29 00:00")),
        ("of two open windows the one that closes last counts", [NIGHT, ("0 2 * * *", "6h")], "2026-11-21 02:00", ("2026-11-21 02:00", "2026-11-21 08:00")),
        ("whatever their order", [("0 2 * * *", "6h"), NIGHT], "2026-11-21 02:00", ("2026-11-21 02:00", "2026-11-21 08:00")),
        ("an opening before the former closing starts a new window", [("0 * * * *", "90m")], "2026-11-21 02:10", ("2026-11-21 02:00", "2026-11-21 03:30")),
        ("a window of a yearly schedule", [("0 0 1 1 *", "7d")], "2026-11-21 00:00", None),
    ],
)  # fmt: skip
def test_the_open_window(
    sentence: str, listed: list[tuple[str, str]], moment: str, expected: tuple[str, str] | None
) -> None:
    found = open_at(windows(*listed), at(moment))
    assert (found and (found.opens, found.closes)) == (expected and tuple(map(at, expected))), sentence


@pytest.mark.parametrize(
    ("sentence", "zone", "schedule", "moment", "expected"),
    [
        # Berlin: 2026-03-29 01:00 UTC from 02:00 to 03:00, 2026-10-25 01:00 UTC from 03:00 back to 02:00.
        ("in winter 01:00 is 00:00 UTC", BERLIN, "0 1 * * *", "2026-03-28 12:00", ("2026-03-28 00:00", "2026-03-29 00:00")),
        ("the window over the skipped hour is four hours long", BERLIN, "0 1 * * *", "2026-03-29 01:30", ("2026-03-29 00:00", "2026-03-29 23:00")),
        ("an opening in the skipped hour is at its end", BERLIN, "30 2 * * *", "2026-03-29 01:30", ("2026-03-29 01:00", "2026-03-30 00:30")),
        ("an opening in the repeated hour is in the first pass", BERLIN, "30 2 * * *", "2026-10-25 01:30", ("2026-10-25 00:30", "2026-10-26 01:30")),
        ("the window over the repeated hour is four hours long", BERLIN, "0 1 * * *", "2026-10-25 01:30", ("2026-10-24 23:00", "2026-10-26 00:00")),
        # New York: 2026-03-08 07:00 UTC from 02:00 to 03:00, 2026-11-01 06:00 UTC from 02:00 back to 01:00.
        ("the skipped hour of New York", NEW_YORK, "30 2 * * *", "2026-03-08 07:30", ("2026-03-08 07:00", "2026-03-09 06:30")),
        ("the repeated hour of New York", NEW_YORK, "30 1 * * *", "2026-11-01 07:00", ("2026-11-01 05:30", "2026-11-02 06:30")),
        # Lord Howe: half an hour, 2026-10-03 15:30 UTC from 02:00 to 02:30, 2026-04-04 15:00 UTC from 02:00 back to 01:30.
        ("the skipped half hour of Lord Howe", LORD_HOWE, "15 2 * * *", "2026-10-03 16:00", ("2026-10-03 15:30", "2026-10-04 15:15")),
        ("the repeated half hour of Lord Howe", LORD_HOWE, "45 1 * * *", "2026-04-04 15:30", ("2026-04-04 14:45", "2026-04-05 15:15")),
    ],
)  # fmt: skip
def test_a_window_around_a_clock_change_opens_by_the_wall_clock_and_lasts_by_elapsed_time(
    sentence: str, zone: str, schedule: str, moment: str, expected: tuple[str, str]
) -> None:
    opens, next_opens = map(at, expected)
    latest, following = near(windows((schedule, "4h"), zone=zone), at(moment))
    assert (latest.opens, latest.duration) == (opens, timedelta(hours=4)), sentence
    assert (following.opens, following.duration) == (next_opens, timedelta(hours=4)), sentence


def walked(listed: Windows, moment: datetime) -> bool:
    """Whether a window is open, by a walk over all minutes at which it could have opened."""
    for each in listed:
        minute = moment.replace(second=0, microsecond=0)
        while minute + each.duration > moment:
            if each.schedule.next_after(minute - timedelta(seconds=1)) == minute:
                return True
            minute -= MINUTE
    return False


def days(first: str, last: str) -> st.SearchStrategy[datetime]:
    """Times in UTC from one day to another, to the second."""
    bounds = datetime.fromisoformat(first), datetime.fromisoformat(last)
    return st.datetimes(*bounds, timezones=st.just(UTC)).map(lambda moment: moment.replace(microsecond=0))


CLOCK_CHANGES = st.one_of(
    days("2026-03-07", "2026-03-10"), days("2026-03-28", "2026-03-31"), days("2026-04-03", "2026-04-06"),
    days("2026-10-03", "2026-10-05"), days("2026-10-24", "2026-10-27"), days("2026-10-31", "2026-11-03"),
)  # fmt: skip
SCHEDULES = st.sampled_from(
    [
        "0 1 * * *",
        "30 2 * * *",
        "45 1 * * *",
        "15,45 1-3 * * *",
        "*/20 * * * *",
        "0 22 * * 6",
        "30 1 * * 0",
        "* 2 * * *",
    ]
)
DURATIONS = st.sampled_from(["1m", "90s", "15m", "1h", "150m", "5h"])
SOME_WINDOWS = st.lists(st.tuples(SCHEDULES, DURATIONS), min_size=1, max_size=3)
ZONES = st.sampled_from([BERLIN, NEW_YORK, LORD_HOWE])


@settings(max_examples=300, deadline=None)
@given(SOME_WINDOWS, ZONES, CLOCK_CHANGES)
def test_a_window_is_open_if_a_walk_over_all_minutes_finds_its_opening(
    listed: list[tuple[str, str]], zone: str, moment: datetime
) -> None:
    known = windows(*listed, zone=zone)
    found = open_at(known, moment)
    assert (found is not None) == walked(known, moment)
    assert found is None or (found.opens <= moment < found.closes)


@settings(max_examples=300, deadline=None)
@given(SCHEDULES, DURATIONS, ZONES, CLOCK_CHANGES)
def test_the_windows_near_a_moment_open_at_the_ticks_before_and_after_it(
    schedule: str, duration: str, zone: str, moment: datetime
) -> None:
    (known,) = windows((schedule, duration), zone=zone)
    latest, following = near((known,), moment)
    assert latest.opens <= moment < following.opens
    assert known.schedule.next_after(latest.opens - timedelta(seconds=1)) == latest.opens, "it is a tick"
    assert known.schedule.next_after(latest.opens) == following.opens, "and there is none between the two"
    assert latest.duration == following.duration == delta(duration)


@pytest.mark.parametrize(
    ("sentence", "listed", "opens", "continues"),
    [
        ("the first window of the night", [NIGHT], "2026-11-22 01:00", False),
        ("a window that opens in another one", [NIGHT, ("0 3 * * *", "4h")], "2026-11-22 03:00", True),
        ("a window that opens when another one closes", [NIGHT, ("0 5 * * *", "1h")], "2026-11-22 05:00", True),
        ("a window that opens a minute later", [NIGHT, ("1 5 * * *", "1h")], "2026-11-22 05:01", False),
        ("a window that opens before its own former one has closed", [("*/30 * * * *", "1h")], "2026-11-22 03:00", True),
        ("two windows that open together", [NIGHT, ("0 1 * * *", "1h")], "2026-11-22 01:00", False),
    ],
)  # fmt: skip
def test_a_window_continues_another_one_that_is_open_until_then(
    sentence: str, listed: list[tuple[str, str]], opens: str, continues: bool
) -> None:
    found: list[Window] = [each for each in near(windows(*listed), at(opens)) if each.opens == at(opens)]
    assert found, "it opens then"
    assert {each.continues for each in found} == {continues}, sentence


def test_tables_that_ask_in_the_same_minute_share_the_answer() -> None:
    known = windows(NIGHT, LATE, zone=BERLIN)
    assert near(known, at("2026-11-22 03:00:01")) is near(windows(NIGHT, LATE, zone=BERLIN), at("2026-11-22 03:00:59"))
