"""Retention and automatic tags as table options, so that writers and the operator apply the same rule.

The retention of partitions is no option: each writer would drop partitions then, in the time zone of its JVM and
outside of the schedule. The runs of the operator get it as parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from paimon_operator.api.retention import Retention, SnapshotRetention
from paimon_operator.api.table.effective import EffectiveRetention
from paimon_operator.api.tags import TagCreation, TagPeriod, Tags
from paimon_operator.api.units import paimon_duration

TAG_CREATIONS: Final = {
    TagCreation.PROCESS_TIME: "process-time",
    TagCreation.WATERMARK: "watermark",
    TagCreation.BATCH: "batch",
}
TAG_PERIODS: Final = {TagPeriod.DAILY: "daily", TagPeriod.HOURLY: "hourly", TagPeriod.TWO_HOURS: "two-hours"}
UNLIMITED: Final = str(2**31 - 1)
"""Paimon's default of both numRetainedMax."""

OptionTexts = Mapping[str, object]


def retention_options(block: Retention | EffectiveRetention | None) -> dict[str, str]:
    """The options of all members but `partitions`."""
    if block is None:
        return {}
    consumers, records = block.consumers, block.records
    return _given(
        {
            **_snapshots(block.snapshots),
            **_changelogs(block),
            "consumer.expiration-time": paimon_duration(consumers.expiration_time) if consumers else None,
            "record-level.expire-time": paimon_duration(records.expire_time) if records else None,
            "record-level.time-field": records.time_field if records else None,
        }
    )


def tag_options(tags: Tags | None) -> dict[str, str]:
    """The options of automatic tags."""
    if tags is None:
        return {}
    delay, kept = tags.creation_delay, tags.default_time_retained
    return _given(
        {
            "tag.automatic-creation": TAG_CREATIONS[tags.automatic_creation],
            "tag.creation-period": TAG_PERIODS[tags.creation_period] if tags.creation_period else None,
            "tag.creation-delay": paimon_duration(delay) if delay else None,
            "tag.num-retained-max": tags.num_retained_max,
            "tag.default-time-retained": paimon_duration(kept) if kept else None,
        }
    )


def _snapshots(block: SnapshotRetention | None) -> OptionTexts:
    if block is None:
        return {}
    return {
        "snapshot.time-retained": paimon_duration(block.time_retained) if block.time_retained else None,
        "snapshot.num-retained.min": block.num_retained_min,
        "snapshot.num-retained.max": block.num_retained_max,
    }


def _changelogs(block: Retention | EffectiveRetention) -> OptionTexts:
    """Their largest number is that of snapshots by default, and then they would not live longer than these."""
    if block.changelogs is None:
        return {}
    counted = block.snapshots is not None and block.snapshots.num_retained_max is not None
    return {
        "changelog.time-retained": paimon_duration(block.changelogs.time_retained),
        "changelog.num-retained.max": UNLIMITED if counted else None,
    }


def _given(texts: OptionTexts) -> dict[str, str]:
    return {key: str(value) for key, value in texts.items() if value is not None}
