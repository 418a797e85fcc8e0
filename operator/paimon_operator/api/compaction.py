"""Compaction of a table."""

from __future__ import annotations

from enum import StrEnum

from paimon_operator.api.base import ApiModel, Cron, Duration, rule, validated


class CompactionMode(StrEnum):
    """Who compacts the table."""

    INLINE = "Inline"
    DEDICATED = "Dedicated"
    EXTERNAL = "External"


class CompactStrategy(StrEnum):
    """Strategy of a compaction."""

    MINOR = "Minor"
    FULL = "Full"


class ScheduledCompaction(ApiModel):
    """A compaction that runs on a schedule."""

    schedule: Cron
    """Cron schedule: five fields, in the object's timeZone. Missed ticks start one run."""


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
    """Inline: writers compact as they write. Dedicated: writers do not compact; the operator does, on a schedule.
    External: writers do not compact; a job outside the operator does."""
    minor: ScheduledCompaction | None = None
    """Minor compaction: merges a few sorted runs at low cost. Not available with Paimon 0.9."""
    full: ScheduledCompaction | None = None
    """Full compaction: rewrites each bucket into one sorted run."""
    partition_idle_time: Duration | None = None
    """The schedules compact only partitions that received no file for this long. A user's run compacts all."""
