"""From the manifest to the table: what a manifest says about retention and tags is what remains."""

from __future__ import annotations

import json

from tests.spark.lake import Lake
from tests.spark.managed_tables import ManagedTable, catalog_of
from tests.support import builders

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


def made_two_seconds_ago(lake: Lake) -> None:
    """Otherwise the first snapshot may be younger than timeRetained when the runs end."""
    file = lake.table_directory / "snapshot" / "snapshot-1"
    known = json.loads(file.read_text())
    file.write_text(json.dumps(known | {"timeMillis": known["timeMillis"] - 2_000}))


def test_the_table_of_a_manifest_keeps_what_the_manifest_says(lake: Lake) -> None:
    catalog = builders.catalog(**catalog_of(lake).spec.to_json() | {"commitPolicy": "AllowUnsafe"})
    managed = ManagedTable.of(lake, MANIFEST, catalog)
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
