"""Every rule about a table's manifest, checked again before anything is started.

The CRD refuses most violations at `kubectl apply`. They are checked again because a CRD can be older than the operator,
and because only the operator knows types, engines, time zones and locations. Sources: the API page, the engines' data,
Paimon's own validation (`SchemaValidation`), and what Paimon leaves unchecked until the first write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from paimon_engines.engine import is_older
from paimon_operator.api import units
from paimon_operator.api.base import LONGEST_DURATION_D
from paimon_operator.api.compaction import Compaction
from paimon_operator.api.policies import ExternalWriters
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.spec import BucketType, OnCountChange
from paimon_operator.core import schedule
from paimon_operator.core.spec import identity
from paimon_operator.core.spec.capabilities import may_be_active, verified_by
from paimon_operator.core.spec.context import MARK_PARTITIONS_DONE, TableContext
from paimon_operator.core.spec.size import size_of
from paimon_operator.core.validation.buffers import buffers_of
from paimon_operator.core.validation.columns import columns_of, keys_of
from paimon_operator.core.validation.deadlines import deadline_of
from paimon_operator.core.validation.defaults import defaults_of
from paimon_operator.core.validation.done_partitions import done_partitions_of
from paimon_operator.core.validation.formats import formats_of
from paimon_operator.core.validation.indexes import indexes_of
from paimon_operator.core.validation.maintenance import maintenance_of
from paimon_operator.core.validation.merging import changelog_of, merging_of
from paimon_operator.core.validation.metastore import names_of
from paimon_operator.core.validation.options import free_options_of, typed_options_of
from paimon_operator.core.validation.retention import retention_of
from paimon_operator.core.validation.settings import settings_of
from paimon_operator.core.validation.sorting import sort_of
from paimon_operator.core.validation.spark_limits import spark_limits_of
from paimon_operator.core.validation.table_shape import table_shape
from paimon_operator.core.validation.tags import tags_of
from paimon_operator.core.validation.windows import windows_of
from paimon_operator.core.validation.writes import writes_of
from paimon_operator.errors import SpecError

SYSTEM_DATABASE: Final = "sys"
"""Paimon's database of catalog-wide system tables."""


def broken_rules(context: TableContext) -> tuple[SpecError, ...]:
    """Every rule that the manifest breaks, causes before consequences. Empty if the manifest is valid."""
    return tuple(error for rule in RULES for error in rule(context))


def spec_size_of(context: TableContext) -> Iterator[SpecError]:
    """The size of the spec."""
    return size_of(context.spec)


def engine_of(context: TableContext) -> Iterator[SpecError]:
    """The engine: not older than the one that last verified the table, unless the catalog allows that."""
    verified, name = verified_by(context.table.status), context.engine.id
    if verified is None or context.catalog.spec.allow_downgrade or not is_older(name, verified):
        return
    yield SpecError(
        "spec.engine",
        f"PaimonCatalog {context.catalog.metadata.name} has the engine {name}, which is older than {verified}, the "
        "engine that last verified the table, and may not read what that one wrote",
        f"Set the catalog's engine to {verified} again, or set allowDowngrade to true in the catalog.",
        reason=Reason.ENGINE_DOWNGRADE,
    )


def place_of(context: TableContext) -> Iterator[SpecError]:
    """The database: allowed by the catalog, and not reserved by Paimon."""
    database, allowed = context.spec.database, identity.allowed_databases(context.catalog)
    if database not in allowed:
        yield SpecError(
            "spec.database",
            f"PaimonCatalog {context.catalog.metadata.name} does not allow the database {database!r}",
            f"Use one of: {', '.join(allowed)}; or have it added to the catalog's allowedDatabases.",
            reason=Reason.DATABASE_NOT_ALLOWED,
        )
    if database.lower() == SYSTEM_DATABASE:
        yield SpecError("spec.database", "Paimon reserves the database 'sys'", "Use another database.")


def buckets_of(context: TableContext) -> Iterator[SpecError]:
    """Buckets: the bucket type fits the keys, and bucket keys are suitable columns."""
    bucket, keyed = context.spec.bucket, bool(context.spec.table_schema.primary_keys)
    if context.spec.external_writers is ExternalWriters.ACTIVE and not may_be_active(context.spec):
        yield SpecError(
            "spec.externalWriters",
            "buckets that grow with the keys allow one writer only",
            "Use bucket.type Fixed, or set externalWriters to None or Paused.",
        )
    if bucket is None:
        return
    if bucket.type is BucketType.DYNAMIC and not keyed:
        yield SpecError("spec.bucket.type", "Dynamic needs a primary key", "Use Unaware or Fixed, or set primaryKeys.")
    if bucket.type is BucketType.UNAWARE and keyed:
        yield SpecError("spec.bucket.type", "Unaware has no place for a primary key", "Use Dynamic or Fixed.")
    if bucket.type is BucketType.FIXED:
        yield from _fixed_buckets(context)


def _fixed_buckets(context: TableContext) -> Iterator[SpecError]:
    fixed = context.spec.bucket.fixed if context.spec.bucket else None
    schema = context.spec.table_schema
    if fixed is None:
        yield SpecError("spec.bucket.fixed", "type is Fixed and no count is given", "Set fixed.count.")
        return
    path = "spec.bucket.fixed.keys"
    active = context.spec.external_writers is ExternalWriters.ACTIVE
    if active and fixed.on_count_change is OnCountChange.RESCALE:
        yield SpecError(
            "spec.bucket.fixed.onCountChange",
            "a rescale loses the rows of other writers, and externalWriters is Active",
            "Set externalWriters to Paused while they are stopped, or onCountChange to Refuse.",
        )
    if not fixed.keys and not schema.primary_keys:
        yield SpecError(
            path, "a table without primary key needs bucket keys", "Name the columns whose hash picks the bucket."
        )
    yield from keys_of(context, fixed.keys, path, "bucket key")
    for key in fixed.keys:
        if key in schema.partition_keys:
            yield SpecError(path, f"{key!r} is a partition key, the same for all rows of a partition", "Leave it out.")
        elif schema.primary_keys and key not in schema.primary_keys:
            yield SpecError(path, f"{key!r} is not part of the primary key", "Use columns of the primary key only.")


def compaction_of(context: TableContext) -> Iterator[SpecError]:
    """The effective compaction, whether set by the table or inherited."""
    compaction = context.compaction
    if compaction.minor is not None and not context.engine.has_minor_compaction:
        yield SpecError(
            "spec.compaction.minor",
            f"the engine {context.engine.id} has no minor compaction",
            "Remove minor, or use a catalog with a newer engine.",
            reason=Reason.UNSUPPORTED_BY_ENGINE,
        )
    idle = compaction.partition_idle_time
    yield from units.too_long(idle, LONGEST_DURATION_D, field="spec.compaction.partitionIdleTime")
    for path, duration in _thresholds(compaction):
        yield from units.too_long(duration, LONGEST_DURATION_D, field=path)
    if compaction.partition_idle_time and not context.spec.table_schema.partition_keys:
        yield SpecError(
            "spec.compaction.partitionIdleTime", "the table has no partitions", "Remove it, or set partitionKeys."
        )


def _thresholds(compaction: Compaction) -> Iterator[tuple[str, str | None]]:
    """Thresholds that are durations."""
    minor = compaction.minor.when if compaction.minor is not None else None
    full = compaction.full.when if compaction.full is not None else None
    if minor is not None:
        yield "spec.compaction.minor.when.maxDelay", minor.max_delay
    if full is not None:
        yield "spec.compaction.full.when.maxDelay", full.max_delay
        yield "spec.compaction.full.when.fullCompactionAge", full.full_compaction_age


def schedules_of(context: TableContext) -> Iterator[SpecError]:
    """The time zone and all schedules."""
    try:
        schedule.time_zone(context.zone)
    except schedule.ScheduleError as error:
        yield SpecError("spec.timeZone", str(error), "Use an IANA name like Europe/Berlin, or UTC.")
        return
    for path, expression in _schedules(context):
        try:
            schedule.parse(expression, context.zone)
        except schedule.ScheduleError as error:
            yield SpecError(
                path, str(error), "Write minute, hour, day of month, month and day of week, like '0 3 * * *'."
            )


def _schedules(context: TableContext) -> Iterator[tuple[str, str]]:
    compaction, retention = context.compaction, context.effective.retention
    if compaction.minor is not None:
        yield "spec.compaction.minor.schedule", compaction.minor.schedule
    if compaction.full is not None:
        yield "spec.compaction.full.schedule", compaction.full.schedule
    if compaction.sort is not None:
        yield "spec.compaction.sort.schedule", compaction.sort.schedule
    if retention is not None and retention.snapshots is not None and retention.snapshots.schedule:
        yield "spec.retention.snapshots.schedule", retention.snapshots.schedule
    if retention is not None and retention.partitions is not None and retention.partitions.schedule:
        yield "spec.retention.partitions.schedule", retention.partitions.schedule
    if retention is not None and retention.orphan_files is not None and retention.orphan_files.schedule:
        yield "spec.retention.orphanFiles.schedule", retention.orphan_files.schedule
    marks = context.effective.mark_partitions_done
    if marks is not None and marks.schedule:
        yield f"{MARK_PARTITIONS_DONE}.schedule", marks.schedule
    for index, write in enumerate(context.spec.writes):
        if write.trigger.schedule is not None:
            yield f"spec.writes[{index}].trigger.schedule", write.trigger.schedule


RULES: Final[tuple[Callable[[TableContext], Iterator[SpecError]], ...]] = (
    spec_size_of,
    engine_of,
    table_shape,
    place_of,
    names_of,
    columns_of,
    buckets_of,
    merging_of,
    changelog_of,
    settings_of,
    defaults_of,
    typed_options_of,
    free_options_of,
    buffers_of,
    indexes_of,
    formats_of,
    compaction_of,
    sort_of,
    maintenance_of,
    retention_of,
    done_partitions_of,
    tags_of,
    writes_of,
    schedules_of,
    windows_of,
    deadline_of,
    spark_limits_of,
)
