"""Tags that Paimon creates and removes automatically."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from paimon_operator.api.base import ApiModel, Duration, Positive, rule, validated

_FORBIDDEN: Final = "FieldValueForbidden"


class TagCreation(StrEnum):
    """By what a tag is created."""

    PROCESS_TIME = "ProcessTime"
    WATERMARK = "Watermark"
    BATCH = "Batch"


class TagPeriod(StrEnum):
    """How often a tag is created."""

    DAILY = "Daily"
    HOURLY = "Hourly"
    TWO_HOURS = "TwoHours"


PERIOD_HOURS: Final = {TagPeriod.DAILY: 24, TagPeriod.HOURLY: 1, TagPeriod.TWO_HOURS: 2}
_PERIODS: Final = ", ".join(f"'{period.value}': duration('{hours}h')" for period, hours in PERIOD_HOURS.items())


class Tags(ApiModel):
    """Tags that keep snapshots from expiry, created automatically."""

    model_config = validated(
        *(
            rule(
                f"self.automaticCreation != 'Batch' || !has(self.{field})",
                f"{field} must not be set with automaticCreation Batch: {why}",
                path=f".{field}",
                reason=_FORBIDDEN,
            )
            for field, why in (
                ("creationPeriod", "each write replaces the tag of its day"),
                ("creationDelay", "each write replaces the tag of its day"),
                ("numRetainedMax", "Paimon would delete tags of users too. Use defaultTimeRetained"),
            )
        ),
        rule(
            "!has(self.creationDelay) || self.creationDelay <"
            f" {{{_PERIODS}}}[has(self.creationPeriod) ? self.creationPeriod : 'Daily']",
            "creationDelay must be shorter than the period",
            path=".creationDelay",
        ),
    )

    automatic_creation: TagCreation
    """ProcessTime: a tag per period, by the time of the commits, in UTC. Watermark: by the watermarks of other writers;
    those of the operator have none. Batch: each write of Spark replaces the tag of its day. Not with Paimon 0.9."""
    creation_period: TagPeriod | None = None
    """Daily, Hourly or TwoHours. The tag has the name of the period: 2026-11-25. Absent: Daily."""
    creation_delay: Duration | None = None
    """Time that passes after a period before its tag is created, for late data. Absent: none."""
    num_retained_max: Positive | None = None
    """Largest number of these tags. Absent: no limit. Tags of users do not count."""
    default_time_retained: Duration | None = None
    """Time after which a tag is removed: these tags, and tags of users without a time of their own. Absent: never."""
