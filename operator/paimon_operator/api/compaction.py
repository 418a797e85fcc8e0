"""Compaction of a table."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import ApiModel, ColumnName, Cron, Duration, PositivePercent, rule, validated


class CompactionMode(StrEnum):
    """Who compacts the table."""

    INLINE = "Inline"
    DEDICATED = "Dedicated"
    EXTERNAL = "External"


class CompactStrategy(StrEnum):
    """Strategy of a compaction."""

    MINOR = "Minor"
    FULL = "Full"
    SORT = "Sort"


class ClusteringOrder(StrEnum):
    """Order of the rows that a sort compaction makes."""

    ORDER = "Order"
    Z_ORDER = "ZOrder"
    HILBERT = "Hilbert"


class MinorThresholds(ApiModel):
    """What makes a minor compaction needed at a tick of its schedule. One threshold that is reached is enough."""

    sorted_runs_per_bucket: Annotated[int, Field(ge=2, le=1000, json_schema_extra={"format": "int32"})] | None = None
    """Sorted runs in one bucket of a table with primary key. Absent: 5 for minor, 2 for full."""
    small_files_per_partition: Annotated[int, Field(ge=2, le=1_000_000, json_schema_extra={"format": "int32"})] | (
        None
    ) = None
    """Small files in one partition, without those that are alone in their bucket. Absent: 5 for minor and 2 for full
    on a table without primary key, else they are no reason."""
    max_delay: Duration | None = None
    """Longest time since the last compaction while there is anything to merge. Absent: no limit."""


class FullThresholds(MinorThresholds):
    """What makes a full compaction needed at a tick of its schedule. One threshold that is reached is enough."""

    delete_ratio: PositivePercent | None = None
    """Deleted rows as a share of all rows, like 20%. Absent: they are no reason."""
    full_compaction_age: Duration | None = None
    """Age of the last full compaction while there is anything to merge. Absent: it is no reason."""


class MinorCompaction(ApiModel):
    """A minor compaction, which runs on a schedule where it is needed."""

    schedule: Cron
    """Cron schedule: five fields, in the object's timeZone. Missed ticks start one run."""
    when: MinorThresholds | None = None
    """What makes it needed. Absent: the defaults of the thresholds."""


class FullCompaction(ApiModel):
    """A full compaction, which runs on a schedule where it is needed."""

    schedule: Cron
    """Cron schedule: five fields, in the object's timeZone. Missed ticks start one run."""
    when: FullThresholds | None = None
    """What makes it needed. Absent: the defaults of the thresholds."""


class SortThresholds(ApiModel):
    """What makes a sort compaction needed at a tick of its schedule. One threshold that is reached is enough."""

    unsorted_files_per_partition: Annotated[int, Field(ge=1, le=1_000_000, json_schema_extra={"format": "int32"})] | (
        None
    ) = None
    """Files in one partition that no sort compaction has made. Absent: 5."""
    max_delay: Duration | None = None
    """Longest time since the last sort compaction while any file is unsorted. Absent: no limit."""


class SortCompaction(ApiModel):
    """A sort compaction, which runs on a schedule where it is needed. It merges small files, too."""

    model_config = validated(
        rule(
            "self.order != 'Hilbert' || self.columns.size() > 1",
            "order Hilbert needs at least two columns: use Order",
            path=".columns",
        ),
    )

    order: ClusteringOrder
    """Order: by the first column, then by the next. ZOrder and Hilbert: rows that are close in all columns lie close
    together."""
    columns: Annotated[
        tuple[ColumnName, ...], Field(min_length=1, max_length=8, json_schema_extra={"x-kubernetes-list-type": "set"})
    ]
    """Columns to sort by, the most important first. Not partition keys: they are the same in all rows of a partition.
    An edit of order or columns makes every partition unsorted."""
    schedule: Cron
    """Cron schedule: five fields, in the object's timeZone. Missed ticks start one run."""
    when: SortThresholds | None = None
    """What makes it needed. Absent: the defaults of the thresholds."""


_DEDICATED: Final = [
    rule(
        f"self.mode == 'Dedicated' || !has(self.{field})",
        f"{field} must not be set unless mode is Dedicated",
        path=f".{field}",
        reason="FieldValueForbidden",
    )
    for field in ("minor", "full", "partitionIdleTime")
]
_SORT: Final = [
    rule(
        "self.mode == 'Dedicated' || !has(self.sort)",
        "sort must not be set unless mode is Dedicated",
        path=".sort",
        reason="FieldValueForbidden",
    ),
    rule(
        "!has(self.sort) || (!has(self.minor) && !has(self.full))",
        "sort must not be set beside minor or full: it merges small files, too",
        path=".sort",
        reason="FieldValueForbidden",
    ),
]


class CompactionDefault(ApiModel):
    """Who compacts the tables that say nothing about it, and when."""

    model_config = validated(*_DEDICATED)

    mode: CompactionMode
    """Inline: writers compact as they write. Dedicated: writers do not compact; the operator does, on a schedule.
    External: writers do not compact; a job outside the operator does."""
    minor: MinorCompaction | None = None
    """Minor compaction: merges a few sorted runs at low cost. Not available with Paimon 0.9."""
    full: FullCompaction | None = None
    """Full compaction: rewrites each bucket into one sorted run."""
    partition_idle_time: Duration | None = None
    """The schedules compact only partitions that received no file for this long. A user's run compacts all."""


class Compaction(CompactionDefault):
    """Who compacts the table, and when."""

    model_config = validated(*_DEDICATED, *_SORT)

    sort: SortCompaction | None = None
    """Sort compaction: sorts rows so that readers skip more files. Only without primaryKeys, with bucket Unaware and
    without other writers. Not available with Paimon 0.9."""
