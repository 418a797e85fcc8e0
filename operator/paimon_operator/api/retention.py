"""Retention: snapshots, changelogs, consumers, partitions, records and files that are removed after some time."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import ApiModel, ColumnName, Cron, Duration, Positive, rule, validated

_FORBIDDEN: Final = "FieldValueForbidden"
LEAST_WITH_OTHER_WRITERS_D: Final = 2
"""Days. Paimon stores the time of a file without a time zone, up to 14 hours from that of the operator's runs."""

LEAST_ORPHAN_AGE_D: Final = 1
"""Days."""
DEFAULT_ORPHAN_AGE: Final = "3d"

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


class ChangelogRetention(ApiModel):
    """Changelogs to keep for streaming readers, longer than the snapshots that they belong to."""

    time_retained: Duration
    """Age up to which changelogs are kept. It must be longer than that of snapshots. Requires a changelog producer."""


class ConsumerRetention(ApiModel):
    """Consumers: positions of streaming readers. Snapshots that a consumer has not read yet never expire."""

    expiration_time: Duration
    """Time after its last progress after which a consumer is removed. Its reader then loses its position."""


TimestampPattern = Annotated[str, Field(pattern=r"^[ -~]*\$[A-Za-z_][ -~]*$", max_length=128)]
TimestampFormatter = Annotated[str, Field(pattern=r"^([yuMdDHmsS /:._,\[\]-]|'[^']*')+$", max_length=64)]


class PartitionStrategy(StrEnum):
    """What the time of a partition is."""

    VALUES_TIME = "ValuesTime"
    UPDATE_TIME = "UpdateTime"


class PartitionRetention(ApiModel):
    """Partitions to drop. Only runs of the operator drop them; it is no option of the table in Paimon."""

    model_config = validated(
        rule(
            "!has(self.timestampPattern) || !has(self.strategy) || self.strategy == 'ValuesTime'",
            "timestampPattern must not be set unless strategy is ValuesTime",
            path=".timestampPattern",
            reason=_FORBIDDEN,
        ),
        rule(
            "!has(self.timestampFormatter) || !has(self.strategy) || self.strategy == 'ValuesTime'",
            "timestampFormatter must not be set unless strategy is ValuesTime",
            path=".timestampFormatter",
            reason=_FORBIDDEN,
        ),
        rule(
            "!has(self.timestampFormatter) || (self.timestampFormatter.matches('[yu]')"
            " && self.timestampFormatter.matches('D|M.*d|d.*M'))",
            "timestampFormatter must read year, month and day: without them no partition ever expires",
            path=".timestampFormatter",
        ),
    )

    expiration_time: Duration
    """Age at which a partition is dropped, with all its rows. The snapshots before keep them until they expire."""
    strategy: PartitionStrategy | None = None
    """ValuesTime: the time in the values of the partition keys; of a day it is midnight. UpdateTime: the time of the
    partition's newest file, which a compaction renews; not with externalWriters Active, and with Paused
    expirationTime is at least 2d. Absent: ValuesTime."""
    timestamp_pattern: TimestampPattern | None = None
    """ValuesTime. Text with the time, in which $key is the value of a partition key: `$dt $hour:00:00`. Absent: the
    first partition key. The time is in the object's timeZone."""
    timestamp_formatter: TimestampFormatter | None = None
    """ValuesTime. How Java reads that text: yyyyMMdd. Letters: y or u, M, d, D, H, m, s, S, others in quotes. Absent:
    yyyy-MM-dd HH:mm:ss and yyyy-MM-dd."""
    schedule: Cron | None = None
    """Cron schedule, with five fields, in the object's timeZone. Absent: once a day, before full compactions."""


class OrphanFilesMode(StrEnum):
    """What happens with orphan files."""

    REPORT = "Report"
    DELETE = "Delete"


class OrphanFilesRetention(ApiModel):
    """Files in the table's directory that no snapshot, changelog, tag or branch needs: docs/orphan-files.md."""

    model_config = validated(
        rule(
            f"!has(self.olderThan) || self.olderThan >= duration('{24 * LEAST_ORPHAN_AGE_D}h')",
            f"olderThan must be at least {LEAST_ORPHAN_AGE_D}d: files of a running write are no orphans",
            path=".olderThan",
        ),
    )

    mode: OrphanFilesMode | None = None
    """Report: runs list orphan files in the warehouse. Delete: they also move away what two reports name that lie
    olderThan apart, and remove it for good after another olderThan. Absent: Report."""
    older_than: Duration | None = None
    """Least age of an orphan file, by the storage's time. At least 1d. Absent: 3d."""
    schedule: Cron | None = None
    """Cron schedule, with five fields, in the object's timeZone. Absent: once a week."""


class RecordRetention(ApiModel):
    """Records to remove. Compactions remove them, so that older records can still be read until then."""

    expire_time: Duration
    """Age at which a record is removed."""
    time_field: ColumnName
    """Column with the time of the record: INT in seconds; BIGINT in seconds or milliseconds; or a timestamp, which is
    read in UTC. A record without a time stays. With Paimon 0.9: INT NOT NULL. Requires primary keys."""


class Retention(ApiModel):
    """What is removed after some time. Each member replaces the catalog's default of that member."""

    model_config = validated(
        rule(
            "!has(self.changelogs) || !has(self.snapshots) || !has(self.snapshots.timeRetained)"
            " || self.changelogs.timeRetained > self.snapshots.timeRetained",
            "changelogs.timeRetained must be longer than snapshots.timeRetained: it has no effect otherwise",
            path=".changelogs.timeRetained",
        ),
    )

    snapshots: SnapshotRetention | None = None
    """Snapshots to keep."""
    changelogs: ChangelogRetention | None = None
    """Changelogs to keep longer than snapshots. Absent: a changelog expires with its snapshot."""
    consumers: ConsumerRetention | None = None
    """Consumers to remove. Absent: they stay, and with them all snapshots that they have not read."""
    partitions: PartitionRetention | None = None
    """Partitions to drop. Absent: none."""
    records: RecordRetention | None = None
    """Records to remove. Absent: none."""
    orphan_files: OrphanFilesRetention | None = None
    """Orphan files to report or remove. Absent: no run looks for them. A catalog can enforce its own block."""
