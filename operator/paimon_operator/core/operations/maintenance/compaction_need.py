"""Whether a compaction is needed: the thresholds of `compaction.minor.when` and `full.when` against the measurement."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from paimon_contract.parameters.compact import CompactThresholds, RecordAge
from paimon_operator.api.compaction import (
    CompactStrategy,
    FullCompaction,
    FullThresholds,
    MinorCompaction,
    MinorThresholds,
    SortCompaction,
)
from paimon_operator.api.table.facts import Health
from paimon_operator.api.table.schedule_state import Check
from paimon_operator.api.table.spec import BucketType, ChangelogProducerType, MergeEngineType, PaimonTableSpec
from paimon_operator.api.table.status import CompactionState, TableStatus
from paimon_operator.api.units import delta, percent
from paimon_operator.core.operations.causes import Cause
from paimon_operator.core.operations.maintenance.sort_need import (
    sort_hash,
    sort_need,
    sort_thresholds,
    unsorted_files,
)
from paimon_operator.core.operations.need import (
    AFTER_A_COMMIT,
    UNKNOWN,
    Need,
    age_check,
    by_checks,
    holding_measurement,
    sentence,
    unknown_with,
)
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.desired_table import digest

_VISIBLE_WHEN_COMPACTED: Final = (ChangelogProducerType.LOOKUP, ChangelogProducerType.FULL_COMPACTION)
_MERGEABLE: Final = 2
"""Sorted runs of a bucket, or small files."""
_TO_MERGE: Final = "A run starts at the first tick that finds files to merge and a threshold reached"


def compaction_need(context: TableContext, status: TableStatus, strategy: CompactStrategy) -> Need:
    """Whether the strategy has anything to do that its thresholds ask for."""
    if strategy is CompactStrategy.SORT:
        return sort_need(context, status)
    health, when = holding_measurement(context, status), _merging(context, strategy)
    if health is None or when is None or not _is_measured(context.spec, health, when):
        return UNKNOWN
    if _record_age(context, strategy) is not None:
        shown = (*_of_files(context.spec, health, when, strategy), *_of_time(context, status, when, strategy))
        return unknown_with(shown, health.observed_at)
    if not has_work(context.spec, health, strategy):
        found = f"{_shape(context.spec, health)}: there is nothing to merge"
        return by_checks((), health.observed_at, cause=Cause.NOTHING_TO_MERGE, found=found, next_run=_TO_MERGE)
    checks = [*_of_time(context, status, when, strategy)]
    if _was_compacted(context, status, health, strategy):
        found = "nothing was committed since the last compaction"
        return by_checks(
            checks, health.observed_at, cause=Cause.NOTHING_COMMITTED, found=found, next_run=AFTER_A_COMMIT
        )
    return by_checks([*_of_files(context.spec, health, when, strategy), *checks], health.observed_at)


def job_thresholds(context: TableContext, status: TableStatus, strategy: CompactStrategy) -> CompactThresholds | None:
    """What the run compares each partition with. Once a time is over, that is anything that can be merged.

    None: it takes everything, because the strategy has no schedule.
    """
    if strategy is CompactStrategy.SORT:
        return sort_thresholds(context, status)
    when, spec, age = _merging(context, strategy), context.spec, _record_age(context, strategy)
    if when is None:
        return None
    health = holding_measurement(context, status)
    if age is not None and health is not None and _was_compacted(context, status, health, strategy):
        return CompactThresholds(records=age)
    level0 = 1 if waits_for_compaction(spec, strategy) else None
    ratio = when.delete_ratio if isinstance(when, FullThresholds) else None
    deleted = None if ratio is None else percent(ratio)
    is_late = any(each.reached for each in _of_time(context, status, when, strategy))
    if is_late and _rewrites_deleted_rows(spec, strategy):
        deleted = 1
    return CompactThresholds(
        sorted_runs=_MERGEABLE if is_late else _sorted_runs(spec, when, strategy),
        level0_files=level0,
        small_files=_MERGEABLE if is_late else when.small_files_per_partition,
        delete_percent=deleted,
        records=age,
    )


def files_beyond_thresholds(context: TableContext, status: TableStatus, strategy: CompactStrategy) -> str:
    """What the last measurement shows beyond the thresholds of files, also where it may not hold any more."""
    if strategy is CompactStrategy.SORT:
        return unsorted_files(context, status)
    health, when = status.health, _merging(context, strategy)
    checks = _of_files(context.spec, health, when, strategy) if health is not None and when is not None else ()
    return ", ".join(sentence(each) for each in checks if each.reached)


def files_gained(context: TableContext, health: Health) -> int:
    """Files that a compaction is expected to merge into others: small ones, and runs of the bucket that has most.

    Without a primary key each file of level 0 is measured as a run, and only small ones are merged.
    """
    runs = (health.sorted_runs_max or 0) - 1 if context.spec.table_schema.primary_keys else 0
    return (health.small_files or 0) + max(runs, 0)


def block_of(
    context: TableContext, strategy: CompactStrategy
) -> MinorCompaction | FullCompaction | SortCompaction | None:
    """The effective block of the strategy; None: it has no schedule."""
    compaction = context.compaction
    match strategy:
        case CompactStrategy.MINOR:
            return compaction.minor
        case CompactStrategy.FULL:
            return compaction.full
        case CompactStrategy.SORT:
            return compaction.sort


def longest_delay(context: TableContext, strategy: CompactStrategy) -> timedelta | None:
    """How long after its tick the strategy starts even outside the maintenance windows; None: it waits."""
    block = block_of(context, strategy)
    delay = block.when.max_delay if block is not None and block.when is not None else None
    return None if delay is None else delta(delay)


def settings_hash(context: TableContext, strategy: CompactStrategy) -> str:
    """Identifies what a run by the schedule of the strategy is for."""
    return sort_hash(context) if strategy is CompactStrategy.SORT else _thresholds_hash(_merging(context, strategy))


def _merging(context: TableContext, strategy: CompactStrategy) -> MinorThresholds | None:
    """The effective thresholds of a strategy that merges files; None for one without a schedule."""
    block = context.compaction.full if strategy is CompactStrategy.FULL else context.compaction.minor
    return None if block is None else block.when


def has_work(spec: PaimonTableSpec, health: Health, strategy: CompactStrategy) -> bool:
    """Whether a compaction could change anything."""
    if not spec.table_schema.primary_keys:
        return (health.small_files_max or 0) > 0 or percent(health.delete_ratio or "0%") > 0
    mergeable = (health.sorted_runs_max or 0) >= _MERGEABLE
    if _rewrites_deleted_rows(spec, strategy) and percent(health.delete_ratio or "0%") > 0:
        return True
    return mergeable or (waits_for_compaction(spec, strategy) and (health.level0_files_max or 0) > 0)


def _rewrites_deleted_rows(spec: PaimonTableSpec, strategy: CompactStrategy) -> bool:
    """Whether a compaction rewrites a file for its deleted rows, where nothing is to be merged."""
    return not spec.table_schema.primary_keys or (strategy is CompactStrategy.FULL and _has_vectors(spec))


def _record_age(context: TableContext, strategy: CompactStrategy) -> RecordAge | None:
    """The records that the strategy removes, wherever they are: a measurement does not show these."""
    retention = context.effective.retention
    if strategy is not CompactStrategy.FULL or retention is None or retention.records is None:
        return None
    seconds, column = int(delta(retention.records.expire_time).total_seconds()), retention.records.time_field
    return RecordAge(seconds=seconds, column=column, in_single_runs=context.engine.rewrites_expired_records)


def waits_for_compaction(spec: PaimonTableSpec, strategy: CompactStrategy) -> bool:
    """Whether readers see new rows, or their changelog, only after a compaction by this strategy."""
    engine, producer, bucket = spec.merge_engine, spec.changelog_producer, spec.bucket
    if producer is not None and producer.type in _VISIBLE_WHEN_COMPACTED:
        return strategy is CompactStrategy.FULL or producer.type is ChangelogProducerType.LOOKUP
    if _has_vectors(spec):
        return True
    if bucket is not None and bucket.type is BucketType.POSTPONE:
        return True
    return engine is not None and engine.type is MergeEngineType.FIRST_ROW


def _has_vectors(spec: PaimonTableSpec) -> bool:
    return spec.deletion_vectors is not None and bool(spec.deletion_vectors.enabled)


def _sorted_runs(spec: PaimonTableSpec, when: MinorThresholds, strategy: CompactStrategy) -> int | None:
    """The threshold. A full compaction makes the changelog of FullCompaction, whatever levels its rows are in."""
    producer = spec.changelog_producer
    is_full = producer is not None and producer.type is ChangelogProducerType.FULL_COMPACTION
    return _MERGEABLE if is_full and strategy is CompactStrategy.FULL else when.sorted_runs_per_bucket


def _of_files(
    spec: PaimonTableSpec, health: Health, when: MinorThresholds, strategy: CompactStrategy
) -> Iterator[Check]:
    if spec.table_schema.primary_keys:
        yield from _numbers("sortedRunsPerBucket", health.sorted_runs_max, _sorted_runs(spec, when, strategy))
        if waits_for_compaction(spec, strategy):
            yield from _numbers("level0FilesPerBucket", health.level0_files_max, 1)
    yield from _numbers("smallFilesPerPartition", health.small_files_max, when.small_files_per_partition)
    ratio = when.delete_ratio if isinstance(when, FullThresholds) else None
    if ratio is not None and health.delete_ratio is not None:
        reached = percent(health.delete_ratio) >= percent(ratio)
        yield Check(name="deleteRatio", measured=health.delete_ratio, threshold=ratio, reached=reached)


def _of_time(
    context: TableContext, status: TableStatus, when: MinorThresholds, strategy: CompactStrategy
) -> Iterator[Check]:
    """Both count while there is anything to merge. A full compaction is also a minor one."""
    both = status.compaction or CompactionState()
    full = both.full.last_time if both.full is not None else None
    own = full if strategy is CompactStrategy.FULL or both.minor is None else _latest(both.minor.last_time, full)
    yield from age_check(context, "maxDelay", own, when.max_delay)
    if isinstance(when, FullThresholds):
        yield from age_check(context, "fullCompactionAge", full, when.full_compaction_age)


def _numbers(name: str, measured: int | None, threshold: int | None) -> Iterator[Check]:
    if measured is not None and threshold is not None:
        yield Check(name=name, measured=str(measured), threshold=str(threshold), reached=measured >= threshold)


def _thresholds_hash(when: MinorThresholds | None) -> str:
    return digest({} if when is None else when.to_json())


def _was_compacted(context: TableContext, status: TableStatus, health: Health, strategy: CompactStrategy) -> bool:
    """Whether the measured snapshot is the one that the last compaction by the same thresholds has left.

    What a compaction leaves beyond a threshold, another one leaves too, unless partitions become idle meanwhile. A
    full compaction of everything leaves nothing to a minor one.
    """
    if context.compaction.partition_idle_time is not None or health.snapshot_id is None:
        return False
    both, wanted = status.compaction or CompactionState(), _thresholds_hash(_merging(context, strategy))
    own = both.full if strategy is CompactStrategy.FULL else both.minor
    if own is not None and own.compacted_snapshot == health.snapshot_id and own.compacted_for in (None, wanted):
        return True
    full = both.full
    return full is not None and full.compacted_snapshot == health.snapshot_id and full.compacted_for is None


def _is_measured(spec: PaimonTableSpec, health: Health, when: MinorThresholds) -> bool:
    """Whether all values are known on which the answer depends."""
    by_ratio = isinstance(when, FullThresholds) and when.delete_ratio is not None
    if health.small_files_max is None or (by_ratio and health.delete_ratio is None):
        return False
    has_keys = bool(spec.table_schema.primary_keys)
    return not has_keys or (health.sorted_runs_max is not None and health.level0_files_max is not None)


def _shape(spec: PaimonTableSpec, health: Health) -> str:
    if not spec.table_schema.primary_keys:
        return "no small files lie together in a bucket, and no row is deleted"
    return f"at most {health.sorted_runs_max} sorted run{'' if health.sorted_runs_max == 1 else 's'} in a bucket"


def _latest(*moments: datetime | None) -> datetime | None:
    return max((each for each in moments if each is not None), default=None)
