"""ExpirePartitions drops all partitions that are older than the retention, and no other."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.spark.lake import Lake

DAY = 86_400
NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


def partitioned(lake: Lake, rows: str, type_: str = "STRING", **more: object) -> Lake:
    """A table with the partition key `dt`, written by somebody else."""
    lake.provision({"id": "BIGINT", "dt": type_}, partitions=["dt"], options={"bucket": "-1"}, **more).ok()
    lake.outside(f"INSERT INTO outside.shop.orders {rows}")
    return lake


def kept(lake: Lake) -> list[object]:
    return sorted({row["dt"] for row in lake.rows()}, key=str)


def test_one_run_drops_more_partitions_than_paimon_does_per_call(lake: Lake) -> None:
    partitioned(lake, "SELECT id, date_format(date_sub(DATE '2026-11-25', int(id)), 'yyyy-MM-dd') FROM range(260)")

    done = lake.expire_partitions(now=NOW, expirationSeconds=10 * DAY).ok()

    assert done["partitions"] == {"expired": 250, "total": 260, "remaining": 0, "unreadable": 0}
    assert (done["before"]["rows"], done["after"]["rows"], done["table"]["rows"]) == (260, 10, 10)
    assert kept(lake) == [f"2026-11-{day}" for day in range(16, 26)]
    users = [each["commit_user"] for each in lake.snapshots()]
    assert (len(users), len(set(users))) == (4, 4), "one commit of others, then 100, 100 and 50 partitions"
    again = lake.expire_partitions(now=NOW, expirationSeconds=10 * DAY).ok()
    assert (again["partitions"]["expired"], len(lake.snapshots())) == (0, 4), "nothing is left, nothing is committed"
