"""Parameters of Compact."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from paimon_contract.documents import Document
from paimon_contract.parameters.verification import VerifyParameters

_SECONDS: Final = {"ms": 0.001, "s": 1, "min": 60, "h": 3_600, "d": 86_400}


@dataclass(frozen=True, kw_only=True)
class RecordAge(Document):
    """Which records a compaction removes."""

    seconds: int
    """Those whose time is longer ago."""
    column: str
    """The column with the time."""
    in_single_runs: bool
    """Whether the engine rewrites the only sorted run of a bucket to remove them."""


@dataclass(frozen=True, kw_only=True)
class CompactThresholds(Document):
    """A partition is compacted where one of these is reached. None: it is no reason."""

    sorted_runs: int | None = None
    """Sorted runs in one bucket of a table with primary key."""
    level0_files: int | None = None
    """Files of level 0 in one bucket of a table with primary key."""
    small_files: int | None = None
    """Small files in the partition, without those that are alone in their bucket."""
    delete_percent: int | None = None
    """Deleted rows of 100, in the whole table. If it is reached, all partitions are compacted."""
    unsorted_files: int | None = None
    """Files of the partition that no sort compaction has made."""
    records: RecordAge | None = None
    """Records of the partition that the compaction would remove."""


@dataclass(frozen=True, kw_only=True)
class RowOrder(Document):
    """Values of Paimon's options clustering.columns and clustering.strategy."""

    columns: str
    strategy: str


@dataclass(frozen=True, kw_only=True)
class CompactParameters(Document):
    """Compact. `partition_idle_time` is in Paimon's notation (`10 min`); `partitions` are all that is compacted."""

    strategy: str
    partitions: tuple[dict[str, str], ...] | None = None
    partition_idle_time: str | None = None
    thresholds: CompactThresholds | None = None
    """None: all partitions are compacted that are asked for."""
    order: RowOrder | None = None
    """What the table must have for the strategy Sort."""
    verify: VerifyParameters | None = None
    """None: the rows are not compared."""

    @property
    def idle_time(self) -> timedelta | None:
        """`partition_idle_time` as a length."""
        if self.partition_idle_time is None:
            return None
        number, unit = self.partition_idle_time.split()
        return timedelta(seconds=int(number) * _SECONDS[unit])
