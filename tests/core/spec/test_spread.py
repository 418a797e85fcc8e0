"""Default schedules: the same hour for all tables, and a minute of its own for each. Delays: a second of its own."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from paimon_operator.core import schedule
from paimon_operator.core.config import Defaults
from paimon_operator.core.spec.spread import delay, spread

TABLES = [f"uid-{number}" for number in range(6000)]
DEFAULTS = [Defaults().full_compaction, Defaults().minor_compaction, Defaults().expiry]


@pytest.mark.parametrize(
    ("default", "minutes", "rest"),
    [("0 3 * * *", 1, "3 * * *"), ("30 4 * * *", 1, "4 * * *"), ("*/30 * * * *", 2, "* * * *")],
)
def test_a_spread_schedule_has_other_minutes_in_the_same_hours(default: str, minutes: int, rest: str) -> None:
    for table in TABLES[:100]:
        minute, others = spread(default, table).split(" ", 1)
        assert others == rest
        assert len(minute.split(",")) == minutes
        schedule.parse(spread(default, table), "Europe/Berlin")


@pytest.mark.parametrize("default", DEFAULTS)
def test_no_minute_has_many_more_tables_than_another(default: str) -> None:
    minutes = Counter(spread(default, table).split(" ")[0] for table in TABLES)
    every = 30 if default.startswith("*/") else 60
    assert len(minutes) == every
    assert max(minutes.values()) < 2 * len(TABLES) / every


def test_a_table_keeps_its_minute_and_has_another_one_for_another_schedule() -> None:
    assert spread("0 3 * * *", "uid-1") == spread("0 3 * * *", "uid-1")
    assert {spread("0 3 * * *", t).split()[0] == spread("0 4 * * *", t).split()[0] for t in TABLES} == {True, False}


@pytest.mark.parametrize("within", [timedelta(seconds=6), timedelta(minutes=10)])
def test_delays_of_tables_are_spread_evenly_over_whole_seconds(within: timedelta) -> None:
    delays = Counter(delay(within, table) for table in TABLES)
    seconds = int(within.total_seconds())
    assert set(delays) == {timedelta(seconds=each) for each in range(seconds)}
    assert max(delays.values()) < 3 * len(TABLES) / seconds, "10 tables in each second, give or take"


def test_a_table_keeps_its_delay() -> None:
    assert delay(timedelta(minutes=10), "uid-1") == delay(timedelta(minutes=10), "uid-1")
