"""Retention at its limits over both clock changes of three time zones: to the millisecond where the clock is a test's.

Snapshots, changelogs, consumers, tags and records are compared by the clock of the JVM, which is UTC in every time zone
of a Pod.
"""

# ruff: noqa: S608 - the only values in SQL are those of the tests

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import unquote

import pytest

from tests.spark.lake import Ended, Lake
from tests.spark.retention_limit import DAY, check_all, place_all, set_time, write_twice

MS: Final = timedelta(milliseconds=1)
HOUR: Final = timedelta(hours=1)

MOMENTS: Final = {
    # From 02:00 to 03:00 at 07:00 UTC, and from 02:00 back to 01:00 at 06:00 UTC.
    "America/New_York": {
        "2900-03-14": "2900-03-14T05:00",
        "2900-03-14 01:59:59": "2900-03-14T06:59:59",
        "2900-03-14 03:00:00": "2900-03-14T07:00",
        "2900-03-14 02:30:00": "2900-03-14T07:30",  # it never comes, and counts as 03:30
        "2900-03-15": "2900-03-15T04:00",
        "2900-11-07": "2900-11-07T04:00",
        "2900-11-07 00:59:59": "2900-11-07T04:59:59",
        "2900-11-07 01:30:00": "2900-11-07T06:30",  # the second one
        "2900-11-07 02:00:00": "2900-11-07T07:00",
        "2900-11-08": "2900-11-08T05:00",
    },
    # From 02:00 to 03:00, and from 03:00 back to 02:00, both at 01:00 UTC.
    "Europe/Berlin": {
        "2900-03-28": "2900-03-27T23:00",
        "2900-03-28 01:59:59": "2900-03-28T00:59:59",
        "2900-03-28 03:00:00": "2900-03-28T01:00",
        "2900-03-28 02:30:00": "2900-03-28T01:30",
        "2900-03-29": "2900-03-28T22:00",
        "2900-10-31": "2900-10-30T22:00",
        "2900-10-31 01:59:59": "2900-10-30T23:59:59",
        "2900-10-31 02:30:00": "2900-10-31T01:30",
        "2900-10-31 03:00:00": "2900-10-31T02:00",
        "2900-11-01": "2900-10-31T23:00",
    },
    # Half an hour: from 02:00 back to 01:30 at 15:00 UTC, and from 02:00 to 02:30 at 15:30 UTC.
    "Australia/Lord_Howe": {
        "2900-04-04": "2900-04-03T13:00",
        "2900-04-04 01:29:59": "2900-04-03T14:29:59",
        "2900-04-04 01:45:00": "2900-04-03T15:15",
        "2900-04-04 02:00:00": "2900-04-03T15:30",
        "2900-04-05": "2900-04-04T13:30",
        "2900-10-03": "2900-10-02T13:30",
        "2900-10-03 01:59:59": "2900-10-02T15:29:59",
        "2900-10-03 02:30:00": "2900-10-02T15:30",
        "2900-10-03 02:15:00": "2900-10-02T15:45",
        "2900-10-04": "2900-10-03T13:00",
    },
}
"""Partitions around the clock changes of a time zone, and their times in UTC, which ascend."""

CHANGES: Final = {
    "America/New_York": ("2025-03-09T07:00", "2025-11-02T06:00"),
    "Europe/Berlin": ("2025-03-30T01:00", "2025-10-26T01:00"),
    "Australia/Lord_Howe": ("2025-04-05T15:00", "2025-10-04T15:30"),
}
"""Clock changes of the past, in UTC."""

each_zone = pytest.mark.parametrize("zone", MOMENTS)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def partitioned(lake: Lake, *days: str) -> Lake:
    """A table with a row in each of these partitions, which is written by one commit."""
    lake.provision({"id": "BIGINT", "dt": "STRING"}, partitions=["dt"], options={"bucket": "-1"}).ok()
    lake.outside(f"INSERT INTO outside.shop.orders VALUES {', '.join(f'(1, {day!r})' for day in days)}")
    return lake


def days_of(lake: Lake) -> list[str]:
    rows = lake.select("SELECT DISTINCT dt FROM outside.shop.orders")
    return [str(row["dt"]) for row in rows]


def made(lake: Lake, which: str) -> datetime:
    """When the newest (max) or the oldest (min) file was made."""
    (row,) = lake.select(f"SELECT {which}(creation_time) AS made FROM outside.shop.`orders$files`")
    return datetime.fromisoformat(str(row["made"])).replace(tzinfo=UTC)


@pytest.mark.some_rows(1)
@pytest.mark.engines_in_turn("zone")
@each_zone
def test_each_partition_expires_a_millisecond_after_its_limit(lake: Lake, zone: str) -> None:
    texts = list(MOMENTS[zone])
    partitioned(lake, *texts)
    for number, moment in enumerate(MOMENTS[zone].values()):
        limit = utc(moment) + 24 * HOUR

        same = lake.expire_partitions(now=limit, expirationSeconds=DAY, timeZone=zone).ok()
        over = lake.expire_partitions(now=limit + MS, expirationSeconds=DAY, timeZone=zone).ok()

        assert (same["partitions"]["expired"], over["partitions"]["expired"]) == (0, 1), texts[number]
        assert sorted(days_of(lake)) == sorted(texts[number + 1 :])


@pytest.mark.some_rows(1)
@pytest.mark.engines_in_turn("zone")
@each_zone
def test_each_partition_is_done_a_millisecond_after_its_idle_time(lake: Lake, zone: str) -> None:
    """A partition ends 24 hours after its time also on a day of another length."""
    texts = list(MOMENTS[zone])
    partitioned(lake, *texts)
    for number, moment in enumerate(MOMENTS[zone].values()):
        idle = utc(moment) + 25 * HOUR

        same = lake.mark_partitions_done(now=idle, timeZone=zone).ok()["partitionsDone"]
        over = lake.mark_partitions_done(now=idle + MS, timeZone=zone).ok()["partitionsDone"]

        assert (same["marked"], over["marked"], over["alreadyMarked"]) == (0, 1, number), texts[number]
        assert marked(lake) == set(texts[: number + 1])


def marked(lake: Lake) -> set[str]:
    """Partitions with a mark."""
    return {unquote(each.parent.name).removeprefix("dt=") for each in lake.table_directory.glob("*/_SUCCESS")}


@pytest.mark.long
def test_the_time_of_the_last_file_is_an_instant_in_each_time_zone(lake: Lake) -> None:
    """An age of days and a file before a clock change have the same limit as in UTC."""
    cases = [(zone, utc(MOMENTS[zone][day])) for zone in MOMENTS for day in list(MOMENTS[zone])[4::5]]
    lake.provision({"id": "BIGINT", "dt": "STRING"}, partitions=["dt"], options={"bucket": "-1"}).ok()
    times = []
    for number, _ in enumerate(cases):
        lake.outside(f"INSERT INTO outside.shop.orders VALUES (1, '{number}')")
        times.append(made(lake, "max"))
    for (zone, change), at in zip(cases, times, strict=True):
        age = int((change - at).total_seconds())
        asked: dict[str, Any] = {"expirationSeconds": age, "strategy": "UpdateTime", "timeZone": zone}
        limit = at + timedelta(seconds=age)

        same, over = (lake.expire_partitions(now=now, **asked).ok()["partitions"] for now in (limit, limit + MS))

        assert (same["expired"], over["expired"]) == (0, 1), f"{zone} {change}"


@pytest.mark.long
def test_one_run_marks_and_one_drops_more_partitions_than_one_scan_and_one_commit_take(lake: Lake) -> None:
    partitioned(lake, *(str(datetime(2020, 1, 1).date() + timedelta(days=number)) for number in range(230)))  # noqa: DTZ001
    oldest, newest = made(lake, "min"), made(lake, "max")

    early = lake.mark_partitions_done(now=oldest + HOUR).ok()["partitionsDone"]
    done = lake.mark_partitions_done(now=newest + HOUR + MS).ok()["partitionsDone"]
    assert (early["marked"], done["marked"], done["notYetDone"], len(marked(lake))) == (0, 230, 0, 230)

    asked: dict[str, Any] = {"expirationSeconds": 3_600, "strategy": "UpdateTime"}
    early = lake.expire_partitions(now=oldest + HOUR, **asked).ok()["partitions"]
    done = lake.expire_partitions(now=newest + HOUR + MS, **asked).ok()["partitions"]
    assert (early["expired"], done["expired"], days_of(lake)) == (0, 230, [])


def expire_in(lake: Lake, zone: str, **asked: Any) -> None:
    """Performs ExpireSnapshots in a Pod whose variable TZ names another time zone than UTC."""
    exited = lake.drive(lake.job("ExpireSnapshots", expireSnapshots=asked), TZ=zone, TRY_WITHOUT_JVM="1")
    assert exited.result is not None, exited.log
    Ended(exited.result, exited.code).ok()


def around(change: datetime) -> Iterator[datetime]:
    """Commits around a clock change: in each hour one just before and one at the end of a delay of ten minutes."""
    first = change.replace(minute=10) - 2 * HOUR
    yield first
    for hours in range(1, 5):
        yield from (first + hours * HOUR - MS, first + hours * HOUR)


@pytest.mark.long
@each_zone
def test_automatic_tags_have_the_names_of_hours_in_utc(lake: Lake, zone: str) -> None:
    """No hour is without a tag where the clocks go forward, and none has two where they go back."""
    hourly = {"tag.automatic-creation": "process-time", "tag.creation-period": "hourly", "tag.creation-delay": "10 m"}
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1", "write-only": "true", **hourly}).ok()
    times = [at for change in CHANGES[zone] for at in around(utc(change))]
    lake.outside(*["INSERT INTO outside.shop.orders VALUES (1)"] * len(times))
    for number, at in enumerate(times, start=1):
        set_time(lake, "snapshot", number, at.timestamp())

    expire_in(lake, zone, timeRetained="9000 d")

    found = lake.select("SELECT tag_name, snapshot_id FROM outside.shop.`orders$tags`")
    expected = {number: at for number, at in enumerate(times, start=1) if at.microsecond == 0}
    assert {row["snapshot_id"]: row["tag_name"] for row in found} == {
        number: f"{at - HOUR:%Y-%m-%d %H}" for number, at in expected.items()
    }


@pytest.mark.long
@each_zone
def test_the_time_zone_of_a_pod_moves_no_limit(lake: Lake, zone: str) -> None:
    """Snapshots, changelogs, consumers and tags, each at its limit of a day."""
    lasting = {"changelog.time-retained": "1 d", "consumer.expiration-time": "1 d"}
    options = {"bucket": "1", "write-only": "true", "changelog-producer": "input", **lasting}
    lake.provision({"id": "BIGINT"}, keys=["id"], options=options).ok()
    write_twice(lake)
    lake.outside("CALL outside.sys.create_tag(table => 'shop.orders', tag => 'first', time_retained => '1 d')")
    limits = place_all(lake, dict.fromkeys(("snapshot", "changelog", "consumer", "tag"), DAY))

    expire_in(lake, zone, timeRetained="1 d", numRetainedMin=1)

    check_all(lake, limits)
