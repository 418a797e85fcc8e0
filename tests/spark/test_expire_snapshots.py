"""ExpireSnapshots expires all snapshots beyond the retention and no other."""

from __future__ import annotations

from typing import Any

import pytest

from tests.spark.due_partitions import without_a_due_snapshot
from tests.spark.lake import Lake
from tests.spark.retention_limit import DAY, Limit, set_time


@pytest.fixture
def written(lake: Lake) -> Lake:
    """An append table with 54 snapshots, more than Paimon expires per call by default."""
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1", "write-only": "true"}).ok()
    lake.outside(*["INSERT INTO outside.shop.orders VALUES (1)"] * 54)
    return lake


def test_one_run_expires_all_snapshots_beyond_the_retention(written: Lake) -> None:
    kept = written.expire(timeRetained="1 d").ok()
    assert (kept["expired"], len(written.snapshots())) == (0, 54)

    done = written.expire(timeRetained="1 ms", numRetainedMin=2).ok()

    assert done["expired"] == 52
    assert [each["snapshot_id"] for each in written.snapshots()] == [53, 54]
    assert done["table"]["snapshotId"] == 54
    assert len(written.rows()) == 54, "no row goes with a snapshot"
    assert written.expire(numRetainedMax=1).ok()["expired"] == 1, "a maximum brings its minimum with it"
    assert len(written.rows()) == 54


def test_one_write_that_compacts_expires_all_snapshots_beyond_the_retention(written: Lake) -> None:
    hasty = "'write-only' = 'false', 'snapshot.time-retained' = '1 ms', 'snapshot.num-retained.min' = '1'"
    written.outside(f"ALTER TABLE outside.shop.orders SET TBLPROPERTIES ({hasty})")
    written.land("orders/1.csv", "id\n2\n")

    written.write(mode="Append").ok()

    assert len(written.snapshots()) == 1
    assert len(written.rows()) == 55


@pytest.mark.parametrize("earlier", [0, pytest.param(51, marks=pytest.mark.long)])
def test_a_snapshot_expires_at_its_limit_and_not_before(lake: Lake, earlier: int) -> None:
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1", "write-only": "true"}).ok()
    lake.outside(*["INSERT INTO outside.shop.orders VALUES (1)"] * (Limit(DAY, earlier=earlier).count + 1))
    limit = Limit(DAY, earlier=earlier)
    for number, made in limit.times.items():
        set_time(lake, "snapshot", number, made)

    first = lake.expire(timeRetained="1 d", numRetainedMin=limit.count).ok()
    assert first["expired"] == 1, "the number to keep comes first"
    lake.expire(timeRetained="1 d", numRetainedMin=1).ok()

    limit.check(each["snapshot_id"] for each in lake.snapshots())
    assert len(lake.rows()) == limit.count + 1


@pytest.mark.parametrize(
    ("retention", "field"),
    [
        ({"numRetainedMin": 0}, "numRetainedMin"),
        ({"numRetainedMin": 5, "numRetainedMax": 2}, "numRetainedMin"),
        ({"numRetainedMin": 1, "numRetainedMax": 2, "timeRetained": "a while"}, "timeRetained"),
    ],
)
def test_an_invalid_or_dangerous_retention_is_refused_with_its_field(
    lake: Lake, retention: dict[str, Any], field: str
) -> None:
    lake.provision({"id": "BIGINT"}, keys=["id"], options={"bucket": "1"}).ok()

    refused = lake.expire(**retention)

    assert refused.refused("InvalidSpec")
    assert refused.error["field"] == f"spec.retention.snapshots.{field}"


def test_the_expiry_of_a_missing_table_is_refused(lake: Lake) -> None:
    ended = lake.expire(timeRetained="1 d")

    assert (ended.code, ended.error["reason"]) == (25, "TableNotFound")


def test_a_run_without_anything_to_do_needs_no_jvm_and_one_with_a_due_snapshot_does(written: Lake) -> None:
    def alone(**retention: Any) -> dict[str, Any] | None:
        return without_a_due_snapshot(written.job("ExpireSnapshots", expireSnapshots=retention), written.engine.id)

    nothing = alone(timeRetained="1 d")
    assert nothing is not None
    assert (nothing["expired"], nothing["before"]["snapshots"]) == (0, 54)
    assert written.expire(timeRetained="1 d").ok()["before"] == nothing["before"]

    assert alone(timeRetained="1 d", numRetainedMax=53) is None
    done = written.expire(timeRetained="1 d", numRetainedMax=53).ok()
    assert (done["expired"], done["before"]["snapshots"], done["after"]["snapshots"]) == (1, 54, 53)
    assert alone(timeRetained="1 d", numRetainedMax=53) is not None, "the next tick finds nothing"
