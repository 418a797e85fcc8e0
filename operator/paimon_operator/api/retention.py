"""How long old states of a table are kept."""

from __future__ import annotations

from paimon_operator.api.base import ApiModel, Cron, Duration, Positive, rule, validated


class SnapshotRetention(ApiModel):
    """Which snapshots are kept for time travel and slow readers."""

    model_config = validated(
        rule(
            "!has(self.numRetainedMin) || !has(self.numRetainedMax) || self.numRetainedMin <= self.numRetainedMax",
            "numRetainedMin must not exceed numRetainedMax",
            path=".numRetainedMin",
        ),
        rule(
            "has(self.numRetainedMin) || !has(self.numRetainedMax) || self.numRetainedMax >= 10",
            "numRetainedMax below 10 needs numRetainedMin, which Paimon takes to be 10",
            path=".numRetainedMax",
        ),
    )

    time_retained: Duration | None = None
    """Snapshots younger than this are kept. Paimon's default is 1h."""
    num_retained_min: Positive | None = None
    """At least so many snapshots are kept, however old. Paimon's default is 10."""
    num_retained_max: Positive | None = None
    """At most so many are kept, however young: it wins over timeRetained and breaks readers of older snapshots."""
    schedule: Cron | None = None
    """When the operator expires snapshots: five-field cron in the object's timeZone. Absent: only writers do."""


class Retention(ApiModel):
    """How long old states of the table are kept. Each member replaces the catalog's default of that member."""

    snapshots: SnapshotRetention | None = None
    """Which snapshots are kept."""
