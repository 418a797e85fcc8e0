"""PaimonTable: the table as its owner wants it."""

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
from paimon_operator.api.policies import AdoptionPolicy, DeletionPolicy, ExternalWriters, RunPolicy
from paimon_operator.api.retention import Retention
from paimon_operator.api.spark import Spark
from paimon_operator.api.table.columns import TableSchema
from paimon_operator.api.table.options import Options
from paimon_operator.api.table.rules import ROOT_RULES, SPEC_RULES
from paimon_operator.api.table.status import TableStatus
from paimon_operator.api.table.writes import Write


class BucketType(StrEnum):
    """How rows are divided inside a partition."""

    FIXED = "Fixed"
    DYNAMIC = "Dynamic"
    UNAWARE = "Unaware"


class FixedBuckets(ApiModel):
    """A fixed number of buckets."""

    count: Annotated[int, Field(ge=1, le=65536, json_schema_extra={"format": "int32"})]
    """Buckets per partition; a compaction works on so many at once."""
    keys: Annotated[tuple[ColumnName, ...], Field(min_length=1, max_length=16)] = ()
    """Columns whose hash picks the bucket. Absent: the primary key. Without primary keys they must be named."""


class Bucket(ApiModel):
    """How rows are divided inside a partition."""

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
    """Fixed: a set number, by hash. Dynamic: grows with the keys; one writer only. Unaware: none, for append tables."""
    fixed: FixedBuckets | None = None
    """Set when type is Fixed."""


class MergeEngineType(StrEnum):
    """What becomes of rows with the same key."""

    DEDUPLICATE = "Deduplicate"
    PARTIAL_UPDATE = "PartialUpdate"
    AGGREGATION = "Aggregation"
    FIRST_ROW = "FirstRow"


class SequenceGroup(ApiModel):
    """Columns that are updated together, in the order of their own sequence fields."""

    sequence_fields: Annotated[tuple[ColumnName, ...], Field(min_length=1, max_length=8)]
    """Columns that say which row is newer."""
    columns: Annotated[tuple[ColumnName, ...], Field(min_length=1, max_length=128)]
    """Columns that follow them; no primary key, and none in two groups."""


class PartialUpdate(ApiModel):
    """Settings of PartialUpdate."""

    sequence_groups: Annotated[tuple[SequenceGroup, ...], Field(min_length=1, max_length=12)] = ()
    """Groups of columns with an order of their own."""


class MergeEngine(ApiModel):
    """What becomes of rows with the same key."""

    model_config = validated(
        rule(
            "self.type == 'PartialUpdate' || !has(self.partialUpdate)",
            "partialUpdate must not be set unless type is PartialUpdate",
            path=".partialUpdate",
            reason="FieldValueForbidden",
        )
    )

    type: MergeEngineType
    """Deduplicate: the last row stays. PartialUpdate: columns that are not null overwrite. Aggregation: each column by
    its function. FirstRow: the first row stays. Fixed once the table exists."""
    ignore_delete: bool | None = None
    """Ignore deletes; once true it cannot be turned back."""
    partial_update: PartialUpdate | None = None
    """Settings of PartialUpdate."""


class SortOrder(StrEnum):
    """Which end of a sequence is the newest."""

    ASCENDING = "Ascending"
    DESCENDING = "Descending"


class Sequence(ApiModel):
    """Which of two rows with the same key is the newer one. Fixed once the table exists."""

    fields: Annotated[tuple[ColumnName, ...], Field(min_length=1, max_length=8)]
    """Columns compared one after the other. Without a sequence, the row that was written last is the newer."""
    sort_order: SortOrder | None = None
    """Ascending (also when absent): the greater value is newer. Descending: the smaller one."""


class ChangelogProducerType(StrEnum):
    """How the changelog for streaming readers comes about."""

    NONE = "None"
    INPUT = "Input"
    LOOKUP = "Lookup"
    FULL_COMPACTION = "FullCompaction"


class FullCompactionProducer(ApiModel):
    """Settings of FullCompaction."""

    delta_commits: Positive | None = None
    """A full compaction, and with it changelog, after so many commits."""


class ChangelogProducer(ApiModel):
    """How the changelog for streaming readers comes about."""

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
    )

    type: ChangelogProducerType
    """None. Input: what writers wrote, unchanged. Lookup: made before each commit. FullCompaction: made when the table
    is compacted fully."""
    row_deduplicate: bool | None = None
    """Leave out changes that change nothing."""
    full_compaction: FullCompactionProducer | None = None
    """Settings of FullCompaction."""


class PaimonTableSpec(ApiModel):
    """The table as its owner wants it."""

    model_config = validated(*SPEC_RULES)

    catalog_ref: CatalogRef
    """The catalog that holds the table. Never changes."""
    database: Identifier
    """Database of the table, one of the catalog's allowedDatabases. Never changes."""
    table: Identifier | None = None
    """Name of the table in Paimon. Absent: the object's name with `-` as `_`. Never changes."""
    table_schema: Annotated[TableSchema, Field(alias="schema")]
    """Columns and keys."""
    bucket: Bucket | None = None
    """How rows are divided. Absent: Dynamic with a primary key, Unaware without."""
    merge_engine: MergeEngine | None = None
    """What becomes of rows with the same key. Absent: Deduplicate. Only with primary keys."""
    sequence: Sequence | None = None
    """Which of two rows with the same key is the newer one. Not with FirstRow, not with sequence groups."""
    changelog_producer: ChangelogProducer | None = None
    """How the changelog for streaming readers comes about. Absent: there is none. Only with primary keys."""
    compaction: Compaction | None = None
    """Who compacts, and when. Absent: the catalog's default, else Inline. Replaces the catalog's block whole."""
    retention: Retention | None = None
    """How long old states are kept. Each member replaces the catalog's default of that member."""
    writes: Annotated[tuple[Write, ...], Field(max_length=16, json_schema_extra=keyed_by("name"))] = ()
    """Data that the operator loads into the table."""
    external_writers: ExternalWriters = ExternalWriters.NONE
    """Does anyone but the operator commit to this table? None, Active, or Paused: they exist but are stopped now.

    A commit of others while it is not Active counts as Active until this field is edited."""
    options: Options = Field(default_factory=dict)
    """Other Paimon options, as text. A key with a typed field is refused."""
    adoption_policy: AdoptionPolicy = AdoptionPolicy.ADOPT_IF_IDENTICAL
    """What to do when the table exists already. Fail: touch nothing. AdoptIfIdentical: manage it if it is the same."""
    deletion_policy: DeletionPolicy = DeletionPolicy.RETAIN
    """What becomes of the data when this object is deleted. Retain: it stays. Delete: the table is dropped."""
    suspend: bool = False
    """True: nothing new starts for this table; running work ends; deletion works."""
    time_zone: TimeZone | None = None
    """Time zone of all schedules, an IANA name like Europe/Berlin. Absent: the catalog's, else UTC."""
    spark: Spark | None = None
    """Sizes of the Spark pods. Absent: the catalog's. An edit never starts a run."""
    run_policy: RunPolicy | None = None
    """How long runs may take, how often they are tried, how many are kept. Absent: the catalog's."""


class PaimonTable(ApiModel):
    """A Paimon table that the operator makes, fills, compacts and expires."""

    model_config = validated(*ROOT_RULES)

    api_version: Literal["paimon-operator.dev/v1alpha1"] = "paimon-operator.dev/v1alpha1"
    kind: Literal["PaimonTable"] = "PaimonTable"
    metadata: ObjectMeta
    spec: PaimonTableSpec
    """The table as its owner wants it."""
    status: TableStatus = TableStatus()
    """The table as the operator last saw it."""
