"""Compacts the table by Paimon's procedure, and measures before and after, since the procedure reports nothing.

The commit of a compaction would also expire snapshots, even when there is nothing to compact. The session prevents it
(session.py), because expiry is a run of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from paimon_contract.job import Job
from paimon_contract.parameters.compact import CompactParameters, CompactThresholds
from paimon_contract.result import Outcome
from paimon_engines.engine import Engine
from paimon_schema.level_count import LEVELS, TRIGGER
from spark_apps.catalog.bucket_layout import refuse_mixing_buckets
from spark_apps.catalog.compaction_scope import Scope, scope_of
from spark_apps.catalog.foreign_commits import FileCommits
from spark_apps.catalog.measure import Measured, measure_table, outcome_between, schema_of
from spark_apps.catalog.own_commits import own_stretches
from spark_apps.catalog.postponed_buckets import POSTPONE_MODE, partitions_by_buckets
from spark_apps.catalog.session import Session
from spark_apps.catalog.sort_scope import WHOLE, SortBatch, SortScope, sort_scope_of
from spark_apps.catalog.verification import tags_of_run, verified
from spark_apps.catalog.warehouse_files import files_for
from spark_apps.failures.errors import spec_failure
from spark_apps.metadata.base import MetadataFiles, UnreadableError
from spark_apps.metadata.measurement import of_contents
from spark_apps.metadata.snapshots import SnapshotFiles
from spark_apps.metadata.sorted_files import sorts_by
from spark_apps.metadata.table_files import TableFiles, is_as_verified, location_of
from spark_apps.progress import log_step
from spark_apps.sql.identifiers import SqlValue, call, qualified
from spark_apps.sql.partitions import partition_filter

PARAMETERS = CompactParameters

Arguments = dict[str, SqlValue | None]

_LOGGED: Final = 500
"""Characters of a batch's condition that the log has."""
OPTIONS = "compaction.min.file-num=2"
"""Without it, a call never merges fewer than five small files of an append table."""
_MAX_FILES: Final = "compaction.max.file-num"
_DEFAULT_MAX_FILES: Final = 50
"""Paimon's default of that option for append tables whose bucket is Unaware."""
_MERGEABLE: Final = CompactThresholds(small_files=2)
_ROW_TRACKING: Final = "row-tracking.enabled"
SORT: Final = "Sort"


def run(job: Job, session: Session) -> Outcome:
    """Compacts. Succeeds without a snapshot when there is nothing to compact.

    With `verify` in the job, it raises RunError if a commit of this run has changed rows.
    """
    compact = job.parameters_as(PARAMETERS)
    table = session.table_at_start()
    refuse_mixing_buckets(job, table)
    arguments = _arguments(job, compact, table, session)
    _refuse_cross_partition(job, table)
    before = measure_table(session, table, pins=False)
    if before.table.snapshot_id is None:
        return outcome_between(before, before)
    arguments["options"] = _options(compact, table, before)
    taken, compared = verified(session, compact.verify, lambda: compact_table(job, session, compact, table, arguments))
    after = measure_table(session, session.table(), before=before)
    return outcome_between(before, after, **taken, verification=compared)


def compact_table(
    job: Job, session: Session, compact: CompactParameters, table: Any, arguments: Arguments
) -> Mapping[str, int | None]:
    """Calls the procedure for each batch.

    Returns the members of the outcome that count partitions; none where Paimon chooses them.
    """
    scope: Scope | SortScope | None
    if compact.strategy == SORT:
        scope = _sort_scope(job, session, compact)
        batches = _sort_batches(arguments, scope, compact, int(table.coreOptions().numLevels()))
    else:
        scope = _scope(job, session, compact)
        batches = _batches(arguments, scope, session)
    for number, batch in enumerate(batches, 1):
        log_step(f"compacts batch {number}: {batch['where'] or 'all partitions'}"[:_LOGGED])
        for each in _calls(batch, table, session):
            session.spark.sql(call("compact", each)).collect()
    if scope is None or compact.thresholds is None:
        return {}
    only_for_records = scope.only_for_records if isinstance(scope, Scope) else None
    return {"compacted_partitions": len(scope.partitions), "only_for_records": only_for_records}


def without_jvm(job: Job, engine: Engine, files: MetadataFiles) -> Outcome | None:  # noqa: ARG001
    """Ends where no partition reaches a threshold; None where one does, and where all are to be compacted."""
    compact = job.parameters_as(PARAMETERS)
    thresholds = compact.thresholds
    schema = None if thresholds is None else TableFiles(files, location_of(job)).latest_schema()
    if thresholds is None or schema is None or not is_as_verified(job, schema):
        return None
    if compact.verify is not None and _has_earlier_attempt(job, files):
        return None
    scope: Scope | SortScope
    if compact.strategy == SORT:
        if not sorts_by(schema, compact.order):
            return None
        scope = sort_scope_of(job, files, schema, _least(compact), _idle_since(compact))
    else:
        scope = scope_of(job, files, schema, thresholds, _idle_since(compact))
    if scope.partitions:
        return None
    measured = Measured(of_contents(scope.contents, schema))
    return outcome_between(measured, measured, compacted_partitions=0)


def _has_earlier_attempt(job: Job, files: MetadataFiles) -> bool:
    """Whether an attempt of the run has left commits that were not compared, or a difference that was not reported."""
    location = location_of(job)
    found = tags_of_run(job.commit_user, (each.removeprefix("tag-") for each in files.names(f"{location}/tag")))
    return bool(found or own_stretches(job, FileCommits(SnapshotFiles(files, location))))


def _idle_since(compact: CompactParameters) -> datetime | None:
    """Partitions that received a file since are left; None: none are."""
    return None if compact.idle_time is None else datetime.now(UTC) - compact.idle_time


def _options(compact: CompactParameters, table: Any, before: Measured) -> str:
    """Options of the call. A minor compaction by a threshold needs it: Paimon merges nothing at or below its own one.

    The number of levels stays that of the table (Java), or of its files. By default it follows the trigger, and with
    fewer levels Paimon takes a lower one for the highest, to which it moves rows without those above: they are not
    merged with these.
    """
    if compact.strategy != "Minor":
        return OPTIONS
    runs = None if compact.thresholds is None else compact.thresholds.sorted_runs
    trigger = "" if runs is None else f",{TRIGGER}={max(runs - 1, 1)}"
    contents = None if before.observation is None else before.observation.contents
    highest = max((level for _, _, level in contents.sums), default=0) if contents is not None else 0
    return f"{OPTIONS}{trigger},{LEVELS}={max(int(table.coreOptions().numLevels()), highest + 1)}"


def _scope(job: Job, session: Session, compact: CompactParameters) -> Scope | None:
    """The partitions that need it; None: all that the job names, also where the metadata can only be read by Paimon."""
    schema = schema_of(session.table())
    thresholds = compact.thresholds
    if thresholds is None and _merges_full_bins_only(session) and not schema.primary_keys:
        thresholds = _MERGEABLE
    if thresholds is None:
        return None
    try:
        return scope_of(job, files_for(session), schema, thresholds, _idle_since(compact))
    except UnreadableError as error:
        log_step(f"all partitions are compacted: {error}")
        return None


def _batches(arguments: Arguments, scope: Scope | None, session: Session) -> Iterator[Arguments]:
    """The arguments for each batch of partitions, or for all at once."""
    if scope is None:
        yield arguments
        return
    by_count = _merges_full_bins_only(session) and not scope.schema.primary_keys
    for batch in scope.batches(by_small_files=by_count):
        options = str(arguments["options"])
        if batch.small_files is not None:
            options += f",{_MAX_FILES}={min(max(batch.small_files, 2), _DEFAULT_MAX_FILES)}"
        yield arguments | {"where": _both(arguments["where"], batch.condition), "options": options}


def _sort_scope(job: Job, session: Session, compact: CompactParameters) -> SortScope | None:
    """The partitions to sort; None: all, also where the metadata can only be read by Paimon.

    Raises RunError for a table whose compaction does not sort.
    """
    schema = schema_of(session.table())
    if not sorts_by(schema, compact.order):
        raise spec_failure(
            "TableAltered",
            f"the options clustering.* of the table {job.table} are not those of compaction.sort",
            "wait until the table is Ready, or have options restored that somebody altered: docs/drift.md",
            field="spec.compaction.sort",
        )
    if schema.options.get(_ROW_TRACKING) == "true":
        raise spec_failure(
            "InvalidSpec",
            f"the table {job.table} has {_ROW_TRACKING}, and sorted rows would get new row ids",
            "remove compaction.sort",
            field="spec.compaction.sort",
        )
    try:
        return sort_scope_of(job, files_for(session), schema, _least(compact), _idle_since(compact))
    except UnreadableError as error:
        log_step(f"all partitions are sorted: {error}")
        return None


def _least(compact: CompactParameters) -> int:
    """Unsorted files from which a partition is sorted. A user's run sorts every one that has any."""
    return (None if compact.thresholds is None else compact.thresholds.unsorted_files) or 1


def _sort_batches(
    arguments: Arguments, scope: SortScope | None, compact: CompactParameters, levels: int
) -> Iterator[Arguments]:
    """The arguments for each batch. The engine merges as it does on levels: see SortBatch."""
    for batch in [SortBatch(None, WHOLE)] if scope is None else scope.batches(levels):
        options = f"{LEVELS}={levels + 1 if batch.adds_level else levels}"
        if batch.strategy != WHOLE:
            options += f",{TRIGGER}={max(_least(compact) - 1, 1)}"
        where = _both(arguments["where"], batch.condition)
        # Paimon's clustering ignores the idle time; the scope has left those partitions out.
        yield arguments | {
            "where": where,
            "options": options,
            "compact_strategy": batch.strategy,
            "partition_idle_time": None,
        }


def _merges_full_bins_only(session: Session) -> bool:
    """Whether a call merges small files of an append table only in groups of _MAX_FILES files, as Paimon 0.9 does."""
    return _MAX_FILES in session.engine.options


def _both(where: SqlValue | None, condition: str | None) -> str | None:
    return " AND ".join(f"({each})" for each in (where, condition) if each) or None


def _arguments(job: Job, compact: CompactParameters, table: Any, session: Session) -> Arguments:
    """Arguments of the procedure. Full is its default, so only Minor needs an engine with a strategy argument."""
    has_strategy = session.engine.has_minor_compaction
    if compact.strategy == SORT and not session.engine.has_incremental_clustering:
        raise spec_failure(
            "UnsupportedByEngine",
            f"engine {session.engine.id} has no incremental clustering",
            "remove sort, or use an engine that has it",
            field="spec.compaction.sort",
        )
    if compact.strategy == "Minor" and not has_strategy:
        raise spec_failure(
            "UnsupportedByEngine",
            f"engine {session.engine.id} has no minor compaction",
            "use full compaction, or an engine that has it",
            field="spec.compaction.minor",
        )
    return {
        "table": qualified(job.table.database, job.table.name),
        "compact_strategy": compact.strategy.lower() if has_strategy else None,
        "where": partition_filter(table, compact.partitions) if compact.partitions else None,
        "partition_idle_time": compact.partition_idle_time,
        "options": OPTIONS,
    }


def _calls(arguments: Arguments, table: Any, session: Session) -> Iterator[Arguments]:
    """The arguments of each call: one, or one for each number of buckets that partitions with postponed buckets have.

    Without a number of buckets, a call compacts only rows that have no bucket yet, which our writes never make.
    """
    if str(table.bucketMode().toString()) != POSTPONE_MODE:
        yield arguments
        return
    groups = partitions_by_buckets(session, table)
    for number, partitions in groups.items():
        where = _both(arguments["where"], partition_filter(table, partitions) if len(groups) > 1 else None)
        yield arguments | {"where": where, "options": f"{arguments['options']},bucket={number}"}


def _refuse_cross_partition(job: Job, table: Any) -> None:
    if str(table.bucketMode().toString()) in ("KEY_DYNAMIC", "CROSS_PARTITION"):
        raise spec_failure(
            "InvalidSpec",
            f"Paimon cannot compact {job.table}: its primary key lacks a partition key and its bucket is Dynamic",
            "set compaction.mode to Inline, or recreate the table with a Fixed bucket",
            field="spec.compaction.mode",
        )
