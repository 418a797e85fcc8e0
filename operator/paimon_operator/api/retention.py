"""Retention of old snapshots."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.base import ApiModel, Cron, Duration, Positive, rule, validated

DEFAULT_TIME_RETAINED: Final = "1h"
"""Paimon's default of snapshot.time-retained."""
DEFAULT_NUM_RETAINED_MIN: Final = 10
"""Paimon's default of snapshot.num-retained.min."""


class SnapshotRetention(ApiModel):
    """Snapshots to keep for time travel and slow readers."""

    model_config = validated(
        rule(
            "!has(self.numRetainedMin) || !has(self.numRetainedMax) || self.numRetainedMin <= self.numRetainedMax",
            "numRetainedMin must not exceed numRetainedMax",
            path=".numRetainedMin",
        ),
        rule(
            "has(self.numRetainedMin) || !has(self.numRetainedMax) || self.numRetainedMax >= 10",
            "numRetainedMax below 10 needs numRetainedMin: its default in Paimon is 10",
            path=".numRetainedMax",
        ),
    )

    time_retained: Duration | None = None
    """Age up to which snapshots are kept. Paimon's default is 1h."""
    num_retained_min: Positive | None = None
    """Smallest number of snapshots to keep, whatever their age. Paimon's default is 10."""
    num_retained_max: Positive | None = None
    """Largest number of snapshots to keep, whatever their age. It overrides timeRetained and breaks readers of older
    snapshots."""
    schedule: Cron | None = None
    """Cron schedule of snapshot expiry, with five fields, in the object's timeZone. Absent: only writers expire
    snapshots."""


class Retention(ApiModel):
    """Retention of old snapshots. Each member replaces the catalog's default of that member."""

    snapshots: SnapshotRetention | None = None
    """Snapshots to keep."""
