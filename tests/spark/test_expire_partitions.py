"""ExpirePartitions drops all partitions that are older than the retention, and no other."""

# ruff: noqa: S608 - the only values in SQL are those of the tests

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.spark.lake import Lake

DAY = 86_400
HOUR = 3_600
NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


def partitioned(lake: Lake, rows: str, type_: str = "STRING", **options: str) -> Lake:
    """A table with the partition key `dt`, written by somebody else."""
    lake.provision({"id": "BIGINT", "dt": type_}, partitions=["dt"], options={"bucket": "-1", **options}).ok()
    lake.outside(f"INSERT INTO outside.shop.orders {rows}")
    return lake


def values(*texts: str) -> str:
    return "VALUES " + ", ".join(f"(1, {text})" for text in texts)


def kept(lake: Lake) -> list[Any]:
    return sorted({row["dt"] for row in lake.rows()}, key=str)


def test_one_run_drops_more_partitions_than_paimon_does_per_call(lake: Lake) -> None:
    partitioned(lake, "SELECT id, date_format(date_sub(DATE '2026-11-25', int(id)), 'yyyy-MM-dd') FROM range(260)")

    done = lake.expire_partitions(now=NOW, expirationSeconds=10 * DAY).ok()

    assert done["partitions"] == {"expired": 250, "total": 260, "remaining": 0, "unreadable": 0}
    assert (done["before"]["rows"], done["after"]["rows"], done["table"]["rows"]) == (260, 10, 10)
    assert kept(lake) == [f"2026-11-{day}" for day in range(16, 26)]
    users = [each["commit_user"] for each in lake.snapshots()]
    assert (len(users), len(set(users))) == (4, 4), "one commit of others, then 100, 100 and 50 partitions"
    known: dict[str, Any] = {"sinceSnapshot": 1, "runPrefix": "orders-", "userRuns": []}
    again = lake.perform(lake.expire_partitions_job(expirationSeconds=10 * DAY) | known, now=in_ms(NOW)).ok()
    assert "outsideCommit" not in again, "the commits of the run before are the operator's"
    assert (again["partitions"]["expired"], len(lake.snapshots())) == (0, 4), "nothing is left, nothing is committed"


def in_ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


@pytest.mark.some_rows(4)
@pytest.mark.engines_in_turn("zone")
@pytest.mark.parametrize(
    ("zone", "now", "local_limit"),
    [
        ("UTC", datetime(2026, 3, 29, 2, 30, tzinfo=UTC), "2026-03-29 01:30:00"),
        # The clocks go from 02:00 to 03:00 at 01:00 UTC. An hour before 03:30 is 01:30.
        ("Europe/Berlin", datetime(2026, 3, 29, 1, 30, tzinfo=UTC), "2026-03-29 01:30:00"),
        # The clocks go from 02:00 back to 01:00 at 06:00 UTC. An hour before 02:30 is the second 01:30.
        ("America/New_York", datetime(2026, 11, 1, 7, 30, tzinfo=UTC), "2026-11-01 01:30:00"),
        # An hour before the second 01:30 is the first 01:30. From 01:00 on, a text may mean the second time.
        ("America/New_York", datetime(2026, 11, 1, 6, 30, tzinfo=UTC), "2026-11-01 01:00:00"),
        # The other change of each.
        ("Europe/Berlin", datetime(2026, 10, 25, 2, 30, tzinfo=UTC), "2026-10-25 02:30:00"),
        ("Europe/Berlin", datetime(2026, 10, 25, 1, 30, tzinfo=UTC), "2026-10-25 02:00:00"),
        ("America/New_York", datetime(2026, 3, 8, 7, 30, tzinfo=UTC), "2026-03-08 01:30:00"),
        # Half an hour: from 02:00 to 02:30 at 15:30 UTC, and from 02:00 back to 01:30 at 15:00 UTC.
        ("Australia/Lord_Howe", datetime(2026, 10, 3, 16, tzinfo=UTC), "2026-10-04 01:30:00"),
        ("Australia/Lord_Howe", datetime(2026, 4, 4, 16, 15, tzinfo=UTC), "2026-04-05 01:45:00"),
        ("Asia/Kolkata", datetime(2026, 11, 1, 6, 30, tzinfo=UTC), "2026-11-01 11:00:00"),
    ],
    ids=[
        "utc", "the day of 23 hours", "the day of 25 hours", "the hour that comes twice", "Berlin in autumn",
        "the hour that comes twice in Berlin", "New York in spring", "half an hour in spring", "half an hour in autumn",
        "half an hour",
    ],
)  # fmt: skip
def test_a_partition_expires_when_it_is_older_in_the_time_zone(
    lake: Lake, zone: str, now: datetime, local_limit: str
) -> None:
    limit = datetime.fromisoformat(local_limit)
    older, same, younger = (str(limit + timedelta(seconds=seconds)) for seconds in (-1, 0, 1))
    partitioned(lake, values(f"'{older}'", f"'{same}'", f"'{younger}'"))

    done = lake.expire_partitions(now=now, expirationSeconds=HOUR, timeZone=zone).ok()

    assert (done["partitions"]["expired"], kept(lake)) == (1, [same, younger]), "one that is exactly at the limit stays"


TYPES: list[tuple[str, str, str, dict[str, str]]] = [
    ("STRING", "'20261115'", "'20261116'", {"timestampFormatter": "yyyyMMdd"}),
    ("INT", "20261115", "20261116", {"timestampFormatter": "yyyyMMdd"}),
    ("BIGINT", "2026111511", "2026111513", {"timestampFormatter": "yyyyMMddHH"}),
    ("DATE", "DATE '2026-11-15'", "DATE '2026-11-16'", {}),
    ("TIMESTAMP(3)", "TIMESTAMP_NTZ '2026-11-15 11:59:59.999'", "TIMESTAMP_NTZ '2026-11-15 12:00:00'", {}),
    ("CHAR(7)", "'2026-10'", "'2026-12'", {"timestampPattern": "$dt-01"}),
]


def test_partition_keys_of_each_type(lake: Lake) -> None:
    """A key of another type is refused by the operator."""
    for number, (type_, old, new, how) in enumerate(TYPES):
        each = Lake(lake.engine, lake.worker, lake.home, lake.directory / str(number), numbers=lake.numbers)
        each.directory.mkdir()
        partitioned(each, values(old, new), type_)

        done = each.expire_partitions(now=NOW, expirationSeconds=10 * DAY, **how).ok()

        assert done["partitions"] == {"expired": 1, "total": 2, "remaining": 0, "unreadable": 0}, type_
        left = each.select(f"SELECT dt = {new} AS is_new FROM outside.shop.orders")
        assert left == [{"is_new": True}], type_


def test_no_partition_is_mistaken_for_another(lake: Lake) -> None:
    """Paimon's procedure drops `dt=2020-01-01, c=x` in the place of `c=x,y`, and fails at the other values."""
    columns = {"id": "BIGINT", "dt": "STRING", "c": "STRING", "d": "STRING"}
    lake.provision(columns, partitions=["dt", "c", "d"], options={"bucket": "-1"}).ok()
    odd = ["'x,y'", "'$1'", "'a/b=c'", "''", "'__DEFAULT_PARTITION__'", "NULL"]
    rows = [f"(1, '2020-01-01', {c}, '01')" for c in odd]
    rows += ["(1, '2020-01-01', 'x', 'late')", "(1, NULL, 'z', '01')", "(1, 'soon', 'z', '01')"]
    lake.outside(f"INSERT INTO outside.shop.orders VALUES {', '.join(rows)}")

    # `$d` is the beginning of `$dt`
    done = lake.expire_partitions(now=NOW, expirationSeconds=DAY, timestampPattern="$dt $d:00:00").ok()

    left = {(row["dt"], row["c"]) for row in lake.rows()}
    assert left >= {("2020-01-01", "x"), (None, "z"), ("soon", "z")}
    assert left <= {("2020-01-01", "x"), (None, "z"), ("soon", "z"), ("2020-01-01", "__DEFAULT_PARTITION__")}
    assert done["partitions"]["unreadable"] == len(left)
    assert "=" in done["partitions"]["example"]


def test_the_time_of_the_last_file_counts_for_update_time(lake: Lake) -> None:
    partitioned(lake, values("'b'", "'a'"))
    lake.outside(f"INSERT INTO outside.shop.orders {values(chr(39) + 'b' + chr(39))}")
    files = lake.select("SELECT partition, max(creation_time) AS made FROM outside.shop.`orders$files` GROUP BY 1")
    made = {each["partition"].strip("{}[]"): datetime.fromisoformat(str(each["made"])) for each in files}
    assert made["a"] < made["b"]
    at, kept_s = made["b"].replace(tzinfo=UTC), 1 + int((made["b"] - made["a"]).total_seconds())

    both = lake.expire_partitions(now=at, expirationSeconds=kept_s, strategy="UpdateTime").ok()
    later = at + timedelta(seconds=kept_s)
    one = lake.expire_partitions(now=later, expirationSeconds=kept_s, strategy="UpdateTime").ok()

    assert (both["partitions"]["expired"], one["partitions"]["expired"], kept(lake)) == (0, 1, ["b"])


def test_only_these_runs_drop_partitions_also_where_a_table_has_a_time_for_it(lake: Lake) -> None:
    hasty = {
        "partition.expiration-time": "1 d",
        "partition.expiration-check-interval": "1 ms",
        "end-input.check-partition-expire": "true",
    }
    partitioned(lake, values("'2020-01-01'"))
    altered = ", ".join(f"'{key}' = '{value}'" for key, value in hasty.items())
    lake.outside(f"ALTER TABLE outside.shop.orders SET TBLPROPERTIES ({altered})")
    lake.land("orders/1.csv", "id,dt\n2,2020-01-02\n3,2999-01-01\n")

    lake.write(mode="Append").ok()
    lake.compact().ok()
    assert kept(lake) == ["2020-01-01", "2020-01-02", "2999-01-01"]

    assert lake.expire_partitions(expirationSeconds=DAY).ok()["partitions"]["expired"] == 2
    assert kept(lake) == ["2999-01-01"]


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"expirationSeconds": 0}, "expirationTime"),
        ({"expirationSeconds": DAY, "strategy": "OfAnotherRelease"}, "strategy"),
        ({"expirationSeconds": DAY, "timestampFormatter": "yyyy-MM-dd]"}, "timestampFormatter"),
    ],
)
def test_a_retention_that_nobody_can_mean_is_refused(lake: Lake, asked: dict[str, Any], field: str) -> None:
    partitioned(lake, values("'2020-01-01'"))

    refused = lake.expire_partitions(**asked)

    assert refused.refused("InvalidSpec")
    assert refused.error["field"] == f"spec.retention.partitions.{field}"
    assert kept(lake) == ["2020-01-01"]
