"""The Paimon table options of a manifest: those of the typed fields, and the free options unchanged.

Only values that differ from Paimon's default are written, so that a table created by hand equals one created by the
operator. The only exception is `bucket`, whose default differs between versions of Paimon. The Spark side adds the
owner mark (`paimon-operator.owner`), which no manifest contains.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from paimon_operator.api.compaction import ClusteringOrder
from paimon_operator.api.table.columns import Aggregate, Column
from paimon_operator.api.table.effective import Effective, EffectiveCompaction
from paimon_operator.api.table.options import LOOKUP_FIELDS, OPTION_FIELDS
from paimon_operator.api.table.settings import LookupProducer
from paimon_operator.api.table.spec import (
    BucketType,
    ChangelogProducerType,
    MergeEngine,
    MergeEngineType,
    PaimonTableSpec,
    SortOrder,
)
from paimon_operator.api.units import mebibytes, paimon_duration
from paimon_operator.core.spec.effective import WRITE_ONLY_MODES
from paimon_operator.core.spec.retention_options import retention_options, tag_options

AUTOMATIC_BUCKETS: Final = "-1"
"""Means dynamic buckets with a primary key, and unaware buckets without."""

MERGE_ENGINES: Final = {
    MergeEngineType.DEDUPLICATE: "deduplicate",
    MergeEngineType.PARTIAL_UPDATE: "partial-update",
    MergeEngineType.AGGREGATION: "aggregation",
    MergeEngineType.FIRST_ROW: "first-row",
}
CHANGELOG_PRODUCERS: Final = {
    ChangelogProducerType.NONE: "none",
    ChangelogProducerType.INPUT: "input",
    ChangelogProducerType.LOOKUP: "lookup",
    ChangelogProducerType.FULL_COMPACTION: "full-compaction",
}
CLUSTERING_ORDERS: Final = {
    ClusteringOrder.ORDER: "order",
    ClusteringOrder.Z_ORDER: "zorder",
    ClusteringOrder.HILBERT: "hilbert",
}
CLUSTERING_COLUMNS: Final = "clustering.columns"
CLUSTERING_STRATEGY: Final = "clustering.strategy"
CLUSTERING: Final = "clustering.incremental"
TRUE: Final = "true"
POSTPONE_BUCKET: Final = "-2"
"""Means that the first write into a partition sets its number of buckets."""

_AGGREGATE_FIELDS: Final = {
    "aggregate-function": "function",
    "ignore-retract": "ignoreRetract",
    "list-agg-delimiter": "delimiter",
    "distinct": "distinct",
    "nested-key": "nestedKey",
    "count-limit": "countLimit",
}
"""Last part of a column's option -> the member of `aggregate` that sets it."""


def table_options(spec: PaimonTableSpec, effective: Effective) -> dict[str, str]:
    """All options of the desired table, sorted by key."""
    wanted = dict(spec.options)
    for part in (_buckets, _merging, _changelog, _settings):
        wanted.update(part(spec))
    wanted.update(_columns(spec))
    wanted.update(_maintenance(effective))
    return dict(sorted(wanted.items()))


def field_of_option(key: str) -> str:
    """The field of the manifest that sets this option of Paimon."""
    family, _, rest = key.partition(".")
    names, _, last = rest.rpartition(".")
    if family == "fields" and last == "sequence-group":
        return "spec.mergeEngine.partialUpdate.sequenceGroups"
    if family == "fields" and last in _AGGREGATE_FIELDS:
        return f"spec.schema.columns[{names}].aggregate.{_AGGREGATE_FIELDS[last]}"
    if family == "fields" and last == "default-value":
        return f"spec.schema.columns[{names}].defaultValue"
    return OPTION_FIELDS.get(key, f"spec.options[{key}]")


def _buckets(spec: PaimonTableSpec) -> Mapping[str, str]:
    bucket = spec.bucket
    if bucket is not None and bucket.type is BucketType.POSTPONE:
        return {"bucket": POSTPONE_BUCKET}
    if bucket is None or bucket.type is not BucketType.FIXED or bucket.fixed is None:
        return {"bucket": AUTOMATIC_BUCKETS}
    keys = {"bucket-key": ",".join(bucket.fixed.keys)} if bucket.fixed.keys else {}
    return {"bucket": str(bucket.fixed.count), **keys}


def _merging(spec: PaimonTableSpec) -> Iterator[tuple[str, str]]:
    engine, sequence = spec.merge_engine, spec.sequence
    if engine is not None and engine.type is not MergeEngineType.DEDUPLICATE:
        yield "merge-engine", MERGE_ENGINES[engine.type]
    if engine is not None:
        yield from _merge_settings(engine)
    if sequence is not None:
        yield "sequence.field", ",".join(sequence.fields)
    if sequence is not None and sequence.sort_order is SortOrder.DESCENDING:
        yield "sequence.field.sort-order", "descending"


def _merge_settings(engine: MergeEngine) -> Iterator[tuple[str, str]]:
    partial, aggregation = engine.partial_update, engine.aggregation
    switches = {
        "ignore-delete": engine.ignore_delete,
        "ignore-update-before": engine.ignore_update_before,
        "partial-update.remove-record-on-delete": partial and partial.remove_record_on_delete,
        "aggregation.remove-record-on-delete": aggregation and aggregation.remove_record_on_delete,
    }
    yield from ((key, TRUE) for key, on in switches.items() if on)
    if engine.row_kind_field is not None:
        yield "rowkind.field", engine.row_kind_field
    if partial is None:
        return
    if partial.remove_record_on_sequence_group:
        yield "partial-update.remove-record-on-sequence-group", ",".join(partial.remove_record_on_sequence_group)
    for group in partial.sequence_groups:
        yield f"fields.{','.join(group.sequence_fields)}.sequence-group", ",".join(group.columns)


def _settings(spec: PaimonTableSpec) -> Iterator[tuple[str, str]]:
    if spec.deletion_vectors is not None and spec.deletion_vectors.enabled:
        yield "deletion-vectors.enabled", TRUE
    if spec.table_schema.partition_default_name is not None:
        yield "partition.default-name", spec.table_schema.partition_default_name


def _changelog(spec: PaimonTableSpec) -> Iterator[tuple[str, str]]:
    producer = spec.changelog_producer
    if producer is None or producer.type is ChangelogProducerType.NONE:
        return
    yield "changelog-producer", CHANGELOG_PRODUCERS[producer.type]
    if producer.row_deduplicate:
        yield "changelog-producer.row-deduplicate", TRUE
    if producer.full_compaction is not None and producer.full_compaction.delta_commits is not None:
        yield "full-compaction.delta-commits", str(producer.full_compaction.delta_commits)
    if producer.lookup is not None:
        yield from _lookup_cache(producer.lookup)


def _lookup_cache(lookup: LookupProducer) -> Iterator[tuple[str, str]]:
    sizes = {
        "lookup.cache-max-memory-size": lookup.cache_max_memory_size,
        "lookup.cache-max-disk-size": lookup.cache_max_disk_size,
    }
    yield from ((key, f"{mebibytes(size, field=LOOKUP_FIELDS[key])} mb") for key, size in sizes.items() if size)
    if lookup.cache_file_retention is not None:
        yield "lookup.cache-file-retention", paimon_duration(lookup.cache_file_retention)


def _columns(spec: PaimonTableSpec) -> Iterator[tuple[str, str]]:
    for column in spec.table_schema.columns:
        if column.aggregate is not None:
            yield from _aggregate(column, column.aggregate)


def _aggregate(column: Column, aggregate: Aggregate) -> Iterator[tuple[str, str]]:
    prefix = f"fields.{column.name}"
    yield f"{prefix}.aggregate-function", aggregate.function.value
    if aggregate.ignore_retract:
        yield f"{prefix}.ignore-retract", TRUE
    if aggregate.delimiter is not None:
        yield f"{prefix}.list-agg-delimiter", aggregate.delimiter
    if aggregate.distinct:
        yield f"{prefix}.distinct", TRUE
    if aggregate.nested_key:
        yield f"{prefix}.nested-key", ",".join(aggregate.nested_key)
    if aggregate.count_limit is not None:
        yield f"{prefix}.count-limit", str(aggregate.count_limit)


def _maintenance(effective: Effective) -> dict[str, str]:
    write_only = effective.compaction is not None and effective.compaction.mode in WRITE_ONLY_MODES
    return {
        **({"write-only": TRUE} if write_only else {}),
        **_clustering(effective.compaction),
        **retention_options(effective.retention),
        **tag_options(effective.tags),
    }


def _clustering(compaction: EffectiveCompaction | None) -> dict[str, str]:
    """Options by which the engine's compaction clusters. Writers do not sort: that is the operator's part."""
    sort = compaction.sort if compaction is not None else None
    if sort is None:
        return {}
    return {
        CLUSTERING_COLUMNS: ",".join(sort.columns),
        CLUSTERING_STRATEGY: CLUSTERING_ORDERS[sort.order],
        CLUSTERING: TRUE,
    }
