"""From the manifest to the table: what a manifest says about retention and tags is what remains."""

from __future__ import annotations

import json

import pytest

from tests.spark.lake import Lake
from tests.spark.managed_tables import ManagedTable, catalog_of
from tests.spark.retention_limit import DAY, check_all, place_all, write_twice
from tests.support import builders
from tests.support.manifests import Manifest

HOUR = 3_600
MANIFEST = builders.table_manifest(
    schema={
        "columns": [{"name": "id", "type": "BIGINT"}, {"name": "dt", "type": "DATE"}],
        "partitionKeys": ["dt"],
    },
    externalWriters="Active",
    compaction={"mode": "Dedicated", "full": {"schedule": "0 0 1 1 *"}},
    retention={
        "snapshots": {"timeRetained": "1s", "numRetainedMin": 1, "schedule": "30 * * * *"},
        "consumers": {"expirationTime": "7d"},
        "partitions": {"expirationTime": "365d", "schedule": "15 * * * *"},
    },
    tags={"automaticCreation": "ProcessTime", "creationPeriod": "Hourly", "defaultTimeRetained": "30d"},
)

KEEPING_EACH_KIND = builders.table_manifest(
    schema={"columns": [{"name": "id", "type": "BIGINT"}], "primaryKeys": ["id"]},
    bucket={"type": "Fixed", "fixed": {"count": 1}},
    changelogProducer={"type": "Input"},
    externalWriters="Active",
    compaction={"mode": "Dedicated", "full": {"schedule": "0 0 1 1 *"}},
    retention={
        "snapshots": {"timeRetained": "1d", "numRetainedMin": 1, "schedule": "30 * * * *"},
        "changelogs": {"timeRetained": "25h"},
        "consumers": {"expirationTime": "7d"},
    },
    tags={"automaticCreation": "ProcessTime", "creationPeriod": "Daily", "defaultTimeRetained": "30d"},
)


def of_manifest(lake: Lake, manifest: Manifest) -> ManagedTable:
    """The table of a manifest, to which others may commit."""
    return ManagedTable.of(
        lake, manifest, builders.catalog(**catalog_of(lake).spec.to_json() | {"commitPolicy": "AllowUnsafe"})
    )


def made_two_seconds_ago(lake: Lake) -> None:
    """Otherwise the first snapshot may be younger than timeRetained when the runs end."""
    file = lake.table_directory / "snapshot" / "snapshot-1"
    known = json.loads(file.read_text())
    file.write_text(json.dumps(known | {"timeMillis": known["timeMillis"] - 2_000}))


def test_the_table_of_a_manifest_keeps_what_the_manifest_says(lake: Lake) -> None:
    managed = of_manifest(lake, MANIFEST)
    assert managed.run_due() == ["Provision", "ExpirePartitions", "ExpireSnapshots"], "an empty table is no error"
    lake.outside("INSERT INTO outside.shop.orders VALUES (1, DATE '2020-01-01'), (2, DATE '2999-01-01')")

    made_two_seconds_ago(lake)
    managed.world.wait(hours=1)
    assert sorted(managed.run_due()) == ["ExpirePartitions", "ExpireSnapshots"]

    status = managed.world.table.status
    assert [each["id"] for each in lake.rows()] == [2]
    run = [each for each in managed.world.runs if each.spec.type == "ExpirePartitions"][-1]
    assert run.status.partitions is not None
    assert (run.status.partitions.expired, run.status.partitions.total) == (1, 2)
    assert status.partition_expiry is not None
    assert status.partition_expiry.decision is not None
    assert "1 of 2 partitions expired" in status.partition_expiry.decision.message
    (tag,) = lake.select("SELECT snapshot_id FROM outside.shop.`orders$tags`")
    assert tag == {"snapshot_id": 1}, "the snapshot with both partitions, which has expired meanwhile"
    assert [each["snapshot_id"] for each in lake.snapshots()] == [2]


@pytest.mark.long
def test_each_kind_is_removed_at_the_limit_of_the_manifest(lake: Lake) -> None:
    managed = of_manifest(lake, KEEPING_EACH_KIND)
    assert managed.run_due() == ["Provision", "ExpireSnapshots"]
    lake.owner = f"{managed.world.operator.cluster_id}/shop/orders"
    write_twice(lake)
    limits = place_all(lake, {"snapshot": DAY, "changelog": 25 * HOUR, "consumer": 7 * DAY, "tag": 30 * DAY})

    managed.world.wait(hours=1)
    assert managed.run_due() == ["ExpireSnapshots"]

    check_all(lake, limits)
