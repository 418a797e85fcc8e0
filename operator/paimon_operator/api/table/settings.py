"""Settings of the table that are blocks of their own or members of a `type`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from paimon_operator.api.base import ApiModel, ColumnName, Duration, Memory, rule, validated


class DeletionVectors(ApiModel):
    """Deletion vectors: files that mark the deleted rows of other files, so that readers need not merge."""

    enabled: bool
    """True: a compaction marks replaced rows in place of merging them at every read. New rows are visible once they
    are compacted. Immutable once the table exists. Excludes FirstRow and FullCompaction."""


class LookupProducer(ApiModel):
    """Settings of Lookup: the cache in which a writer looks up the row before a change."""

    cache_max_memory_size: Memory | None = None
    """Largest size of the cache in the memory of a writer. Absent: 256Mi."""
    cache_max_disk_size: Memory | None = None
    """Largest size of the cache on the local disk of a writer. Absent: no limit."""
    cache_file_retention: Duration | None = None
    """Time after its last use after which a file of the cache is deleted. Absent: 1h."""


class AggregationSettings(ApiModel):
    """Settings of Aggregation."""

    remove_record_on_delete: bool | None = None
    """True: a delete removes the row. Absent: the aggregate function of each column retracts the row's values.
    Immutable once the table exists."""


class SequenceGroup(ApiModel):
    """Columns that are updated together, ordered by the sequence fields of the group."""

    sequence_fields: Annotated[tuple[ColumnName, ...], Field(min_length=1, max_length=8)]
    """Columns that determine which row is newer."""
    columns: Annotated[tuple[ColumnName, ...], Field(min_length=1, max_length=128)]
    """Columns of the group. A primary key must not be in a group, and a column must not be in two groups."""


class PartialUpdate(ApiModel):
    """Settings of PartialUpdate."""

    model_config = validated(
        rule(
            "!has(self.removeRecordOnDelete) || !self.removeRecordOnDelete || !has(self.sequenceGroups)",
            "removeRecordOnDelete must not be true with sequence groups: use removeRecordOnSequenceGroup",
            path=".removeRecordOnDelete",
            reason="FieldValueForbidden",
        ),
        rule(
            "!has(self.removeRecordOnSequenceGroup) || (has(self.sequenceGroups)"
            " && self.removeRecordOnSequenceGroup.all(f, self.sequenceGroups.exists(g, f in g.sequenceFields)))",
            "removeRecordOnSequenceGroup must name sequence fields of sequence groups",
            path=".removeRecordOnSequenceGroup",
        ),
    )

    sequence_groups: Annotated[tuple[SequenceGroup, ...], Field(min_length=1, max_length=12)] = ()
    """Groups of columns, each with its own sequence fields."""
    remove_record_on_delete: bool | None = None
    """True: a delete removes the row. Immutable once the table exists. Excludes ignoreDelete and sequence groups."""
    remove_record_on_sequence_group: Annotated[tuple[ColumnName, ...], Field(min_length=1, max_length=12)] = ()
    """Sequence fields of groups: a delete that is newer in one of these groups removes the row. Immutable once the
    table exists."""
