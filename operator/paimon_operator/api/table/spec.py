"""PaimonTable: the desired state of a table."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from paimon_operator.api.base import (
    ApiModel,
    CatalogRef,
    ColumnName,
    Identifier,
    ObjectMeta,
    Positive,
    TimeZone,
    keyed_by,
    rule,
    validated,
)
from paimon_operator.api.compaction import Compaction
from paimon_operator.api.mark_partitions_done import MarkPartitionsDone
from paimon_operator.api.policies import AdoptionPolicy, DeletionPolicy, DriftPolicy, ExternalWriters, RunPolicy
from paimon_operator.api.retention import Retention
from paimon_operator.api.spark import Spark
from paimon_operator.api.table.columns import TableSchema
from paimon_operator.api.table.maintenance import Maintenance
from paimon_operator.api.table.options import Options
from paimon_operator.api.table.rules import CATALOG_REF, DATABASE, ROOT_RULES, SPEC_RULES
from paimon_operator.api.table.settings import AggregationSettings, DeletionVectors, LookupProducer, PartialUpdate
from paimon_operator.api.table.status import TableStatus
from paimon_operator.api.table.writes import MAX_WRITES, Write
from paimon_operator.api.tags import Tags


class BucketType(StrEnum):
    """Bucketing: how the rows of a partition are divided."""

    FIXED = "Fixed"
    DYNAMIC = "Dynamic"
    POSTPONE = "Postpone"
    UNAWARE = "Unaware"


class OnCountChange(StrEnum):
    """What an edit of the number of buckets does to a table that exists."""

    REFUSE = "Refuse"
    RESCALE = "Rescale"


class FixedBuckets(ApiModel):
    """A fixed number of buckets."""

    count: Annotated[int, Field(ge=1, le=65536, json_schema_extra={"format": "int32"})]
    """Number of buckets per partition. A compaction processes up to this many in parallel."""
    keys: Annotated[tuple[ColumnName, ...], Field(min_length=1, max_length=16)] = ()
    """Columns whose hash selects the bucket. Absent: the primary key. Required without a primary key."""
    on_count_change: OnCountChange | None = None
    """Effect of an edit of count on a table that exists. Refuse: none, the table is Stalled. Rescale: runs rewrite the
    table, and all writes wait until they are complete. Absent: Refuse."""


class Bucket(ApiModel):
    """Bucketing: how the rows of a partition are divided."""

    model_config = validated(
        rule(
            "self.type != 'Fixed' || has(self.fixed)",
            "fixed must be set when type is Fixed",
            path=".fixed",
            reason="FieldValueRequired",
        ),
        rule(
            "self.type == 'Fixed' || !has(self.fixed)",
            "fixed must not be set unless type is Fixed",
            path=".fixed",
            reason="FieldValueForbidden",
        ),
    )

    type: BucketType
    """Fixed: a fixed number of buckets, by hash. Dynamic: the number grows with the keys, one writer only.
    Postpone: each partition gets its number with its first write, one writer only. Unaware: no buckets, for append
    tables."""
    fixed: FixedBuckets | None = None
    """Set when type is Fixed."""


class MergeEngineType(StrEnum):
    """How rows with the same key merge."""

    DEDUPLICATE = "Deduplicate"
    PARTIAL_UPDATE = "PartialUpdate"
    AGGREGATION = "Aggregation"
    FIRST_ROW = "FirstRow"


class MergeEngine(ApiModel):
    """How rows with the same key merge."""

    model_config = validated(
        rule(
            "self.type == 'PartialUpdate' || !has(self.partialUpdate)",
            "partialUpdate must not be set unless type is PartialUpdate",
            path=".partialUpdate",
            reason="FieldValueForbidden",
        ),
        rule(
            "self.type == 'Aggregation' || !has(self.aggregation)",
            "aggregation must not be set unless type is Aggregation",
            path=".aggregation",
            reason="FieldValueForbidden",
        ),
        rule(
            "!has(self.ignoreDelete) || !self.ignoreDelete || !has(self.partialUpdate)"
            " || ((!has(self.partialUpdate.removeRecordOnDelete) || !self.partialUpdate.removeRecordOnDelete)"
            " && !has(self.partialUpdate.removeRecordOnSequenceGroup))",
            "ignoreDelete must not be true when deletes remove the row",
            path=".ignoreDelete",
        ),
        rule(
            "!has(self.rowKindField) || !(self.type in ['PartialUpdate', 'FirstRow'])"
            " || (has(self.ignoreDelete) && self.ignoreDelete) || (has(self.partialUpdate)"
            " && (has(self.partialUpdate.sequenceGroups)"
            " || (has(self.partialUpdate.removeRecordOnDelete) && self.partialUpdate.removeRecordOnDelete)))",
            "with rowKindField FirstRow needs ignoreDelete, and PartialUpdate needs ignoreDelete,"
            " removeRecordOnDelete or sequence groups: it fails at deletes",
            path=".rowKindField",
        ),
    )

    type: MergeEngineType
    """Deduplicate: keeps the last row. PartialUpdate: columns that are not null overwrite. Aggregation: merges each
    column by its function. FirstRow: keeps the first row. Immutable once the table exists."""
    ignore_delete: bool | None = None
    """True: deletes are ignored. It cannot be set back to false."""
    ignore_update_before: bool | None = None
    """True: update-before records (-U) are ignored."""
    row_kind_field: ColumnName | None = None
    """Column of type STRING that says what each row is: +I or +U for an upsert, -D or -U for a delete. It must not be
    NULL. Absent: all rows are upserts. Immutable once the table exists."""
    partial_update: PartialUpdate | None = None
    """Settings of PartialUpdate."""
    aggregation: AggregationSettings | None = None
    """Settings of Aggregation."""


class SortOrder(StrEnum):
    """Order of a sequence."""

    ASCENDING = "Ascending"
    DESCENDING = "Descending"


class Sequence(ApiModel):
    """Sequence fields: they determine which of two rows with the same key is newer. Immutable once the table exists."""

    fields: Annotated[tuple[ColumnName, ...], Field(min_length=1, max_length=8)]
    """Columns that are compared in this order. Without a sequence, the row written last is newer."""
    sort_order: SortOrder | None = None
    """Ascending: the greater value is newer. Descending: the smaller value is newer. Absent: Ascending."""


class ChangelogProducerType(StrEnum):
    """How the changelog for streaming readers is produced."""

    NONE = "None"
    INPUT = "Input"
    LOOKUP = "Lookup"
    FULL_COMPACTION = "FullCompaction"


class FullCompactionProducer(ApiModel):
    """Settings of FullCompaction."""

    delta_commits: Positive | None = None
    """Number of commits after which a full compaction produces the changelog. Only where writers compact
    (compaction.mode Inline)."""


class ChangelogProducer(ApiModel):
    """How the changelog for streaming readers is produced."""

    model_config = validated(
        rule(
            "self.type == 'FullCompaction' || !has(self.fullCompaction)",
            "fullCompaction must not be set unless type is FullCompaction",
            path=".fullCompaction",
            reason="FieldValueForbidden",
        ),
        rule(
            "self.type in ['Lookup', 'FullCompaction'] || !has(self.rowDeduplicate)",
            "rowDeduplicate must not be set unless type is Lookup or FullCompaction",
            path=".rowDeduplicate",
            reason="FieldValueForbidden",
        ),
        rule(
            "self.type == 'Lookup' || !has(self.lookup)",
            "lookup must not be set unless type is Lookup",
            path=".lookup",
            reason="FieldValueForbidden",
        ),
    )

    type: ChangelogProducerType
    """None: no changelog. Input: the rows as written. Lookup: produced before each commit. FullCompaction: produced by
    full compactions."""
    row_deduplicate: bool | None = None
    """True: the changelog omits changes that leave the row equal."""
    lookup: LookupProducer | None = None
    """Settings of Lookup."""
    full_compaction: FullCompactionProducer | None = None
    """Settings of FullCompaction."""


class PaimonTableSpec(ApiModel):
    """Desired state of the table."""

    model_config = validated(*SPEC_RULES)

    catalog_ref: Annotated[CatalogRef, CATALOG_REF]
    """Catalog of the table. Immutable."""
    database: Annotated[Identifier, DATABASE]
    """Database of the table, one of the catalog's allowedDatabases. Immutable."""
    table: Identifier | None = None
    """Name of the table in Paimon. Absent: the name of the object with `_` for `-`. Immutable."""
    table_schema: Annotated[TableSchema, Field(alias="schema")]
    """Columns and keys of the table."""
    bucket: Bucket | None = None
    """Bucketing. Absent: Dynamic with a primary key, Unaware without."""
    merge_engine: MergeEngine | None = None
    """How rows with the same key merge. Absent: Deduplicate. Requires primary keys."""
    sequence: Sequence | None = None
    """Sequence fields: they determine which of two rows with the same key is newer. Excludes FirstRow and
    sequence groups."""
    changelog_producer: ChangelogProducer | None = None
    """How the changelog for streaming readers is produced. Absent: no changelog. Requires primary keys."""
    deletion_vectors: DeletionVectors | None = None
    """Deletion vectors. Absent: none."""
    compaction: Compaction | None = None
    """Who compacts the table, and when. Absent: the catalog's default, else Inline. It replaces the catalog's whole
    block."""
    maintenance: Maintenance | None = None
    """Verification of maintenance: the proof that a compaction has changed no row. Absent: none."""
    retention: Retention | None = None
    """What is removed after some time. Each member replaces the catalog's default of that member."""
    mark_partitions_done: MarkPartitionsDone | None = None
    """Partitions to mark as done for batch jobs that wait for them. Absent: none."""
    tags: Tags | None = None
    """Tags that are created automatically. Absent: the catalog's default, else none. It replaces the catalog's whole
    block."""
    writes: Annotated[tuple[Write, ...], Field(max_length=MAX_WRITES, json_schema_extra=keyed_by("name"))] = ()
    """Writes: data that the operator loads into the table."""
    external_writers: ExternalWriters = ExternalWriters.NONE
    """Whether writers other than the operator commit to this table. None: there are none. Active: they commit. Paused:
    they exist but are stopped.

    A foreign commit while the value is not Active counts as Active until this field is edited."""
    options: Options = Field(default_factory=dict)
    """Other Paimon options, as text. An option that has a typed field is rejected."""
    adoption_policy: AdoptionPolicy = AdoptionPolicy.ADOPT_IF_IDENTICAL
    """What the operator does when the table already exists. Fail: nothing. AdoptIfIdentical: it manages the table if it
    matches the spec and has no other owner. Adopt: it also takes the table from an owner that is gone or is in another
    cluster."""
    drift_policy: DriftPolicy = DriftPolicy.REPORT
    """What the operator does about columns, options and comments that somebody else has changed. Report: it shows them
    in the condition Drifted. Correct: it also takes back what is legal and changes metadata only, at most three
    times an hour."""
    deletion_policy: DeletionPolicy = DeletionPolicy.RETAIN
    """Fate of the data when this object is deleted. Retain: the table stays. Delete: the table is dropped."""
    suspend: bool = False
    """True: no new run starts for this table. An active run finishes, and deletion works."""
    time_zone: TimeZone | None = None
    """Time zone of all schedules, an IANA name like Europe/Berlin. Absent: the catalog's, else UTC."""
    spark: Spark | None = None
    """Mode and sizes of the Spark Pods. Absent: the catalog's. An edit starts no run."""
    run_policy: RunPolicy | None = None
    """Deadline, retries and history of runs. Absent: the catalog's."""


class PaimonTable(ApiModel):
    """A Paimon table that the operator creates, loads, compacts and expires."""

    model_config = validated(*ROOT_RULES)

    api_version: Literal["paimon-operator.dev/v1alpha1"] = "paimon-operator.dev/v1alpha1"
    kind: Literal["PaimonTable"] = "PaimonTable"
    metadata: ObjectMeta
    spec: PaimonTableSpec
    """Desired state of the table."""
    status: TableStatus = TableStatus()
    """State of the table at the last reconcile."""
