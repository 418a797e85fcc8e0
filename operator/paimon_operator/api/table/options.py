"""Paimon options without a typed field, and the options that users must not set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import cel_list, rule, with_rules

OPTION_FIELDS: Final = {
    "bucket": "spec.bucket",
    "bucket-key": "spec.bucket.fixed.keys",
    "primary-key": "spec.schema.primaryKeys",
    "partition": "spec.schema.partitionKeys",
    "partition.default-name": "spec.schema.partitionDefaultName",
    "comment": "spec.schema.comment",
    "merge-engine": "spec.mergeEngine.type",
    "ignore-delete": "spec.mergeEngine.ignoreDelete",
    "partial-update.ignore-delete": "spec.mergeEngine.ignoreDelete",
    "first-row.ignore-delete": "spec.mergeEngine.ignoreDelete",
    "deduplicate.ignore-delete": "spec.mergeEngine.ignoreDelete",
    "ignore-update-before": "spec.mergeEngine.ignoreUpdateBefore",
    "rowkind.field": "spec.mergeEngine.rowKindField",
    "partial-update.remove-record-on-delete": "spec.mergeEngine.partialUpdate.removeRecordOnDelete",
    "partial-update.remove-record-on-sequence-group": "spec.mergeEngine.partialUpdate.removeRecordOnSequenceGroup",
    "aggregation.remove-record-on-delete": "spec.mergeEngine.aggregation.removeRecordOnDelete",
    "sequence.field": "spec.sequence.fields",
    "sequence.field.sort-order": "spec.sequence.sortOrder",
    "changelog-producer": "spec.changelogProducer.type",
    "changelog-producer.row-deduplicate": "spec.changelogProducer.rowDeduplicate",
    "full-compaction.delta-commits": "spec.changelogProducer.fullCompaction.deltaCommits",
    "deletion-vectors.enabled": "spec.deletionVectors.enabled",
    "write-only": "spec.compaction.mode",
    "write.compaction-skip": "spec.compaction.mode",
    "clustering.columns": "spec.compaction.sort.columns",
    "clustering.strategy": "spec.compaction.sort.order",
    "clustering.incremental": "spec.compaction.sort",
    "snapshot.time-retained": "spec.retention.snapshots.timeRetained",
    "snapshot.num-retained.min": "spec.retention.snapshots.numRetainedMin",
    "snapshot.num-retained.max": "spec.retention.snapshots.numRetainedMax",
    "changelog.time-retained": "spec.retention.changelogs.timeRetained",
    "changelog.num-retained.max": "spec.retention.changelogs.timeRetained",
    "consumer.expiration-time": "spec.retention.consumers.expirationTime",
    "partition.expiration-time": "spec.retention.partitions.expirationTime",
    "partition.expiration-strategy": "spec.retention.partitions.strategy",
    "partition.expiration-check-interval": "spec.retention.partitions.schedule",
    "partition.timestamp-pattern": "spec.retention.partitions.timestampPattern",
    "partition.timestamp-formatter": "spec.retention.partitions.timestampFormatter",
    "record-level.expire-time": "spec.retention.records.expireTime",
    "record-level.time-field": "spec.retention.records.timeField",
    "tag.automatic-creation": "spec.tags.automaticCreation",
    "tag.creation-period": "spec.tags.creationPeriod",
    "tag.creation-delay": "spec.tags.creationDelay",
    "tag.num-retained-max": "spec.tags.numRetainedMax",
    "tag.default-time-retained": "spec.tags.defaultTimeRetained",
}
"""Option key -> the typed field that sets it, fallback keys included."""

LOOKUP_FIELDS: Final = {
    "lookup.cache-max-memory-size": "spec.changelogProducer.lookup.cacheMaxMemorySize",
    "lookup.cache-max-disk-size": "spec.changelogProducer.lookup.cacheMaxDiskSize",
    "lookup.cache-file-retention": "spec.changelogProducer.lookup.cacheFileRetention",
}
"""The same for options that have a typed field only if changelogProducer.type is Lookup. Other tables look up too."""

_SIZES: Final = "an option of Flink; for Spark set spark.executor.instances and spark.executor.cores"
_FLINK: Final = "an option of Flink, which has no effect here; remove it"
_CODEC: Final = "an option of one format; set file.compression, which is checked, instead"
_LOG: Final = "an option of the log system, which left Paimon; set changelogProducer, and read the changelog"
_DONE: Final = (
    "an option of writers: Flink waits until a partition is complete, a batch of Spark marks it after each load, or"
    " never; set markPartitionsDone instead"
)
_DELTA_COMMITS: Final = "set changelogProducer.fullCompaction.deltaCommits, or compaction.full.schedule"

EXPLAINED_OPTIONS: Final = {
    "sink.parallelism": _SIZES,
    "scan.parallelism": _SIZES,
    "scan.infer-parallelism": _SIZES,
    "scan.infer-parallelism.max": _SIZES,
    "lookup.async": _FLINK,
    "lookup.async-thread-number": _FLINK,
    "lookup.cache": _FLINK,
    "precommit-compact": _FLINK,
    "changelog.precommit-compact": _FLINK,
    "write-mode": "an option of Paimon before 0.6: a table with primaryKeys merges, one without appends; remove it",
    "changelog-producer.compaction-interval": f"an option of Paimon before 0.9; {_DELTA_COMMITS}",
    "compaction.max-sorted-run-num": "an option of Paimon before 0.9; set num-sorted-run.compaction-trigger instead",
    "log.consistency": _LOG,
    "log.changelog-mode": _LOG,
    "log.key.format": _LOG,
    "log.format": _LOG,
    "log.retention": _LOG,
    "log.ignore-delete": "an option of the log system, which left Paimon; set mergeEngine.ignoreDelete instead",
    "log.scan.remove-normalize": _LOG,
    "log.system": _LOG,
    "log.system.partitions": _LOG,
    "log.system.replication": _LOG,
    "append-only.assert-disorder": "an option of Paimon before 0.9, which has no effect any more; remove it",
    "streaming-compact": "an option of Paimon before 0.9; set compaction.mode instead",
    "sequence.auto-padding": "an option of Paimon before 0.9; set sequence.fields to columns that order the rows",
    "sequence.snapshot-ordering": "an option of Paimon 2; set sequence.fields instead",
    "fields.default-aggregate-function": "a function for all columns; set schema.columns[].aggregate.function instead",
    "streaming-read-overwrite": "an option of streaming reads; set it where the table is read",
    "postpone.batch-write-fixed-bucket": "an option without which the newest row of a key can get lost; remove it",
    "partition.legacy-name": "an option that names partitions in another way than the operator reads; remove it",
    "changelog-producer.lookup-wait": "the older name of lookup-wait; set lookup-wait instead",
    "partition.mark-done-action": _DONE,
    "partition.mark-done-action.mode": _DONE,
    "partition.end-input-to-done": _DONE,
    "partition.idle-time-to-done": _DONE,
    "partition.time-interval": _DONE,
    "parquet.compression": _CODEC,
    "orc.compress": _CODEC,
}
"""Option of other engines, of old manuals or by an older name -> what it is; what to do."""

FLINK_PREFIXES: Final = (
    "sink.", "scan.watermark.", "scan.split-enumerator.", "lookup.bootstrap-", "lookup.dynamic-partition.",
    "lookup.refresh.", "log.", "source.checkpoint-align.", "source.operator-uid.", "unaware-bucket.",
)  # fmt: skip
"""Prefixes of options that only Flink reads, or read."""

FILE_INDEXES: Final = ("bloom-filter", "bitmap", "bsi", "range-bitmap")
"""Kinds of file indexes. The engine data lists those of each engine."""

COLUMN_PREFIX: Final = "fields."
"""Prefix of options of single columns. Their keys contain the column's name, so no list contains them."""
STATS_SUFFIX: Final = ".stats-mode"
"""End of the option of a column that has no typed field."""
_WITH_COLUMNS: Final = (COLUMN_PREFIX, "file-index.")
"""Prefixes of options whose keys contain names of columns, which may be words like path."""

RESERVED_OPTIONS: Final = (
    "data-file.prefix", "changelog-file.prefix", "snapshot.ignore-empty-commit", "type", "connector", "auto-create",
    "commit.user-prefix", "deletion-vectors.modifiable", "incremental-between", "lock.enabled", "consumer-id",
)  # fmt: skip
"""Options that the operator sets, that have no effect in a table, or that have no typed field yet."""

RESERVED_PREFIXES: Final = (
    "paimon-operator.", "scan.", "changelog.", "tag.", "partition.expiration", "partition.timestamp",
    "consumer.", "record-level.", "s3.", "fs.", "hadoop.", "spark.", "metastore.", "partition.mark-done",
    "snapshot.expire.", "global-index.", "blob-", "format-table.", "materialized-table.", "query-auth.",
    "parquet.encryption.", "parquet.crypto.", "orc.encrypt", "orc.mask", "orc.key.",
)  # fmt: skip
"""Prefixes of options for reads, the storage or the operator, or that delete or encrypt data as a side effect."""

RESERVED_WORDS: Final = r"(^|[.-])(paths?|url|uri|class|callbacks?|branch|external)([.-]|$)"
"""Words in the key of an option that names a path, code or another table. Tables must not set them: Paimon drops
external paths together with the table."""

ALLOWED_OPTIONS: Final = frozenset({
    "async-file-write", "bucket-append-ordered", "cache-page-size",
    "changelog-file.compression", "changelog-file.format", "changelog-file.stats-mode", "data-file.thin-mode",
    "force-lookup", "local-merge-buffer-size", "page-size", "target-file-size", "upsert-key",
})  # fmt: skip
ALLOWED_PREFIXES: Final = (
    "commit.max-", "commit.min-", "commit.timeout", "compaction.", "cross-partition-upsert.", "delete-file.",
    "deletion-vector.index-file.", "dynamic-bucket.", "file-index.", "file-operation.", "file-reader-", "file.",
    "local-sort.", "lookup-", "lookup.", "manifest.", "metadata.stats-", "num-", "orc.", "parquet.", "read.",
    "sort-engine", "sort-spill-", "source.split.", "spill-", "write-", "write.", "zorder.",
)  # fmt: skip
"""Prefixes of options that a manifest may set: how files are written, read, sorted and compacted. It is an allow-list,
because the next Paimon adds options that are not reviewed yet."""

ALLOWED_IN_WRITES: Final = (
    "async-file-write", "file.compression", "local-merge-buffer-size", "local-sort.", "page-size", "sort-spill-",
    "spill-", "target-file-size", "write-buffer-", "write-max-writers-to-spill", "write.batch-",
)  # fmt: skip
"""Prefixes of options that a single write may set: its memory and its files, nothing about the table."""


def allowed_in_table(key: str) -> bool:
    """Whether `spec.options` may set this Paimon option."""
    of_column = key.startswith(COLUMN_PREFIX) and key.endswith(STATS_SUFFIX)
    return of_column or key in ALLOWED_OPTIONS or key.startswith(ALLOWED_PREFIXES)


def allowed_in_write(key: str) -> bool:
    """Whether the options of a write may set this Paimon option."""
    return key.startswith(ALLOWED_IN_WRITES)


def names_a_place(key: str) -> bool:
    """Whether the key names a path, code or another table."""
    return not key.startswith(_WITH_COLUMNS) and re.search(RESERVED_WORDS, key) is not None


def belongs_elsewhere(key: str) -> bool:
    """Whether the option belongs to reads, the storage or the operator."""
    return key in RESERVED_OPTIONS or key.startswith(RESERVED_PREFIXES)


def may_be_proposed(key: str) -> bool:
    """Whether a manifest may ask for the option: by its typed field, or in `spec.options`."""
    free = allowed_in_table(key) and not belongs_elsewhere(key) and not names_a_place(key)
    return key in OPTION_FIELDS or (free and key not in EXPLAINED_OPTIONS)


def _mapped(words: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"'{key}': '{value}'" for key, value in words.items()) + "}"


_TYPED: Final = f"k in {cel_list(OPTION_FIELDS)}"
_RESERVED: Final = f"k in {cel_list(RESERVED_OPTIONS)}"
_EXPLAINED: Final = f"k in {cel_list(EXPLAINED_OPTIONS)}"
_OF_A_COLUMN: Final = f"k.startsWith('{COLUMN_PREFIX}') && !k.endsWith('{STATS_SUFFIX}')"
_OF_FLINK: Final = f"!({_EXPLAINED}) && {cel_list(FLINK_PREFIXES)}.exists(p, k.startsWith(p))"
_IN_A_FAMILY: Final = f"!({_TYPED}) && !({_EXPLAINED}) && {cel_list(RESERVED_PREFIXES)}.exists(p, k.startsWith(p))"
_NAMES_A_PLACE: Final = f"!{cel_list(_WITH_COLUMNS)}.exists(p, k.startsWith(p)) && k.matches('{RESERVED_WORDS}')"

OPTION_RULES: Final = [
    rule(
        f"self.all(k, !({_TYPED}))",
        "an option that has a typed field must be set there",
        reason="FieldValueForbidden",
        message_expression=f"'option ' + self.filter(k, {_TYPED})[0] + ' must be set by its typed field '"
        f" + {_mapped(OPTION_FIELDS)}[self.filter(k, {_TYPED})[0]]",
    ),
    rule(
        f"self.all(k, !({_EXPLAINED}))",
        "options of Flink or of old releases must not be set",
        reason="FieldValueForbidden",
        message_expression=f"'option ' + self.filter(k, {_EXPLAINED})[0] + ' must not be set, it is '"
        f" + {_mapped(EXPLAINED_OPTIONS)}[self.filter(k, {_EXPLAINED})[0]]",
    ),
    rule(
        f"self.all(k, !({_OF_FLINK}))",
        "options of Flink must not be set: they have no effect here",
        reason="FieldValueForbidden",
        message_expression=f"'option ' + self.filter(k, {_OF_FLINK})[0]"
        " + ' must not be set: it is an option of Flink, which has no effect here'",
    ),
    rule(
        f"self.all(k, !({_OF_A_COLUMN}))",
        "options of columns must be set by their typed fields: schema.columns[].aggregate,"
        " schema.columns[].defaultValue and mergeEngine.partialUpdate.sequenceGroups",
        reason="FieldValueForbidden",
    ),
    rule(
        f"self.all(k, !({_RESERVED}))",
        "options that the operator sets, or that have no effect in a table, must not be set",
        reason="FieldValueForbidden",
        message_expression=f"'option ' + self.filter(k, {_RESERVED})[0]"
        " + ' must not be set: the operator sets it, or it has no effect in a table'",
    ),
    rule(
        f"self.all(k, !({_IN_A_FAMILY}))",
        "options of reads, storage or the operator must not be set",
        reason="FieldValueForbidden",
        message_expression=f"'option ' + self.filter(k, {_IN_A_FAMILY})[0]"
        " + ' must not be set: it belongs to reads, the storage or the operator'",
    ),
    rule(
        f"self.all(k, !({_NAMES_A_PLACE}))",
        "options that name a path, code or another table must not be set",
        reason="FieldValueForbidden",
        message_expression=f"'option ' + self.filter(k, {_NAMES_A_PLACE})[0]"
        " + ' must not be set: it names a path, code or another table'",
    ),
    rule("self.all(k, k.size() <= 128)", "the key of an option must have at most 128 characters"),
]

Options = Annotated[
    dict[str, Annotated[str, Field(max_length=1024)]],
    Field(max_length=100, json_schema_extra=with_rules(*OPTION_RULES)),
]
"""Paimon's key -> value as text. Reconcile finds unknown keys with the engine data."""
