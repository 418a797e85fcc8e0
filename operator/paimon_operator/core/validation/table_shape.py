"""Fields of a table's manifest that belong together or exclude each other.

The CRD has the same rules in CEL. They are repeated here because the API server may have stored the object under an
older CRD, and such an object must not reach Spark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from paimon_operator.api import units
from paimon_operator.api.base import LABEL
from paimon_operator.api.catalog.limits import SparkLimits
from paimon_operator.api.compaction import ClusteringOrder, Compaction, CompactionDefault, CompactionMode
from paimon_operator.api.spark import MAX_MEMORY, MIN_MEMORY, Spark
from paimon_operator.api.table.columns import Aggregate, AggregateFunction
from paimon_operator.api.table.spec import BucketType, ChangelogProducer, ChangelogProducerType, MergeEngineType
from paimon_operator.api.table.writes import Trigger, TriggerType
from paimon_operator.core.spec.context import TableContext
from paimon_operator.errors import SpecError

MAX_NAME: Final = 48
"""Longest name of a table or catalog: the names of its runs and Pods contain it."""
_NESTED: Final = (AggregateFunction.NESTED_UPDATE, AggregateFunction.NESTED_PARTIAL_UPDATE)
_LEAST_ON_HILBERT: Final = 2
"""Columns of a Hilbert curve."""
_DEDUPLICATING: Final = (ChangelogProducerType.LOOKUP, ChangelogProducerType.FULL_COMPACTION)


def table_shape(context: TableContext) -> Iterator[SpecError]:
    """Blocks that do not fit their `type` or `mode`, sizes out of bounds, and a name that is too long."""
    spec = context.spec
    yield from name_problems(context.table.metadata.name)
    bucket, engine = spec.bucket, spec.merge_engine
    if bucket is not None and bucket.fixed is not None and bucket.type is not BucketType.FIXED:
        yield _excluded("spec.bucket.fixed", "type is Fixed")
    if engine is not None and engine.partial_update is not None and engine.type is not MergeEngineType.PARTIAL_UPDATE:
        yield _excluded("spec.mergeEngine.partialUpdate", "type is PartialUpdate")
    if engine is not None and engine.aggregation is not None and engine.type is not MergeEngineType.AGGREGATION:
        yield _excluded("spec.mergeEngine.aggregation", "type is Aggregation")
    for index, column in enumerate(spec.table_schema.columns):
        yield from _aggregate_problems(column.aggregate, f"spec.schema.columns[{index}].aggregate")
    yield from _changelog_problems(spec.changelog_producer)
    yield from compaction_problems(spec.compaction, "spec.compaction")
    yield from _sort_problems(spec.compaction, "spec.compaction.sort")
    for index, write in enumerate(spec.writes):
        yield from _trigger_problems(write.trigger, f"spec.writes[{index}].trigger")
    yield from memory_problems(spec.spark)


def name_problems(name: str) -> Iterator[SpecError]:
    """An object's name that is too long, or no DNS label, for the names of its runs and Pods."""
    if len(name) > MAX_NAME or not re.fullmatch(LABEL, name):
        yield SpecError(
            "metadata.name",
            f"a name may have {MAX_NAME} lower-case letters, digits and dashes, and {name!r} does not fit",
            "Create the object again under another name.",
        )


def compaction_problems(compaction: CompactionDefault | None, path: str) -> Iterator[SpecError]:
    """Settings of scheduled compaction in a block whose mode is not Dedicated."""
    if compaction is None or compaction.mode is CompactionMode.DEDICATED:
        return
    given = {
        "minor": compaction.minor,
        "full": compaction.full,
        "partitionIdleTime": compaction.partition_idle_time,
    }
    yield from (_excluded(f"{path}.{field}", "mode is Dedicated") for field, value in given.items() if value)


def _sort_problems(compaction: Compaction | None, path: str) -> Iterator[SpecError]:
    sort = compaction.sort if compaction is not None else None
    if compaction is None or sort is None:
        return
    if compaction.mode is not CompactionMode.DEDICATED:
        yield _excluded(path, "mode is Dedicated")
    if compaction.minor is not None or compaction.full is not None:
        yield SpecError(path, "sort merges small files, too, and minor or full is set", "Remove minor and full.")
    if sort.order is ClusteringOrder.HILBERT and len(sort.columns) < _LEAST_ON_HILBERT:
        yield SpecError(f"{path}.columns", "order Hilbert needs at least two columns", "Use order Order.")


def memory_problems(spark: Spark | SparkLimits | None, path: str = "spec.spark") -> Iterator[SpecError]:
    """Memory of a driver or executor that is too small for a JVM, or larger than the API allows."""
    if spark is None:
        return
    sizes = {"driver": spark.driver, "executor": spark.executor}
    for member, size in sizes.items():
        if size is None or size.memory is None:
            continue
        if not units.mebibytes(MIN_MEMORY) <= units.mebibytes(size.memory) <= units.mebibytes(MAX_MEMORY):
            yield SpecError(
                f"{path}.{member}.memory",
                f"{size.memory} is not between {MIN_MEMORY} and {MAX_MEMORY}",
                f"Set a size from {MIN_MEMORY} to {MAX_MEMORY}: Spark needs 384Mi to 512Mi beside its heap.",
            )


def _aggregate_problems(aggregate: Aggregate | None, path: str) -> Iterator[SpecError]:
    if aggregate is None:
        return
    function = aggregate.function
    if aggregate.nested_key and function not in _NESTED:
        yield _excluded(f"{path}.nestedKey", "function is nested_update or nested_partial_update")
    if not aggregate.nested_key and function is AggregateFunction.NESTED_PARTIAL_UPDATE:
        yield _required(f"{path}.nestedKey", "function is nested_partial_update")
    if aggregate.count_limit is not None and function is not AggregateFunction.NESTED_UPDATE:
        yield _excluded(f"{path}.countLimit", "function is nested_update")


def _changelog_problems(producer: ChangelogProducer | None) -> Iterator[SpecError]:
    if producer is None:
        return
    if producer.full_compaction is not None and producer.type is not ChangelogProducerType.FULL_COMPACTION:
        yield _excluded("spec.changelogProducer.fullCompaction", "type is FullCompaction")
    if producer.lookup is not None and producer.type is not ChangelogProducerType.LOOKUP:
        yield _excluded("spec.changelogProducer.lookup", "type is Lookup")
    if producer.row_deduplicate is not None and producer.type not in _DEDUPLICATING:
        yield _excluded("spec.changelogProducer.rowDeduplicate", "type is Lookup or FullCompaction")


def _trigger_problems(trigger: Trigger, path: str) -> Iterator[SpecError]:
    scheduled = trigger.type is TriggerType.SCHEDULE
    if scheduled and trigger.schedule is None:
        yield _required(f"{path}.schedule", "type is Schedule")
    if not scheduled and trigger.schedule is not None:
        yield _excluded(f"{path}.schedule", "type is Schedule")


def _excluded(path: str, unless: str) -> SpecError:
    return SpecError(path, f"the field must not be set unless {unless}", "Remove the field.")


def _required(path: str, when: str) -> SpecError:
    return SpecError(path, f"the field must be set when {when}", "Set the field.")
