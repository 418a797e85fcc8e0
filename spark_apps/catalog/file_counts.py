"""Counts the files of a table's latest snapshot: from Paimon's plan, or with Spark when there are too many to list.

Spark SQL takes seconds to start and a second for its first query. A plan needs neither, but it holds every file in the
driver's memory, and each value is one call from Python to the JVM.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from statistics import median_low
from typing import Any

from spark_apps.catalog.session import Session

LISTED_MAX = 200
"""Files of a table that is counted from its plan."""

COUNTS = ("files", "rows", "size_bytes", "small_files", "sorted_runs_max")
"""What is counted of a table's files."""
BUCKET_COUNTS = ("partitions", "bucket_bytes_median", "bucket_bytes_max")
"""What is counted of the buckets that have files. The bytes are 0 for a table without data in a bucket."""

_OF_BUCKET = (
    "count(*) AS files",
    "sum(record_count) AS rows",
    "sum(file_size_in_bytes) AS size_bytes",
    "sum(if(file_size_in_bytes < {small_below}, 1, 0)) AS small_files",
    "count_if(level = 0) + size(collect_set(nullif(level, 0))) AS sorted_runs",
)
"""What is counted of a bucket. Every level-0 file is a sorted run, and so is every level above that has a file."""
_OF_TABLE = (
    *(f"coalesce(sum({name}), 0) AS {name}" for name in ("files", "rows", "size_bytes", "small_files")),
    "coalesce(max(sorted_runs), 0) AS sorted_runs_max",
    "count(DISTINCT partition) AS partitions",
    "coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY size_bytes), 0) AS bucket_bytes_median",
    "coalesce(max(size_bytes), 0) AS bucket_bytes_max",
)
"""What is counted of the table, from its buckets."""


@dataclass
class _Bucket:
    """The counts of one bucket of one partition."""

    files: int = 0
    rows: int = 0
    size_bytes: int = 0
    small_files: int = 0
    level_0: int = 0
    levels: set[int] = field(default_factory=set)

    def add(self, file: Any, small_below: int) -> None:
        """Adds a data file (Java DataFileMeta)."""
        level, size = int(file.level()), int(file.fileSize())
        self.files += 1
        self.rows += int(file.rowCount())
        self.size_bytes += size
        self.small_files += size < small_below
        if level:
            self.levels.add(level)
        else:
            self.level_0 += 1

    @property
    def sorted_runs(self) -> int:
        return self.level_0 + len(self.levels)


def count_files(session: Session, table: Any, snapshot: Any, small_below: int) -> dict[str, int]:
    """COUNTS and BUCKET_COUNTS of `snapshot` (Java), the latest. A file of less than `small_below` bytes is small."""
    if _live_files(table, snapshot) <= LISTED_MAX:
        return _count_listed(session, table, snapshot, small_below)
    return _count_with_spark(session, small_below)


def _live_files(table: Any, snapshot: Any) -> int:
    """The number of files, from the manifest list alone."""
    manifests = table.store().manifestListFactory().create().readDataManifests(snapshot)
    return sum(int(each.numAddedFiles()) - int(each.numDeletedFiles()) for each in manifests)


def _count_listed(session: Session, table: Any, snapshot: Any, small_below: int) -> dict[str, int]:
    added = session.jvm.org.apache.paimon.manifest.FileKind.ADD
    buckets: defaultdict[tuple[bytes, int], _Bucket] = defaultdict(_Bucket)
    for entry in table.store().newScan().withSnapshot(snapshot).plan().files(added):
        buckets[bytes(entry.partition().toBytes()), int(entry.bucket())].add(entry.file(), small_below)
    # The files of a postponed bucket (-2) are in none yet.
    sizes = [each.size_bytes for (_, number), each in buckets.items() if number >= 0]
    return {
        "files": sum(each.files for each in buckets.values()),
        "rows": sum(each.rows for each in buckets.values()),
        "size_bytes": sum(each.size_bytes for each in buckets.values()),
        "small_files": sum(each.small_files for each in buckets.values()),
        "sorted_runs_max": max((each.sorted_runs for each in buckets.values()), default=0),
        "partitions": len({partition for partition, _ in buckets}),
        "bucket_bytes_median": median_low(sizes or [0]),
        "bucket_bytes_max": max(sizes, default=0),
    }


def _count_with_spark(session: Session, small_below: int) -> dict[str, int]:
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    # The DataFrame comes first: it starts Spark SQL, without which F.expr fails. Without a filter by level, Paimon 0.9
    # leaves out the level-0 files of tables with deletion vectors or merge engine first-row.
    files = session.dataframe("files").where("level >= 0")
    of_bucket = [F.expr(each.format(small_below=small_below)) for each in _OF_BUCKET]
    row = files.groupBy("partition", "bucket").agg(*of_bucket).agg(*map(F.expr, _OF_TABLE)).first()
    assert row is not None  # noqa: S101  (an aggregate without groups has exactly one row)
    return {name: int(value) for name, value in row.asDict().items()}
