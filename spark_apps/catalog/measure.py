"""Measures a table: from its metadata, and from $files once it has a snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from paimon_contract.result import ResultMeasure, ResultTable
from spark_apps.catalog.session import Session

BUCKET_MODES = {
    "HASH_FIXED": "Fixed",
    "HASH_DYNAMIC": "Dynamic",
    "KEY_DYNAMIC": "Dynamic",
    "CROSS_PARTITION": "Dynamic",
    "BUCKET_UNAWARE": "Unaware",
    "POSTPONE_MODE": "Postpone",
}
"""Paimon's bucket modes -> the words of spec.bucket.type."""

COUNTS = ("files", "rows", "size_bytes", "small_files", "sorted_runs_max")
"""What is counted of a table's files; all 0 before its first snapshot."""

SMALL_FILE_SHARE = 0.7
"""A file below this share of target-file-size counts as small, as in Paimon's append compaction."""

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
)
"""What is counted of the table, from its buckets."""


@dataclass(frozen=True)
class Measured:
    """One measurement of the table, in the two forms that a result has."""

    table: ResultTable

    @property
    def measure(self) -> ResultMeasure:
        """The same for `before` and `after`."""
        table = self.table
        return ResultMeasure(
            files=table.files,
            bytes=table.size_bytes,
            rows=table.rows,
            sorted_runs_max=table.sorted_runs_max,
            snapshot_id=table.snapshot_id,
        )


def measure_table(session: Session, table: Any) -> Measured:
    """Measures `table` (Java FileStoreTable). Spark SQL starts only if there is a snapshot."""
    mode = str(table.bucketMode().toString())
    schema_id, bucket_mode = int(table.schema().id()), BUCKET_MODES.get(mode, mode)
    snapshots = table.snapshotManager()
    latest = snapshots.latestSnapshotId()
    if latest is None:
        none: dict[str, int] = dict.fromkeys(COUNTS, 0)
        return Measured(ResultTable(schema_id=schema_id, bucket_mode=bucket_mode, oldest_snapshot=None, **none))
    earliest = snapshots.earliestSnapshot()
    oldest = datetime.fromtimestamp(earliest.timeMillis() / 1000, UTC).isoformat(timespec="seconds")
    counted = _count_files(session, _small_below(table))
    return Measured(
        ResultTable(
            schema_id=schema_id,
            bucket_mode=bucket_mode,
            **counted,
            snapshot_id=latest,
            oldest_snapshot=oldest.replace("+00:00", "Z"),
        )
    )


def _small_below(table: Any) -> int:
    """Bytes below which a file is small."""
    has_primary_key = bool(table.schema().primaryKeys())
    return int(table.coreOptions().targetFileSize(has_primary_key) * SMALL_FILE_SHARE)


def _count_files(session: Session, small_below: int) -> dict[str, int]:
    """Counts the table's files with Spark. A file of less than `small_below` bytes is small."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    files = session.dataframe("files")  # starts Spark SQL, without which no column can be named
    if session.cores == 1:
        files = files.coalesce(1)  # a shuffle would only cost time: no two tasks run at once
    of_bucket = [F.expr(each.format(small_below=small_below)) for each in _OF_BUCKET]
    row = files.groupBy("partition", "bucket").agg(*of_bucket).agg(*map(F.expr, _OF_TABLE)).first()
    assert row is not None  # noqa: S101  (an aggregate without groups has exactly one row)
    return {name: int(value) for name, value in row.asDict().items()}
