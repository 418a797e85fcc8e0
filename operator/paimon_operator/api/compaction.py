"""Who compacts a table, and when."""

from __future__ import annotations

from enum import StrEnum

from paimon_operator.api.base import ApiModel, Cron, Duration, rule, validated


class CompactionMode(StrEnum):
    """Who compacts."""

    INLINE = "Inline"
    DEDICATED = "Dedicated"
    EXTERNAL = "External"


class CompactStrategy(StrEnum):
    """How thoroughly to compact."""

    MINOR = "Minor"
    FULL = "Full"


class ScheduledCompaction(ApiModel):
    """A compaction that runs on a schedule."""

    schedule: Cron
    """When it is due: five-field cron in the object's timeZone. A missed tick runs once."""


class Compaction(ApiModel):
    """Who compacts the table, and when."""

    model_config = validated(
        rule(
            "self.mode == 'Dedicated' || !has(self.minor)",
            "minor must not be set unless mode is Dedicated",
            path=".minor",
            reason="FieldValueForbidden",
        ),
        rule(
            "self.mode == 'Dedicated' || !has(self.full)",
            "full must not be set unless mode is Dedicated",
            path=".full",
            reason="FieldValueForbidden",
        ),
        rule(
            "self.mode == 'Dedicated' || !has(self.partitionIdleTime)",
            "partitionIdleTime must not be set unless mode is Dedicated",
            path=".partitionIdleTime",
            reason="FieldValueForbidden",
        ),
    )

    mode: CompactionMode
    """Inline: writers compact as they write. Dedicated: writers skip it and the operator runs it on a schedule.
    External: writers skip it and a job that is not the operator's does it."""
    minor: ScheduledCompaction | None = None
    """Merges few sorted runs at little cost. Not in Paimon 0.9."""
    full: ScheduledCompaction | None = None
    """Rewrites each bucket into one sorted run."""
    partition_idle_time: Duration | None = None
    """Only partitions without a new file for this long are compacted."""
