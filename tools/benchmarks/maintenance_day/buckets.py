"""The data files of one bucket, and what Paimon's compactions merge of them.

Paimon's rules for tables with primary key are those of its class UniversalCompaction (release 1.4), with its defaults.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MAX_LEVEL: Final = 5
BYTES_PER_ROW: Final = 100
SMALL_BELOW: Final = 94_000_000
"""Bytes: 70 % of the usual target-file-size of 128 MiB."""
_SIZE_AMPLIFICATION: Final = 200
_SIZE_RATIO: Final = 1


@dataclass(frozen=True, eq=False)
class SortedRun:
    """One file of level 0 or one level of a bucket with a key; one file of a bucket without."""

    level: int
    rows: int

    @property
    def is_small(self) -> bool:
        """Whether it counts as a small file."""
        return self.rows * BYTES_PER_ROW < SMALL_BELOW


@dataclass(frozen=True)
class Merge:
    """Runs of a bucket that become one on a level."""

    runs: tuple[SortedRun, ...]
    level: int

    @property
    def rows(self) -> int:
        """The rows that are rewritten. Updates of the same key are not modelled: none is dropped."""
        return sum(each.rows for each in self.runs)

    def applied_to(self, bucket: Sequence[SortedRun]) -> list[SortedRun]:
        """The bucket afterwards. Runs that were written meanwhile stay in front."""
        at = min(bucket.index(each) for each in self.runs)
        left = [each for each in bucket if each not in self.runs]
        return [*left[:at], SortedRun(self.level, self.rows), *left[at:]]


def full_merge(bucket: Sequence[SortedRun], *, has_key: bool) -> Merge | None:
    """A full compaction; None where it changes nothing."""
    if not has_key:
        return small_files_merge(bucket)
    done = len(bucket) == 1 and bucket[0].level == MAX_LEVEL
    return None if done or not bucket else Merge(tuple(bucket), MAX_LEVEL)


def small_files_merge(bucket: Sequence[SortedRun]) -> Merge | None:
    """A compaction of a bucket without a key, with compaction.min.file-num=2."""
    small = tuple(each for each in bucket if each.is_small)
    return Merge(small, 0) if len(small) > 1 else None


def minor_merge(bucket: Sequence[SortedRun], trigger: int) -> Merge | None:
    """A minor compaction with num-sorted-run.compaction-trigger; newest runs come first. None: it merges nothing."""
    if len(bucket) < trigger:
        return None
    newer, oldest = sum(each.rows for each in bucket[:-1]), bucket[-1].rows
    if newer * 100 > _SIZE_AMPLIFICATION * oldest:
        return Merge(tuple(bucket), MAX_LEVEL)
    count = _of_similar_size(bucket, 1)
    if count == 1 and len(bucket) > trigger:
        count = _of_similar_size(bucket, len(bucket) - trigger + 1)
    return _unit(bucket, count) if count > 1 else None


def _of_similar_size(bucket: Sequence[SortedRun], count: int) -> int:
    """The number of newest runs of which each is not larger than all newer ones together; at least `count`."""
    rows = sum(each.rows for each in bucket[:count])
    for run in bucket[count:]:
        if rows * (100 + _SIZE_RATIO) < 100 * run.rows:
            break
        rows, count = rows + run.rows, count + 1
    return count


def _unit(bucket: Sequence[SortedRun], count: int) -> Merge:
    """The newest runs, merged to the level below the next run. If that is level 0, they take the next level too."""
    following = bucket[count:]
    level = following[0].level - 1 if following else MAX_LEVEL
    if following and level <= 0:
        count += next((number for number, run in enumerate(following, 1) if run.level), len(following))
        level = bucket[count - 1].level
    return Merge(tuple(bucket[:count]), MAX_LEVEL if count == len(bucket) else level)
