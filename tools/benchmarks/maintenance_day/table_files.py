"""All files and snapshots of one table over the day. Measurements are made by the code of the observer and the driver.

Time only goes forward: `advance` applies what was written up to then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from paimon_contract.parameters.compact import CompactThresholds
from paimon_contract.result import ResultTable
from paimon_schema.table_schema import TableSchema
from spark_apps.metadata.compaction_need import partitions_in_need
from spark_apps.metadata.file_sums import BucketLevel, FileSums
from spark_apps.metadata.measurement import of_contents
from spark_apps.metadata.observation import Contents
from spark_apps.metadata.snapshots import Snapshot
from tests.support.fabricated_avro import binary_row
from tools.benchmarks.maintenance_day.buckets import (
    BYTES_PER_ROW,
    MAX_LEVEL,
    SMALL_BELOW,
    Merge,
    SortedRun,
    full_merge,
    minor_merge,
    small_files_merge,
)
from tools.benchmarks.maintenance_day.fleet import MIDNIGHT, RETAINED_FOR, RETAINED_MIN, DayOfTable
from tools.benchmarks.maintenance_day.kinds import Place

FIRST_ROWS: Final = 1_000_000
"""Rows of each bucket at midnight, in one large file."""
Merges = Mapping[Place, Merge]


@dataclass
class TableFiles:
    """The table at `now`."""

    day: DayOfTable
    schema: TableSchema
    now: datetime = MIDNIGHT
    buckets: dict[Place, list[SortedRun]] = field(default_factory=dict)
    snapshots: list[datetime] = field(default_factory=lambda: [MIDNIGHT])
    """Times of those that exist, oldest first."""
    latest: int = 1
    """Id of the latest snapshot."""
    worst: int = 0
    """The most sorted runs of a bucket so far, or small files of a table without a key."""
    _written: int = 0

    def __post_init__(self) -> None:
        for place in self.day.kind.first_places():
            self.buckets[place] = [SortedRun(MAX_LEVEL if self.day.has_key else 0, FIRST_ROWS)]

    def advance(self, to: datetime) -> None:
        """Applies what was written up to then."""
        writes = self.day.writes
        while self._written < len(writes) and writes[self._written].at <= to:
            write = writes[self._written]
            for place in write.places:
                self.buckets.setdefault(place, []).insert(0, SortedRun(0, write.rows))
                self.worst = max(self.worst, self.pressure_of(place))
            self._commit(write.at)
            self._written += 1
        self.now = max(self.now, to)

    def pressure_of(self, place: Place) -> int:
        """What the threshold of the minor compaction is compared with, of one bucket."""
        bucket = self.buckets[place]
        return len(bucket) if self.day.has_key else sum(each.is_small for each in bucket)

    def measure(self) -> ResultTable:
        """What an observer or a driver measures now."""
        return of_contents(self._contents(), self.schema, f"{self.now:%Y-%m-%dT%H:%M:%SZ}")

    def in_need(self, thresholds: CompactThresholds) -> set[str]:
        """The partitions that a driver compacts."""
        names = {_row_of(partition): partition for partition, _ in self.buckets}
        return {names[each] for each in partitions_in_need(self._contents(), self.schema, thresholds)}

    def minor(self, threshold: int, partitions: Iterable[str] | None = None) -> Merges:
        """What a minor compaction of these partitions, or of all, merges.

        As the driver calls it: Paimon's trigger is one less than the threshold, and takes effect from there on.
        """
        return self._merges({place: self._minor(place, threshold) for place, _ in self._within(partitions)})

    def full(self, partitions: Iterable[str] | None = None) -> Merges:
        """What a full compaction of these partitions, or of all, merges."""
        has_key = self.day.has_key
        return self._merges({place: full_merge(each, has_key=has_key) for place, each in self._within(partitions)})

    def compact(self, merges: Merges) -> None:
        """Commits what a compaction has merged, now."""
        for place, merge in merges.items():
            self.buckets[place] = merge.applied_to(self.buckets[place])
        if merges:
            self._commit(self.now)

    def expire(self) -> int:
        """Expires snapshots by Paimon's rule. Returns how many."""
        old = [at for at in self.snapshots[: max(len(self.snapshots) - RETAINED_MIN, 0)] if self._is_old(at)]
        del self.snapshots[: len(old)]
        return len(old)

    def _minor(self, place: Place, threshold: int) -> Merge | None:
        if self.day.has_key:
            return minor_merge(self.buckets[place], threshold - 1)
        return small_files_merge(self.buckets[place]) if self.pressure_of(place) >= threshold else None

    def _is_old(self, at: datetime) -> bool:
        return self.now - at > RETAINED_FOR

    def _within(self, partitions: Iterable[str] | None) -> Iterable[tuple[Place, Sequence[SortedRun]]]:
        chosen = None if partitions is None else set(partitions)
        return [(place, each) for place, each in self.buckets.items() if chosen is None or place[0] in chosen]

    @staticmethod
    def _merges(found: Mapping[Place, Merge | None]) -> Merges:
        return {place: merge for place, merge in found.items() if merge is not None}

    def _commit(self, at: datetime) -> None:
        self.latest += 1
        self.snapshots.append(at)

    def _contents(self) -> Contents:
        earliest = self.latest - len(self.snapshots) + 1
        return Contents(
            snapshot=_snapshot(self.latest, self.snapshots[-1]),
            earliest=_snapshot(earliest, self.snapshots[0]),
            small_below=SMALL_BELOW,
            manifests={},
            sums=self._sums(),
            deleted_rows=0,
        )

    def _sums(self) -> dict[BucketLevel, FileSums]:
        sums: dict[BucketLevel, FileSums] = {}
        for (partition, number), bucket in self.buckets.items():
            for run in bucket:
                key = (_row_of(partition), number, run.level)
                files, size, rows, small, *_ = sums.get(key, (0, 0, 0, 0))
                size += run.rows * BYTES_PER_ROW
                sums[key] = FileSums(files + 1, size, rows + run.rows, small + run.is_small, 0, 0)
        return sums


def _row_of(partition: str) -> bytes:
    return binary_row(partition) if partition else binary_row()


def _snapshot(id_: int, at: datetime) -> Snapshot:
    return Snapshot(
        id=id_,
        schema_id=0,
        base_manifest_list=f"base-{id_}",
        delta_manifest_list=f"delta-{id_}",
        index_manifest=None,
        total_rows=None,
        time_ms=int(at.timestamp() * 1000),
    )
