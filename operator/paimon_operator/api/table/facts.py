"""What is known of a table: its facts and its health, by the last run that has measured it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from paimon_operator.api.base import ApiModel, Int64, Percent, Time
from paimon_operator.api.measure import BucketLayout, OldestPartition, Pins


class TableFacts(BucketLayout):
    """The table as Paimon describes it."""

    identifier: Annotated[str, Field(max_length=257)]
    """Database and table: `shop.orders`."""
    schema_id: Int64 | None = None
    """Version of the schema in Paimon."""
    snapshot_id: Int64 | None = None
    """Latest snapshot. Absent: the table has none."""
    files: Int64 | None = None
    """Data files of the latest snapshot."""
    rows: Int64 | None = None
    """Records in those files. Rows with the same key that have not merged yet count separately."""
    size_bytes: Int64 | None = None
    """Bytes in those files."""
    size: Annotated[str, Field(max_length=16)] | None = None
    """sizeBytes in a readable unit, for example 70Mi."""


class Health(ApiModel):
    """Measurements of the latest snapshot, by the last run that has measured the table or by the observer of its
    catalog. A field is absent where nobody could measure it."""

    sorted_runs_max: Int64 | None = None
    """Largest number of sorted runs in a bucket. Each sorted run slows down reads."""
    level0_files_max: Int64 | None = None
    """Largest number of files of level 0 in a bucket. Each is a sorted run that no compaction has touched."""
    small_files: Int64 | None = None
    """Number of files well below the target size."""
    small_files_max: Int64 | None = None
    """Largest number of small files in a partition, without those that are alone in their bucket."""
    delete_ratio: Percent | None = None
    """Share of deleted records, rounded down: delete records, and those that deletion vectors delete. Absent: the
    writer has not counted them."""
    unmerged_ratio: Percent | None = None
    """Share of records outside of the highest level of their bucket, rounded down. At most so many have the same key as
    another one. With a primary key only."""
    snapshots: Int64 | None = None
    """Number of snapshots from the oldest to the latest."""
    oldest_snapshot: Time | None = None
    """Time of the oldest snapshot that still exists."""
    oldest_partition: OldestPartition | None = None
    """Partition with the smallest values, for example `day=2026-11-22`."""
    manifests: Int64 | None = None
    """Manifest files that a reader of the latest snapshot has to read."""
    buckets: Int64 | None = None
    """Buckets that have files, over all partitions."""
    pins: Pins = ()
    """The tags, branches and consumers that keep most bytes."""
    pins_count: Int64 | None = None
    """Number of tags, branches and consumers."""
    snapshot_id: Int64 | None = None
    """Snapshot that was measured. Absent: the table has none."""
    observed_at: Time | None = None
    """Time when the metadata was read."""
    in_doubt_since: Time | None = None
    """Time at which a later run has failed. It may have changed the table. Absent: none has failed since."""
    unread: Annotated[str, Field(max_length=256)] | None = None
    """Why the observer of the catalog cannot read the metadata. Schedules then run as without an observer."""
