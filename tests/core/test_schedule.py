"""The semantics of schedules: ticks, due ticks, missed ticks and clock changes."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paimon_operator.core.schedule import ScheduleError, parse, time_zone

BERLIN = "Europe/Berlin"


def at(text: str) -> datetime:
    """`2026-03-29 02:30` in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("sentence", "cron", "zone", "after", "expected"),
    [
        ("the next quarter of an hour", "*/15 * * * *", "UTC", "2026-11-21 08:01", "2026-11-21 08:15"),
        ("a tick is never its own successor", "*/15 * * * *", "UTC", "2026-11-21 08:15", "2026-11-21 08:30"),
        ("seconds count: just before the tick", "*/15 * * * *", "UTC", "2026-11-21 08:14:59.9", "2026-11-21 08:15"),
        ("winter time is one hour ahead of UTC", "0 3 * * *", BERLIN, "2026-01-10 00:00", "2026-01-10 02:00"),
        ("summer time is two hours ahead", "0 3 * * *", BERLIN, "2026-07-10 00:00", "2026-07-10 01:00"),
        ("half-hour zones work", "0 3 * * *", "Asia/Kolkata", "2026-07-10 00:00", "2026-07-10 21:30"),
        ("the next leap day", "0 0 29 2 *", "UTC", "2026-03-01 00:00", "2028-02-29 00:00"),
        ("in spring 02:30 does not exist and runs at 03:00", "30 2 * * *", BERLIN, "2026-03-28 23:00", "2026-03-29 01:00"),
        ("in autumn 02:30 runs in the first pass", "30 2 * * *", BERLIN, "2026-10-24 23:00", "2026-10-25 00:30"),
        ("the repeated hour has no second tick", "30 2 * * *", BERLIN, "2026-10-25 00:30", "2026-10-26 01:30"),
        ("no second tick from within the repeated hour", "30 2 * * *", BERLIN, "2026-10-25 01:10", "2026-10-26 01:30"),
        ("every quarter of the repeated hour is a tick", "*/15 * * * *", BERLIN, "2026-10-25 01:00", "2026-10-25 01:15"),
    ],
)  # fmt: skip
def test_the_next_tick_of_a_schedule(sentence: str, cron: str, zone: str, after: str, expected: str) -> None:
    assert parse(cron, zone).next_after(at(after)) == at(expected), sentence


@pytest.mark.parametrize(
    ("sentence", "cron", "zone", "last_and_now", "expected"),
    [
        ("nothing is due before the first tick", "0 3 * * *", "UTC", ("2026-11-20 09:00", "2026-11-21 02:59"), None),
        ("a tick is due at its own time", "0 3 * * *", "UTC", ("2026-11-20 09:00", "2026-11-21 03:00"), "2026-11-21 03:00"),
        ("a tick is due once", "0 3 * * *", "UTC", ("2026-11-21 03:00", "2026-11-21 03:00"), None),
        ("of three missed days the latest runs", "0 3 * * *", "UTC", ("2026-11-18 03:00", "2026-11-21 08:00"), "2026-11-21 03:00"),
        ("of many missed minutes the latest runs", "* * * * *", "UTC", ("2026-11-18 03:00", "2026-11-21 08:00:30"), "2026-11-21 08:00"),
        ("a missed yearly tick still runs", "0 0 1 1 *", "UTC", ("2025-06-01 00:00", "2026-11-21 08:00"), "2026-01-01 00:00"),
        ("the repeated hour hides no tick of the first pass", "30 2 * * *", BERLIN, ("2026-10-24 00:30", "2026-10-25 01:10"), "2026-10-25 00:30"),
        ("the repeated hour runs no tick twice", "30 2 * * *", BERLIN, ("2026-10-25 00:30", "2026-10-25 01:40"), None),
        ("the skipped hour's tick is due at its end", "30 2 * * *", BERLIN, ("2026-03-28 01:30", "2026-03-29 01:00"), "2026-03-29 01:00"),
    ],
)  # fmt: skip
def test_the_due_tick_of_a_schedule(
    sentence: str, cron: str, zone: str, last_and_now: tuple[str, str], expected: str | None
) -> None:
    last, now = last_and_now
    assert parse(cron, zone).due(at(last), at(now)) == (at(expected) if expected else None), sentence


def days(first: str, last: str) -> st.SearchStrategy[datetime]:
    """Times in UTC from one day to another."""
    bounds = datetime.fromisoformat(first), datetime.fromisoformat(last)
    return st.datetimes(*bounds, timezones=st.just(UTC))


MOMENTS = days("2026-03-27", "2026-03-31") | days("2026-10-23", "2026-10-27")
CRONS = st.sampled_from(
    ["*/15 * * * *", "30 2 * * *", "15,45 1-3 * * *", "0 0 * * 0", "7 */2 * * *", "0 2 25,29 * *", "* 2 * * *"]
)
ZONES = st.sampled_from(["UTC", BERLIN, "America/New_York", "Australia/Lord_Howe"])


@settings(max_examples=300)
@given(CRONS, ZONES, MOMENTS, st.integers(0, 60 * 60 * 40))
def test_the_due_tick_is_the_last_one_of_a_walk_over_all_ticks(
    cron: str, zone: str, start: datetime, seconds: int
) -> None:
    schedule, last = parse(cron, zone), start
    now, walked, tick = last + timedelta(seconds=seconds), None, last
    while (tick := schedule.next_after(tick)) <= now:
        walked = tick
    assert schedule.due(last, now) == walked


@settings(max_examples=300)
@given(CRONS, ZONES, MOMENTS)
def test_the_next_tick_is_always_later(cron: str, zone: str, start: datetime) -> None:
    schedule, moment = parse(cron, zone), start
    for _ in range(20):
        following = schedule.next_after(moment)
        assert following > moment
        moment = following


@pytest.mark.parametrize(
    ("cron", "part_of_the_message"),
    [
        ("", "five fields"),
        ("@daily", "five fields"),
        ("0 0 * * * *", "five fields"),
        ("61 * * * *", "bad minute"),
        ("* 25 * * *", "bad hour"),
        ("0 0 31 2 *", "never comes"),
        ("0 0 32 2 *", "bad day-of-month"),
        ("0 0 * * MUN", "bad day-of-week"),
        ("0 0 * 13 *", "bad month"),
        ("*/0 * * * *", "bad minute"),
        ("a b c d e", "bad minute"),
    ],
)
def test_an_invalid_schedule_is_refused_with_the_wrong_part(cron: str, part_of_the_message: str) -> None:
    with pytest.raises(ScheduleError, match=part_of_the_message):
        parse(cron, "UTC")


@pytest.mark.parametrize("name", ["Mars/Phobos", "", "../../etc/passwd", "localtime", "europe/berlin "])
def test_only_names_of_the_iana_database_are_time_zones(name: str) -> None:
    with pytest.raises(ScheduleError, match="not a time zone"):
        time_zone(name)
