"""Partitions expire at a tick unless the oldest one is certainly within the retention, by the last measurement."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from paimon_operator.api.table.schedule_state import LastDecision
from tests.core.table.measured import checks_of, measure
from tests.core.table.windowed import at, go_to
from tests.support import builders
from tests.support.table_world import TableWorld

TICK = datetime(2026, 11, 21, 9, 15, tzinfo=UTC)
HOURLY = "15 * * * *"
FIXED = {"timestampFormatter": "yyyyMMdd"}


def world(
    type_: str = "STRING", *, keys: dict[str, str] | None = None, catalog: dict[str, Any] | None = None, **more: Any
) -> TableWorld:
    """A Ready table at 08:10 whose partitions expire after 30 days, and whose missed ticks are answered."""
    of_keys = keys or {"dt": type_}
    columns = [{"name": "id", "type": "BIGINT"}, *({"name": name, "type": of} for name, of in of_keys.items())]
    block = {"expirationTime": "30d", "schedule": HOURLY} | more
    table = builders.table(schema={"columns": columns, "partitionKeys": list(of_keys)}, retention={"partitions": block})
    seen = TableWorld(table=table, catalog=builders.catalog(**(catalog or {}))).ready()
    seen.run_due()
    return seen


def expires(seen: TableWorld, oldest: str | None, tick: datetime = TICK) -> bool:
    """Whether a run starts at this tick, one minute after this oldest partition was measured."""
    seen.now = tick - timedelta(minutes=1)
    measure(seen, oldestPartition=oldest)
    seen.now = tick
    return ("ExpirePartitions", "") in seen.run_due()


def decided(seen: TableWorld) -> LastDecision:
    state = seen.table.status.partition_expiry
    assert state is not None
    assert state.decision is not None
    return state.decision


@pytest.mark.parametrize(
    ("sentence", "table", "oldest", "expected"),
    [
        ("a fixed notation, younger", {**FIXED}, "dt=20261023", False),
        ("a fixed notation, older", {**FIXED}, "dt=20261022", True),
        ("a number of fixed width", {"type_": "INT", **FIXED}, "dt=20261023", False),
        ("a date", {"type_": "DATE"}, "dt=2026-10-23", False),
        ("a date that is older", {"type_": "DATE"}, "dt=2026-10-21", True),
        ("a time", {"type_": "TIMESTAMP(0)"}, "dt=2026-10-22 09:15:00", False),
        ("a time that is a second older", {"type_": "TIMESTAMP(0)"}, "dt=2026-10-22 09:14:59", True),
        ("constant text around the key", {"timestampPattern": "$dt-01", "timestampFormatter": "yyyy-MM-dd"},
         "dt=2026-11", False),
        ("a key after it that is not in the time", {"keys": {"dt": "DATE", "shop": "STRING"}},
         "dt=2026-10-23/shop=a/b=c", False),
        ("a time that only Java reads", {**FIXED}, "dt=2026102", True),
        ("a formatter that only Java reads", {"timestampFormatter": "yyyyDDD"}, "dt=2026320", True),
        ("Paimon's notation, in which 2026-9-15 can follow", {}, "dt=2026-11-12", True),
        ("a time of two keys, whose order can be another one",
         {"keys": {"dt": "STRING", "hour": "STRING"}, "timestampPattern": "$dt$hour",
          "timestampFormatter": "yyyyMMddHH"}, "dt=20261120/hour=07", True),
        ("the first key is not in the time",
         {"keys": {"shop": "STRING", "dt": "DATE"}, "timestampPattern": "$dt"}, "shop=a/dt=2026-11-12", True),
        ("the time of the newest file", {"strategy": "UpdateTime"}, "dt=2026-11-12", True),
        ("no value", {"type_": "DATE"}, "dt=__DEFAULT_PARTITION__", True),
        ("not measured", {"type_": "DATE"}, None, True),
        ("beyond the calendar", {"type_": "DATE"}, "dt=9999-12-31", True),
        ("before the calendar", {"type_": "DATE", "timeZone": "Asia/Kolkata"}, "dt=0001-01-01", True),
    ],
)  # fmt: skip
def test_only_an_oldest_partition_that_is_certainly_young_enough_is_skipped(
    sentence: str, table: dict[str, Any], oldest: str | None, expected: bool
) -> None:
    zone = {"timeZone": table["timeZone"]} if "timeZone" in table else None
    seen = world(**{name: value for name, value in table.items() if name != "timeZone"}, catalog=zone)
    assert expires(seen, oldest) is expected, sentence


@pytest.mark.parametrize(
    ("zone", "oldest", "end"),
    [
        ("UTC", "2026-10-23", "2026-11-22 00:00"),
        ("Asia/Kolkata", "2026-10-23", "2026-11-21 18:30"),
        ("America/New_York", "2026-10-23", "2026-11-22 04:00"),
        ("Europe/Berlin", "2026-10-24", "2026-11-22 22:00"),
    ],
)
def test_a_day_begins_in_the_time_zone_of_the_table_and_has_24_hours(zone: str, oldest: str, end: str) -> None:
    """Between these days and their ends the clocks of New York and Berlin change by an hour."""
    exactly = at(end)
    for later, expected in ((timedelta(), False), (timedelta(minutes=30), True)):
        seen = world("DATE", catalog={"timeZone": zone}, schedule="*/30 * * * *")
        assert expires(seen, f"dt={oldest}", exactly + later) is expected


def test_of_a_time_that_occurs_twice_the_earlier_one_starts_a_run() -> None:
    """In Berlin it is 02:30 twice on 2026-10-25. The driver compares with the later one, and finds out."""
    table: dict[str, Any] = {"catalog": {"timeZone": "Europe/Berlin"}, "schedule": "*/15 * * * *"}
    end = datetime(2026, 11, 24, 0, 30, tzinfo=UTC)
    assert not expires(world("TIMESTAMP(0)", **table), "dt=2026-10-25 02:30:00", end)
    assert expires(world("TIMESTAMP(0)", **table), "dt=2026-10-25 02:30:00", end + timedelta(minutes=15))


def test_a_skip_names_the_partition_its_age_the_limit_and_the_first_tick_that_starts_a_run() -> None:
    seen = world("DATE")
    assert not expires(seen, "dt=2026-11-01")
    decision = decided(seen)
    assert (decision.result, decision.reason) == ("Skipped", "NotNeeded")
    assert checks_of(decision) == {"expirationTime": ("20d9h15m", "30d", False)}
    assert decision.message == (
        "the oldest partition is dt=2026-11-01, expirationTime is 20d9h15m (threshold 30d). "
        "A run starts at the first tick after 2026-12-01T00:00:00Z"
    )
    assert decision.observed_at is not None


def test_a_run_names_what_has_started_it() -> None:
    seen = world("DATE")
    seen.now = TICK
    measure(seen, oldestPartition="dt=2026-10-01")
    seen.settle()
    assert checks_of(decided(seen)) == {"expirationTime": ("51d9h15m", "30d", True)}
    assert "expirationTime is 51d9h15m (threshold 30d): run" in decided(seen).message


@pytest.mark.parametrize(("type_", "oldest"), [("STRING", "dt=2026-11-12"), ("DATE", "dt=2026-10-01")])
def test_while_it_waits_for_a_window_its_numbers_are_shown(type_: str, oldest: str) -> None:
    seen = world(type_)
    seen.catalog = builders.catalog(maintenanceWindows=[{"schedule": "0 1 * * *", "duration": "4h"}])
    assert not expires(seen, oldest)
    assert decided(seen).reason == "WaitingForWindow"
    assert list(checks_of(decided(seen))) == ["expirationTime"]


def test_without_a_measurement_that_holds_the_schedule_runs() -> None:
    seen = world("DATE")
    measure(seen, oldestPartition="dt=2026-11-20")
    go_to(seen, "2026-11-22 09:15")
    assert seen.active.spec.type == "ExpirePartitions"
