"""Rules about retention: durations, and what each member needs of the table.

`api/retention.py` and `api/table/retention_rules.py` have those in CEL that need neither types nor engine nor catalog.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from paimon_operator.api import units
from paimon_operator.api.base import LONGEST_DURATION_D
from paimon_operator.api.reasons import Reason
from paimon_operator.api.retention import DEFAULT_NUM_RETAINED_MIN, DEFAULT_TIME_RETAINED
from paimon_operator.api.table.effective import EffectiveRecordRetention, EffectiveRetention, EffectiveSnapshotRetention
from paimon_operator.api.table.spec import BucketType, ChangelogProducerType, OnCountChange
from paimon_operator.core.spec.context import RETENTION, SNAPSHOTS, TableContext
from paimon_operator.core.validation.columns import column_types, missing_column
from paimon_operator.core.validation.orphan_files import orphan_files_of
from paimon_operator.core.validation.partition_retention import partitions_of
from paimon_operator.core.validation.settings import has_deletion_vectors, producer_type
from paimon_operator.errors import SpecError

LONGEST_IN_32_BITS_D: Final = 1000
"""Days. Seconds since 1970 and a longer time exceed 32 bits before 2036, and then all records count as expired."""

_CHANGELOGS: Final = f"{RETENTION}.changelogs.timeRetained"
_CONSUMERS: Final = f"{RETENTION}.consumers.expirationTime"
_RECORDS: Final = f"{RETENTION}.records"
_TIMES: Final = ("INT", "BIGINT", "TIMESTAMP", "TIMESTAMP_LTZ")


def retention_of(context: TableContext) -> Iterator[SpecError]:
    """The effective retention, whether set by the table or inherited."""
    retention = context.effective.retention
    if retention is None:
        return
    yield from _snapshots(retention.snapshots)
    yield from _changelogs(context, retention)
    if retention.consumers is not None:
        yield from units.too_long(retention.consumers.expiration_time, LONGEST_DURATION_D, field=_CONSUMERS)
    if retention.partitions is not None:
        yield from partitions_of(context, retention.partitions)
    if retention.records is not None:
        yield from _records(context, retention.records)
    if retention.orphan_files is not None:
        yield from orphan_files_of(context, retention.orphan_files)


def _snapshots(snapshots: EffectiveSnapshotRetention | None) -> Iterator[SpecError]:
    if snapshots is not None:
        yield from units.too_long(snapshots.time_retained, LONGEST_DURATION_D, field=f"{SNAPSHOTS}.timeRetained")
    if snapshots is None or snapshots.num_retained_max is None:
        return
    smallest = snapshots.num_retained_min or DEFAULT_NUM_RETAINED_MIN
    if smallest > snapshots.num_retained_max:
        given = "numRetainedMin" if snapshots.num_retained_min else "Paimon's default of numRetainedMin"
        field = "numRetainedMin" if snapshots.num_retained_min else "numRetainedMax"
        yield SpecError(
            f"{SNAPSHOTS}.{field}",
            f"{given} ({smallest}) is larger than numRetainedMax ({snapshots.num_retained_max})",
            "Set numRetainedMin to at most numRetainedMax.",
        )


def _changelogs(context: TableContext, retention: EffectiveRetention) -> Iterator[SpecError]:
    changelogs, snapshots = retention.changelogs, retention.snapshots
    if changelogs is None:
        return
    yield from units.too_long(changelogs.time_retained, LONGEST_DURATION_D, field=_CHANGELOGS)
    if producer_type(context) is ChangelogProducerType.NONE:
        yield SpecError(_CHANGELOGS, "the table produces no changelog", "Remove changelogs, or set changelogProducer.")
    kept = (snapshots.time_retained if snapshots else None) or DEFAULT_TIME_RETAINED
    if units.delta(changelogs.time_retained) <= units.delta(kept):
        yield SpecError(
            _CHANGELOGS,
            f"changelogs are kept as long as their snapshots anyway, which is {kept}",
            f"Remove changelogs, or set timeRetained to more than {kept}.",
        )
    if _has_index(context) and not context.engine.expires_changelogs_with_index:
        yield SpecError(
            _CHANGELOGS,
            f"{context.engine.id} cannot expire changelogs of a table with dynamic buckets or deletion vectors",
            "Remove changelogs, also from the catalog's tableDefaults, or use a catalog with a newer engine.",
            reason=Reason.UNSUPPORTED_BY_ENGINE,
        )


def _has_index(context: TableContext) -> bool:
    """Whether snapshots of the table have an index: of the buckets of its keys, or of deleted rows."""
    spec = context.spec
    is_dynamic = spec.bucket is None or spec.bucket.type is BucketType.DYNAMIC
    return has_deletion_vectors(context) or (is_dynamic and bool(spec.table_schema.primary_keys))


def _records(context: TableContext, records: EffectiveRecordRetention) -> Iterator[SpecError]:
    spec, path = context.spec, f"{_RECORDS}.timeField"
    yield from units.too_long(records.expire_time, LONGEST_DURATION_D, field=f"{_RECORDS}.expireTime")
    if not spec.table_schema.primary_keys:
        yield SpecError(
            _RECORDS, "only compactions of tables with primary keys remove records", "Remove it, or set primaryKeys."
        )
    fixed = spec.bucket.fixed if spec.bucket else None
    if fixed is not None and fixed.on_count_change is OnCountChange.RESCALE:
        yield SpecError(
            _RECORDS,
            "a rescale proves that no record was lost, and records that expire meanwhile would be",
            "Remove records, or set onCountChange to Refuse.",
        )
    known = column_types(spec).get(records.time_field)
    if records.time_field not in [column.name for column in spec.table_schema.columns]:
        yield missing_column(spec, records.time_field, path)
    elif known is not None and known.name not in _TIMES:
        yield SpecError(path, f"{records.time_field!r} is of type {known}", "Use INT, BIGINT or a timestamp.")
    elif known is not None and context.engine.has_record_times_in_32_bits:
        yield from _in_32_bits(context, records, is_fit=known.name == "INT" and not known.nullable)


def _in_32_bits(context: TableContext, records: EffectiveRecordRetention, *, is_fit: bool) -> Iterator[SpecError]:
    """The rules of an engine that reads seconds in 32 bits, fails at NULL, and expires everything at an overflow."""
    newer = "or use a catalog with a newer engine."
    if not is_fit:
        yield SpecError(
            f"{_RECORDS}.timeField",
            f"the engine {context.engine.id} reads only INT NOT NULL, in seconds",
            f"Use another column, {newer}",
            reason=Reason.UNSUPPORTED_BY_ENGINE,
        )
    if units.delta(records.expire_time) > units.delta(f"{LONGEST_IN_32_BITS_D}d"):
        yield SpecError(
            f"{_RECORDS}.expireTime",
            f"the engine {context.engine.id} would remove all records: it adds {records.expire_time} to a time in 32 "
            "bits",
            f"Use at most {LONGEST_IN_32_BITS_D}d, {newer}",
            reason=Reason.UNSUPPORTED_BY_ENGINE,
        )
