"""What a run measures of a table, and what keeps data files that the latest snapshot does not have."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import ApiModel, Hash, Int64, Time

MAX_PINS: Final = 8
Percent = Annotated[int, Field(ge=0, le=100, json_schema_extra={"format": "int32"})]
OldestPartition = Annotated[str, Field(max_length=256)]


class PinKind(StrEnum):
    """What can keep a snapshot's data files."""

    TAG = "Tag"
    BRANCH = "Branch"
    CONSUMER = "Consumer"


class Pin(ApiModel):
    """A tag, branch or consumer, and what it keeps."""

    kind: PinKind
    """Tag, Branch or Consumer."""
    name: Annotated[str, Field(max_length=128)]
    """Name of the tag or branch, or id of the consumer."""
    bytes: Int64 | None = None
    """Bytes of data files that it reaches and the latest snapshot does not. Files that several of them reach count for
    each. Absent: they could not be found out."""


Pins = Annotated[tuple[Pin, ...], Field(max_length=MAX_PINS)]


class BucketLayout(ApiModel):
    """Buckets of the table, and their bytes."""

    bucket_mode: Annotated[str, Field(max_length=32)] | None = None
    """Fixed, Dynamic, Postpone or Unaware."""
    bucket_count: Int64 | None = None
    """Buckets per partition. Absent unless bucketMode is Fixed."""
    rescaling: bool | None = None
    """True: a rescale is unfinished. Partitions may have different numbers of buckets."""
    partitions: Int64 | None = None
    """Partitions that have files. Absent if bucketMode is Unaware or no bucket has data, as are the next two."""
    bucket_bytes_median: Int64 | None = None
    """Median of the bytes per bucket and partition, without the buckets that are empty."""
    bucket_bytes_max: Int64 | None = None
    """Bytes of the largest bucket."""


class Measure(BucketLayout):
    """Measurements of the table at one time."""

    files: Int64 | None = None
    """Data files of the latest snapshot."""
    bytes: Int64 | None = None
    """Bytes in those files."""
    rows: Int64 | None = None
    """Records in those files."""
    sorted_runs_max: Int64 | None = None
    """Largest number of sorted runs in a bucket."""
    small_files: Int64 | None = None
    """Number of files well below the target size."""
    schema_id: Int64 | None = None
    """Version of the schema in Paimon."""
    schema_digest: Hash | None = None
    """Hash of that schema. A table that was dropped and made again can have the same version."""
    snapshot_id: Int64 | None = None
    """Latest snapshot."""
    oldest_snapshot: Time | None = None
    """Time of the oldest snapshot that still exists."""
    snapshots: Int64 | None = None
    """Number of snapshots from the oldest to the latest."""
    measured_at: Time | None = None
    """Time when this was read."""
    manifests: Int64 | None = None
    """Manifest files of the latest snapshot. Absent: the driver could not read them itself, as for all fields below."""
    buckets: Int64 | None = None
    """Buckets that have files, over all partitions."""
    small_files_max: Int64 | None = None
    """Small files of the partition that has most, without those that are alone in their bucket."""
    level0_files_max: Int64 | None = None
    """Files of level 0 of the bucket that has most."""
    delete_percent: Percent | None = None
    """Deleted records of 100: delete records, and those that deletion vectors delete. Absent if not counted."""
    unmerged_percent: Percent | None = None
    """Records of 100 outside of the highest level of their bucket. With a primary key only."""
    oldest_partition: OldestPartition | None = None
    """Partition with the smallest values."""
    pins: Pins = ()
    """The tags, branches and consumers that keep most bytes."""
    pins_count: Int64 | None = None
    """Number of tags, branches and consumers."""
