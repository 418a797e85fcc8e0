"""Marks of partitions that are done, for batch jobs that wait until all rows of a partition are there."""

from __future__ import annotations

from paimon_operator.api.base import ApiModel, Cron, Duration, rule, validated
from paimon_operator.api.retention import TimestampFormatter, TimestampPattern


class MarkPartitionsDone(ApiModel):
    """Partitions to mark as done, each with a file `_SUCCESS` in its directory. Only runs of the operator mark them."""

    model_config = validated(
        rule(
            "!has(self.timestampFormatter) || (self.timestampFormatter.matches('[yu]')"
            " && self.timestampFormatter.matches('D|M.*d|d.*M'))",
            "timestampFormatter must read year, month and day: without them no partition is ever done",
            path=".timestampFormatter",
        ),
    )

    time_interval: Duration
    """Length of a partition's time: 1d for partitions of days. A partition ends so long after its time."""
    idle_time: Duration
    """A partition is done when its end and its newest file are both longer ago than this. It must be longer than a
    load takes. Later files make the partition wait again, and then its mark is renewed."""
    timestamp_pattern: TimestampPattern | None = None
    """Text with the time, in which $key is the value of a partition key: `$dt $hour:00:00`. Absent: the first partition
    key. The time is in the object's timeZone."""
    timestamp_formatter: TimestampFormatter | None = None
    """How Java reads that text: yyyyMMdd. Letters: y or u, M, d, D, H, m, s, S, others in quotes. Absent:
    yyyy-MM-dd HH:mm:ss and yyyy-MM-dd."""
    schedule: Cron | None = None
    """Cron schedule, with five fields, in the object's timeZone. Absent: once an hour. maintenanceWindows do not apply
    to it."""
