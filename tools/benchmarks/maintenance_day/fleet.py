"""Tables of several kinds, their manifests, and what is written into each of them on one day.

All of it follows from a seed: the same seed gives the same writes to every policy.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from tools.benchmarks.maintenance_day.kinds import KINDS, PATTERN, Kind, Place

MIDNIGHT: Final = datetime(2026, 11, 24, tzinfo=UTC)
INTERVAL: Final = timedelta(minutes=15)
"""Of the minor compactions."""
MINOR, FULL, EXPIRY = "*/15 * * * *", "0 3 * * *", "20 * * * *"
RETAINED_MIN, RETAINED_FOR = 10, timedelta(hours=1)
"""Of snapshots."""


@dataclass(frozen=True)
class Write:
    """One commit by another program: a new file of so many rows in each of these buckets."""

    at: datetime
    rows: int
    places: tuple[Place, ...]


@dataclass(frozen=True)
class DayOfTable:
    """One table: what it holds at midnight, and what is written to it until the day ends."""

    name: str
    kind: Kind
    threshold: int
    """Sorted runs of a bucket, or small files of a partition, that make a minor compaction needed."""
    writes: tuple[Write, ...]

    @property
    def has_key(self) -> bool:
        """Whether the table has a primary key."""
        return self.kind.has_key

    @property
    def spec(self) -> dict[str, Any]:
        """The spec of its PaimonTable: by need, in these intervals."""
        named = "sortedRunsPerBucket" if self.has_key else "smallFilesPerPartition"
        minor = {"schedule": MINOR, "when": {named: self.threshold}}
        snapshots = {"schedule": EXPIRY, "numRetainedMin": RETAINED_MIN, "timeRetained": "1h"}
        return {
            "schema": self.kind.schema,
            "bucket": self.kind.bucket,
            "externalWriters": "Active",
            "compaction": {"mode": "Dedicated", "minor": minor, "full": {"schedule": FULL}},
            "retention": {"snapshots": snapshots},
        }

    @property
    def growth(self) -> int:
        """The most files that a bucket, or a partition without a key, receives within one interval."""
        times: dict[Place, list[datetime]] = {}
        for write in self.writes:
            for place in write.places:
                times.setdefault(place, []).append(write.at)
        return max((_most_within(each, INTERVAL) for each in times.values()), default=0)


def fleet_of(count: int, seed: int, length: timedelta) -> tuple[DayOfTable, ...]:
    """So many tables, of all kinds from the first ones on, and what is written to them from midnight on."""
    return tuple(_table(number, seed, length) for number in range(count))


def _table(number: int, seed: int, length: timedelta) -> DayOfTable:
    kind = KINDS[PATTERN[number % len(PATTERN)]]
    dice = random.Random(f"{seed}/{number}")  # noqa: S311 - writes, not secrets
    threshold = dice.choice((5, 5, 8, 10))
    writes = tuple(_writes(kind, dice, MIDNIGHT + length))
    return DayOfTable(f"{kind.name}-{number:03}", kind, threshold, writes)


def _writes(kind: Kind, dice: random.Random, end: datetime) -> Iterator[Write]:
    for second in sorted(kind.seconds(dice)):
        at = MIDNIGHT + timedelta(seconds=second)
        write = Write(at, dice.randint(*kind.rows), kind.places(dice, second))
        if at < end:
            yield write


def _most_within(moments: list[datetime], length: timedelta) -> int:
    """The most of these moments, in order, that lie within so long."""
    most, first = 0, 0
    for last, moment in enumerate(moments):
        while moment - moments[first] > length:
            first += 1
        most = max(most, last - first + 1)
    return most
