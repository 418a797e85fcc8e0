"""Measures a table: its schema, its snapshots and its files, from its metadata files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from paimon_contract.result import Outcome, ResultMeasure, ResultTable
from paimon_schema.table_schema import TableSchema, read_schema_file
from spark_apps.catalog.file_counts import BUCKET_COUNTS, COUNTS, count_files
from spark_apps.catalog.session import Session
from spark_apps.catalog.warehouse_files import files_at_start, files_for
from spark_apps.metadata.base import MetadataFiles, UnreadableError
from spark_apps.metadata.health import time_text
from spark_apps.metadata.measurement import now_text, of_contents, of_schema
from spark_apps.metadata.observation import Observation, Observer
from spark_apps.metadata.pins import read_pins
from spark_apps.metadata.settings import SMALL_FILE_SHARE, UNAWARE
from spark_apps.metadata.snapshots import ExpiredError
from spark_apps.metadata.table_files import TableFiles, location_of
from spark_apps.progress import log_step


@dataclass(frozen=True)
class Measured:
    """One measurement of the table, in the two forms that a result has."""

    table: ResultTable
    observation: Observation | None = None
    """What it was measured by; None: Paimon has counted."""

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
            snapshots=table.snapshots,
            manifests=table.manifests,
        )


def outcome_between(before: Measured, after: Measured, **more: Any) -> Outcome:
    """The outcome of a run of maintenance: the table before and after it, and `more` of what it reports."""
    return Outcome(table=after.table, before=before.measure, after=after.measure, **more)


def measure_table(
    session: Session, table: Any, *, pins: bool = True, before: Measured | None = None, is_new: bool = False
) -> Measured:
    """Measures `table` (Java FileStoreTable), by Paimon itself only where its metadata cannot be read otherwise.

    `pins`: also what tags, branches and consumers keep. What `before` has read of the same table is not read again.
    `is_new`: this run has created the table. As long as it has no snapshot, no client of the storage is made for it.
    """
    if is_new and table.snapshotManager().latestSnapshotId() is None:
        return Measured(of_contents(None, schema_of(table)))
    try:
        return _by_files(session, files_for(session), table, pins=pins, before=before)
    except UnreadableError as error:
        return _by_paimon(session, table, error)


def measure_at_start(session: Session, table: Any) -> Measured:
    """Measures `table` (Java FileStoreTable) without its pins, as the run has found it: before it changes anything."""
    files, session.files_found = files_at_start(session), None  # (the start ends here)
    try:
        return _by_files(session, files, table, pins=False)
    except ExpiredError as error:  # somebody else has expired what the run has found
        log_step(f"the table is measured again: {error}")
        return measure_table(session, table, pins=False)
    except UnreadableError as error:
        return _by_paimon(session, table, error)


def _by_files(
    session: Session, files: MetadataFiles, table: Any, *, pins: bool, before: Measured | None = None
) -> Measured:
    location, id_ = location_of(session.job), int(table.schema().id())
    schema = TableFiles(files, location).schema(id_)
    if schema is None:
        raise UnreadableError(f"{location} has no schema {id_}")
    known = before.observation if before is not None else None
    return measured(files, location, schema, pins=pins, known=known)


def _by_paimon(session: Session, table: Any, why: UnreadableError) -> Measured:
    log_step(f"Paimon counts the files: {why}")
    session.only_java_reads = True
    return Measured(_counted(session, table, schema_of(table)))


def measured(
    files: MetadataFiles, location: str, schema: TableSchema, *, pins: bool = True, known: Observation | None = None
) -> Measured:
    """Measures the table at `location`, of which `schema` is the latest schema. Raises UnreadableError."""
    observer = Observer(files, location, schema)
    measured_at = now_text()
    # Without its hint, `known` says nothing of the snapshots: LATEST does not change when some of them expire. Where
    # there were none, the absence of LATEST would count as that of snapshots.
    seen = observer.observe(replace(known, hint=None) if known is not None and known.contents is not None else None)
    contents, table = seen.contents, of_contents(seen.contents, schema, measured_at)
    if contents is None or not pins:
        return Measured(table, seen)
    found = read_pins(observer.manifests, contents.snapshot, contents.earliest)
    return Measured(replace(table, pins=found.shown, pins_count=found.count), seen)


def _counted(session: Session, table: Any, schema: TableSchema) -> ResultTable:
    """What Paimon counts."""
    base = replace(of_schema(schema), measured_at=now_text())
    latest = table.snapshotManager().latestSnapshot()
    if latest is None:
        return of_contents(None, schema, base.measured_at)
    target = table.coreOptions().targetFileSize(bool(schema.primary_keys))
    counts: dict[str, Any] = count_files(session, table, latest, int(target * SMALL_FILE_SHARE))
    names = (*COUNTS, *(BUCKET_COUNTS if base.bucket_mode != UNAWARE and counts["bucket_bytes_max"] else ()))
    earliest = table.snapshotManager().earliestSnapshot()
    return replace(
        base,
        snapshot_id=int(latest.id()),
        snapshots=int(latest.id()) - int(earliest.id()) + 1,
        oldest_snapshot=time_text(int(earliest.timeMillis())),
        **{name: counts[name] for name in names},
    )


def schema_of(table: Any) -> TableSchema:
    """Of the schema's file: `table` may have options of this session beside those of the file."""
    return read_schema_file(table.schemaManager().schema(table.schema().id()).toString())
