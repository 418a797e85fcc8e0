"""What the sums over a table's data files say about its health."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from statistics import median_low
from typing import Any, Final

from paimon_schema.table_schema import TableSchema
from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.binary_row import Value, partition_values
from spark_apps.metadata.file_sums import Sums, total_of
from spark_apps.metadata.observation import Contents
from spark_apps.metadata.settings import UNAWARE, bucket_mode, default_partition_name

MAX_PARTITION_LENGTH: Final = 256


@dataclass
class Bucket:
    """One bucket of one partition."""

    bytes: int = 0
    rows: int = 0
    level0_files: int = 0
    levels: int = 0
    """Levels above 0 that have files."""
    top_level: int = 0
    top_rows: int = 0
    """Rows of the highest level that has files."""

    @property
    def sorted_runs(self) -> int:
        """Every file of level 0 is a sorted run, and so is every level above."""
        return self.level0_files + self.levels

    def unmerged_rows(self, number: int) -> int:
        """Rows that can have the key of another one. The files of a postponed bucket (-2) hold rows as they came."""
        if self.levels:
            return self.rows - self.top_rows
        return 0 if self.level0_files == 1 and number >= 0 else self.rows


def measures_of(contents: Contents | None, schema: TableSchema) -> dict[str, Any]:
    """The fields of ResultTable that are known of the files; `contents` is None for a table without a snapshot."""
    if contents is None:
        nothing = dict.fromkeys(("snapshots", "manifests", "delete_percent"), 0)
        return _of_sums({}, schema) | nothing
    snapshot, total = contents.snapshot, total_of(contents.sums)
    deleted = None if total.uncounted_files else contents.deleted_rows
    return {
        **_of_sums(contents.sums, schema),
        "snapshot_id": snapshot.id,
        "snapshots": snapshot.id - contents.earliest.id + 1,
        "oldest_snapshot": time_text(contents.earliest.time_ms),
        "manifests": len(contents.manifests),
        "delete_percent": None if deleted is None else percent(total.delete_rows + deleted, total.rows),
    }


def _of_sums(sums: Sums, schema: TableSchema) -> dict[str, Any]:
    buckets, total = buckets_of(sums), total_of(sums)
    found: dict[str, Any] = {
        "files": total.files,
        "rows": total.rows,
        "size_bytes": total.bytes,
        "small_files": total.small_files,
        "small_files_max": max(small_files_of(sums).values(), default=0),
        "sorted_runs_max": max((each.sorted_runs for each in buckets.values()), default=0),
        "level0_files_max": max((each.level0_files for each in buckets.values()), default=0),
        "buckets": len(buckets),
        "oldest_partition": oldest_partition({partition for partition, _ in buckets}, schema),
    }
    if schema.primary_keys:
        unmerged = sum(each.unmerged_rows(number) for (_, number), each in buckets.items())
        found["unmerged_percent"] = percent(unmerged, total.rows)
    if bucket_mode(schema) != UNAWARE:
        found |= _of_bucket_bytes(buckets)
    return found


def _of_bucket_bytes(buckets: Mapping[tuple[bytes, int], Bucket]) -> dict[str, Any]:
    """Bytes per bucket; nothing without data in a bucket. Files of a postponed bucket (-2) are in none yet."""
    sizes = [each.bytes for (_, number), each in buckets.items() if number >= 0]
    if not sizes:
        return {}
    return {
        "partitions": len({partition for partition, _ in buckets}),
        "bucket_bytes_median": median_low(sizes),
        "bucket_bytes_max": max(sizes),
    }


def buckets_of(sums: Sums) -> Mapping[tuple[bytes, int], Bucket]:
    """The buckets that have files."""
    buckets: defaultdict[tuple[bytes, int], Bucket] = defaultdict(Bucket)
    for (partition, number, level), each in sums.items():
        bucket = buckets[partition, number]
        bucket.bytes += each.bytes
        bucket.rows += each.rows
        if level == 0:
            bucket.level0_files += each.files
        else:
            bucket.levels += 1
            if level > bucket.top_level:
                bucket.top_level, bucket.top_rows = level, each.rows
    return buckets


def small_files_of(sums: Sums) -> dict[bytes, int]:
    """Small files of each partition, without those that are alone in their bucket: nothing can merge these."""
    by_bucket: defaultdict[tuple[bytes, int], int] = defaultdict(int)
    for (partition, number, _), each in sums.items():
        by_bucket[partition, number] += each.small_files
    by_partition: defaultdict[bytes, int] = defaultdict(int)
    for (partition, _), count in by_bucket.items():
        by_partition[partition] += count if count > 1 else 0
    return by_partition


def percent(part: int, whole: int) -> int:
    """The share of 100, rounded down; 0 of nothing."""
    return min(100, 100 * part // whole) if whole else 0


def time_text(time_ms: int) -> str:
    """Milliseconds since 1970 as a time in whole seconds."""
    return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def oldest_partition(partitions: Iterable[bytes], schema: TableSchema) -> str | None:
    """The smallest partition by its keys in their order, those without a value last; None where it is not known."""
    types = [schema.by_name[name].type for name in schema.partition_keys]
    try:
        found = [partition_values(each, types) for each in partitions]
    except UnreadableError:
        return None
    if not types or not found:
        return None
    smallest = min(found, key=lambda values: [(value is None, 0 if value is None else value) for value in values])
    pairs = zip(schema.partition_keys, smallest, strict=True)
    default = default_partition_name(schema)
    return "/".join(f"{name}={_text(value, default)}" for name, value in pairs)[:MAX_PARTITION_LENGTH]


def _text(value: Value, default: str) -> str:
    if value is None:
        return default
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, date) else str(value)
