"""Measures a table: its schema, its snapshots and its files."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from paimon_contract.result import ResultMeasure, ResultTable
from paimon_schema.table_schema import read_schema_file
from spark_apps.catalog.bucket_layout import tag_of
from spark_apps.catalog.file_counts import BUCKET_COUNTS, COUNTS, count_files
from spark_apps.catalog.session import Session

FIXED = "Fixed"
BUCKET_MODES = {
    "HASH_FIXED": FIXED,
    "HASH_DYNAMIC": "Dynamic",
    "KEY_DYNAMIC": "Dynamic",
    "CROSS_PARTITION": "Dynamic",
    "BUCKET_UNAWARE": "Unaware",
    "POSTPONE_MODE": "Postpone",
}
"""Paimon's bucket modes -> the words of spec.bucket.type."""

SMALL_FILE_SHARE = 0.7
"""A file below this share of target-file-size counts as small, as in Paimon's append compaction."""


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
    """Measures `table` (Java FileStoreTable). Without a snapshot it has no files."""
    mode = str(table.bucketMode().toString())
    schema_id, bucket_mode = int(table.schema().id()), BUCKET_MODES.get(mode, mode)
    bucket_count = int(table.coreOptions().bucket()) if bucket_mode == FIXED else None
    latest, oldest = table.snapshotManager().latestSnapshot(), None
    counted: dict[str, int] = dict.fromkeys(COUNTS, 0)
    if latest is not None:
        oldest = _time_of(table.snapshotManager().earliestSnapshot())
        all_counts = count_files(session, table, latest, _small_below(table))
        counted = {name: all_counts[name] for name in (*COUNTS, *(BUCKET_COUNTS if bucket_count else ()))}
    return Measured(
        ResultTable(
            schema_id=schema_id,
            schema_digest=_digest_of(table, schema_id),
            bucket_mode=bucket_mode,
            bucket_count=bucket_count,
            rescaling=True if tag_of(table) is not None else None,
            snapshot_id=None if latest is None else int(latest.id()),
            oldest_snapshot=oldest,
            **counted,
        )
    )


def _digest_of(table: Any, schema_id: int) -> str:
    """Of the schema's file: `table` may have options of this session beside those of the file."""
    return read_schema_file(table.schemaManager().schema(schema_id).toString()).digest


def _time_of(snapshot: Any) -> str:
    time = datetime.fromtimestamp(snapshot.timeMillis() / 1000, UTC).isoformat(timespec="seconds")
    return time.replace("+00:00", "Z")


def _small_below(table: Any) -> int:
    """Bytes below which a file is small."""
    has_primary_key = bool(table.schema().primaryKeys())
    return int(table.coreOptions().targetFileSize(has_primary_key) * SMALL_FILE_SHARE)
