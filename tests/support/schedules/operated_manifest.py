"""The PaimonTable of a kind of table, and when what its maintenance removes or marks is due."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from paimon_engines.engine import Engine
from tests.support.schedules.kind_manifest import base_spec
from tests.support.schedules.kinds import TableKind

START: Final = datetime(2036, 11, 21, 8, tzinfo=UTC)
"""When the clock of a schedule begins: later than that of any JVM, for which nothing is old but what Ages says."""
KEPT: Final = 3
"""Snapshots that the table's retention keeps."""
TAGS_KEPT: Final = 2
"""Automatic tags that it keeps."""
TAG_AGE: Final = timedelta(hours=60, minutes=30)
CONSUMER_AGE: Final = timedelta(hours=40, minutes=30)
CHANGELOG_AGE: Final = timedelta(hours=30, minutes=30)
"""The hours of the schedules are whole, so nothing is as old as its limit."""
PARTITION_AGE: Final = timedelta(days=14)
PARTITION_LENGTH: Final = timedelta(days=7)
IDLE: Final = timedelta(hours=128, minutes=30)
_PARTITION_DAY: Final = "2036-1{}-10"
"""The day of a partition, by its number. One is due from the start, the next one after 64 hours, the last one never.
The first one is done from the start, the next one after 25 hours, the last one never."""


def is_due(partition: int, now_ms: int) -> bool:
    """Whether the partition has expired at that time."""
    return _day(partition) + PARTITION_AGE < datetime.fromtimestamp(now_ms / 1000, UTC)


def is_done(partition: int, now_ms: int) -> bool:
    """Whether the partition is done at that time. For the clock of the JVM all its files are old enough."""
    return _day(partition) + PARTITION_LENGTH + IDLE < datetime.fromtimestamp(now_ms / 1000, UTC)


def _day(partition: int) -> datetime:
    return datetime.fromisoformat(_PARTITION_DAY.format(partition)).replace(tzinfo=UTC)


def _minutes(length: timedelta) -> str:
    return f"{length // timedelta(minutes=1)}m"


@dataclass(frozen=True)
class Manifest:
    """The PaimonTable of a kind of table, while others write or are paused."""

    kind: TableKind
    engine: Engine
    paused: bool = False

    @property
    def is_sorted(self) -> bool:
        """Whether its compactions sort: not beside others that write."""
        return self.kind.sorted and self.paused and self.engine.has_incremental_clustering

    @property
    def spec(self) -> dict[str, Any]:
        """The spec, without the catalog and the database."""
        return {
            **base_spec(self.kind),
            "externalWriters": "Paused" if self.paused else "Active",
            "compaction": {"mode": "Dedicated", **self._compaction},
            "retention": self._retention,
            "options": {"file.format": self.kind.format},
            **self._maintained,
        }

    @property
    def _compaction(self) -> dict[str, Any]:
        if self.is_sorted:
            how = {"order": "ZOrder" if self.kind.partitioned else "Order", "columns": ["a", "b"]}
            return {"sort": {**how, "schedule": "0 3 */2 * *", "when": {"unsortedFilesPerPartition": 1}}}
        minor = {"minor": {"schedule": "30 4 */2 * *"}} if self.engine.has_minor_compaction else {}
        return {"full": {"schedule": "0 3 */4 * *"}, **minor}

    @property
    def _retention(self) -> dict[str, Any]:
        counts = {"numRetainedMin": KEPT, "numRetainedMax": KEPT}
        found: dict[str, Any] = {
            "snapshots": {"schedule": "10 5 */3 * *", "timeRetained": "1h", **counts},
            "orphanFiles": {
                "mode": "Delete" if self.paused else "Report", "olderThan": "3d", "schedule": "40 6 */3 * *"
            },
        }  # fmt: skip
        if self.kind.changelogs:
            found["changelogs"] = {"timeRetained": _minutes(CHANGELOG_AGE)}
        if self.kind.forgetful:
            found["consumers"] = {"expirationTime": _minutes(CONSUMER_AGE)}
        if self.kind.expiring:
            found["records"] = {"expireTime": "1d", "timeField": "a"}
        if self.kind.partitioned:
            age = {"expirationTime": f"{PARTITION_AGE.days}d", "timestampPattern": _PARTITION_DAY.format("$p")}
            found["partitions"] = {"schedule": "50 7 */2 * *", **age}
        return found

    @property
    def _maintained(self) -> dict[str, Any]:
        found: dict[str, Any] = {"maintenance": {"verify": self.kind.verify}} if self.kind.verify else {}
        if self.kind.marked:
            lengths = {"timeInterval": f"{PARTITION_LENGTH.days}d", "idleTime": _minutes(IDLE)}
            day = {"timestampPattern": _PARTITION_DAY.format("$p")}
            found["markPartitionsDone"] = {**lengths, **day, "schedule": "20 8 */3 * *"}
        if self.kind.tagged:
            kept = {"numRetainedMax": TAGS_KEPT, "defaultTimeRetained": _minutes(TAG_AGE)}
            found["tags"] = {"automaticCreation": "ProcessTime", "creationPeriod": "Hourly", **kept}
        return found
