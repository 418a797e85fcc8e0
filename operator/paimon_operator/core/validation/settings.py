"""Rules about settings that depend on each other: postponed buckets, deletion vectors, row kinds, changelog.

`api/table/setting_rules.py` has those in CEL that need neither types nor the engine nor the catalog.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from paimon_operator.api import units
from paimon_operator.api.base import LONGEST_DURATION_D
from paimon_operator.api.compaction import CompactionMode
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.columns import RETRACTING
from paimon_operator.api.table.options import LOOKUP_FIELDS
from paimon_operator.api.table.spec import BucketType, ChangelogProducerType, MergeEngine, MergeEngineType
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.validation.columns import column_types, missing_column
from paimon_operator.core.validation.merging import engine_type
from paimon_operator.errors import SpecError

_BUCKET: Final = "spec.bucket.type"
_ROW_KIND: Final = "spec.mergeEngine.rowKindField"
_UPSERT_KEY: Final = "upsert-key"
_TEXTS: Final = ("STRING", "VARCHAR", "CHAR")


def settings_of(context: TableContext) -> Iterator[SpecError]:
    """All settings of the table that depend on another field, the engine or the catalog."""
    yield from _postponed_buckets(context)
    yield from _deletion_vectors(context)
    yield from _row_kinds(context)
    yield from _deletes(context)
    yield from _changelog(context)
    schema = context.spec.table_schema
    if schema.primary_keys and _UPSERT_KEY in context.spec.options:
        yield SpecError(f"spec.options[{_UPSERT_KEY}]", "the table has a primary key", "Remove it.")
    if schema.partition_default_name is not None and not schema.partition_keys:
        yield SpecError(
            "spec.schema.partitionDefaultName", "the table has no partitions", "Remove it, or set partitionKeys."
        )


def producer_type(context: TableContext) -> ChangelogProducerType:
    """The changelog producer; None when the manifest names none."""
    producer = context.spec.changelog_producer
    return producer.type if producer else ChangelogProducerType.NONE


def _postponed_buckets(context: TableContext) -> Iterator[SpecError]:
    spec = context.spec
    if spec.bucket is None or spec.bucket.type is not BucketType.POSTPONE:
        return
    if not context.engine.has_postponed_buckets:
        yield SpecError(
            _BUCKET,
            f"the engine {context.engine.id} has no buckets of type Postpone",
            "Use Fixed or Dynamic, or a catalog with a newer engine.",
            reason=Reason.UNSUPPORTED_BY_ENGINE,
        )
    if not spec.table_schema.primary_keys:
        yield SpecError(_BUCKET, "Postpone needs a primary key", "Use Unaware or Fixed, or set primaryKeys.")
    if context.compaction.mode is CompactionMode.INLINE:
        yield SpecError(
            "spec.compaction.mode",
            "writers never compact the files of postponed buckets, and the mode is Inline",
            "Set compaction.mode to Dedicated, or to External if another job compacts.",
        )


def _deletion_vectors(context: TableContext) -> Iterator[SpecError]:
    path = "spec.deletionVectors.enabled"
    if not has_deletion_vectors(context):
        return
    if engine_type(context.spec) is MergeEngineType.FIRST_ROW:
        yield SpecError(path, "FirstRow replaces no rows, so that there is nothing to mark", "Remove deletionVectors.")
    if producer_type(context) is ChangelogProducerType.FULL_COMPACTION:
        yield SpecError(
            path, "Paimon has no deletion vectors with FullCompaction", "Use the changelog producer Lookup or Input."
        )


def has_deletion_vectors(context: TableContext) -> bool:
    """Whether the manifest has deletion vectors."""
    vectors = context.spec.deletion_vectors
    return vectors is not None and vectors.enabled


def _row_kinds(context: TableContext) -> Iterator[SpecError]:
    """The column that says what each row is: a text that is no key and is stored as it comes."""
    engine, spec = context.spec.merge_engine, context.spec
    if engine is None or engine.row_kind_field is None:
        return
    name = engine.row_kind_field
    column = next((each for each in spec.table_schema.columns if each.name == name), None)
    if column is None:
        yield missing_column(spec, name, _ROW_KIND)
        return
    known = column_types(spec).get(name)
    if known is not None and known.name not in _TEXTS:
        yield SpecError(_ROW_KIND, f"{name!r} is of type {known}, and Paimon reads a text", "Use a column of STRING.")
    if name in spec.table_schema.primary_keys:
        yield SpecError(
            _ROW_KIND, f"{name!r} is a primary key: a delete would have another key than its row", "Use another column."
        )
    if column.aggregate is not None or column.default_value is not None:
        yield SpecError(_ROW_KIND, f"{name!r} has an aggregate or a default value", "Remove it from the column.")


def _deletes(context: TableContext) -> Iterator[SpecError]:
    """Merge engines that fail at a delete, and settings for deletes that exclude each other."""
    engine = context.spec.merge_engine
    if engine is None:
        return
    if engine.row_kind_field is not None and _fails_at_deletes(engine):
        yield SpecError(
            _ROW_KIND,
            f"{engine.type} fails at the first delete",
            "Set ignoreDelete to true, or with PartialUpdate removeRecordOnDelete or sequence groups.",
        )
    partial = engine.partial_update
    if partial is not None and (partial.remove_record_on_delete or partial.remove_record_on_sequence_group):
        yield from _removing_rows(engine)
    yield from _removing_aggregates(context, engine)
    yield from _not_retracting(context, engine)


def _not_retracting(context: TableContext, engine: MergeEngine) -> Iterator[SpecError]:
    """Aggregates that fail at a delete that is neither ignored nor removes the row."""
    removes = engine.aggregation is not None and engine.aggregation.remove_record_on_delete
    if engine.row_kind_field is None or engine.ignore_delete or removes:
        return
    for index, column in enumerate(context.spec.table_schema.columns):
        aggregate = column.aggregate
        if aggregate is not None and not aggregate.ignore_retract and aggregate.function not in RETRACTING:
            yield SpecError(
                f"spec.schema.columns[{index}].aggregate",
                f"{aggregate.function} cannot retract, and rowKindField brings deletes",
                "Set ignoreRetract to true, or mergeEngine.ignoreDelete.",
            )


def _fails_at_deletes(engine: MergeEngine) -> bool:
    if engine.ignore_delete or engine.type not in (MergeEngineType.FIRST_ROW, MergeEngineType.PARTIAL_UPDATE):
        return False
    partial = engine.partial_update
    return partial is None or not (partial.remove_record_on_delete or partial.sequence_groups)


def _removing_rows(engine: MergeEngine) -> Iterator[SpecError]:
    partial, path = engine.partial_update, "spec.mergeEngine.partialUpdate"
    if partial is None:
        return
    if engine.ignore_delete:
        yield SpecError(
            "spec.mergeEngine.ignoreDelete", "deletes cannot be ignored and remove rows", "Remove one of the two."
        )
    if partial.remove_record_on_delete and partial.sequence_groups:
        yield SpecError(
            f"{path}.removeRecordOnDelete", "sequence groups exclude it", "Use removeRecordOnSequenceGroup instead."
        )
    ordering = {name for group in partial.sequence_groups for name in group.sequence_fields}
    for index, name in enumerate(partial.remove_record_on_sequence_group):
        if name not in ordering:
            yield SpecError(
                f"{path}.removeRecordOnSequenceGroup[{index}]",
                f"{name!r} is no sequence field of a group",
                f"Use one of: {', '.join(sorted(ordering)) or 'none yet, set sequenceGroups'}.",
            )


def _removing_aggregates(context: TableContext, engine: MergeEngine) -> Iterator[SpecError]:
    path = "spec.mergeEngine.aggregation"
    if engine.aggregation is None:
        return
    ignoring = [
        column.name
        for column in context.spec.table_schema.columns
        if column.aggregate is not None and column.aggregate.ignore_retract
    ]
    if engine.aggregation.remove_record_on_delete and ignoring:
        yield SpecError(
            f"{path}.removeRecordOnDelete",
            f"{ignoring[0]!r} ignores retracts, and the first write would fail",
            "Remove ignoreRetract from the columns, or removeRecordOnDelete.",
        )


def _changelog(context: TableContext) -> Iterator[SpecError]:
    """The lookup cache is set in one place, and writers that do not compact make no changelog by full compactions."""
    producer = context.spec.changelog_producer
    if producer is None:
        return
    if producer.lookup is not None:
        field = "spec.changelogProducer.lookup.cacheFileRetention"
        yield from units.too_long(producer.lookup.cache_file_retention, LONGEST_DURATION_D, field=field)
    if producer.type is ChangelogProducerType.LOOKUP:
        for key in context.spec.options.keys() & LOOKUP_FIELDS.keys():
            yield SpecError(
                f"spec.options[{key}]", f"{key} has a field of its own", f"Set {LOOKUP_FIELDS[key]} instead."
            )
    if producer.full_compaction is not None and producer.full_compaction.delta_commits is not None:
        yield from _delta_commits(context)


def _delta_commits(context: TableContext) -> Iterator[SpecError]:
    field = "spec.changelogProducer.fullCompaction.deltaCommits"
    if not context.engine.counts_delta_commits:
        yield SpecError(
            field,
            f"writers of the engine {context.engine.id} do not count commits, and make no changelog by them",
            "Remove it and set compaction.full.schedule, or use a catalog with a newer engine.",
            reason=Reason.UNSUPPORTED_BY_ENGINE,
        )
    if context.compaction.mode is not CompactionMode.INLINE:
        yield SpecError(
            field,
            f"with compaction.mode {context.compaction.mode} writers do not compact, and fail if they are to",
            "Remove it, and set compaction.full.schedule.",
        )
