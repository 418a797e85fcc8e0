"""Which files of a bucket a compaction of the simulation merges: the rules of Paimon's universal compaction."""

from __future__ import annotations

import pytest

from tools.benchmarks.maintenance_day.buckets import Merge, SortedRun, full_merge, minor_merge, small_files_merge

Runs = list[tuple[int, int]]
"""Level and rows, newest first."""


def bucket(runs: Runs) -> list[SortedRun]:
    return [SortedRun(*each) for each in runs]


def after(runs: list[SortedRun], merge: Merge | None) -> Runs | None:
    return None if merge is None else [(each.level, each.rows) for each in merge.applied_to(runs)]


@pytest.mark.parametrize(
    ("sentence", "runs", "expected"),
    [
        ("fewer runs than the trigger stay", [(0, 1), (0, 1), (5, 99)], None),
        ("new rows of more than twice the oldest run: all", [(0, 9), (0, 9), (0, 9), (5, 9)], [(5, 36)]),
        ("less, and of similar size", [(0, 9), (0, 9), (0, 9), (5, 99)], [(4, 27), (5, 99)]),
        ("similar ones below a large one", [(0, 1), (0, 1), (0, 2), (5, 99)], [(4, 4), (5, 99)]),
        ("the newest is too small, and there are no more than the trigger", [(0, 1), (0, 8), (0, 8), (5, 99)], None),
        ("one more than the trigger, no result on level 0", [(0, 1), (0, 8), (0, 20), (0, 50), (5, 99)], [(5, 178)]),
        ("none on level 0: the next level comes", [(0, 1), (0, 1), (0, 9), (1, 80), (5, 999)], [(1, 91), (5, 999)]),
        ("of two levels, one below the next", [(0, 1), (0, 1), (0, 2), (3, 50), (5, 999)], [(2, 4), (3, 50), (5, 999)]),
    ],
)  # fmt: skip
def test_a_minor_compaction_of_four_runs(sentence: str, runs: Runs, expected: Runs | None) -> None:
    made = bucket(runs)
    assert after(made, minor_merge(made, 4)) == expected, sentence


@pytest.mark.parametrize("count", range(4, 40))
def test_equal_files_on_a_large_level_are_fewer_than_the_threshold_afterwards(count: int) -> None:
    made = bucket([(0, 10)] * count + [(5, 1_000_000)])
    left = after(made, minor_merge(made, 4))
    assert left is not None
    assert len(left) <= 4


@pytest.mark.parametrize(
    ("sentence", "runs", "has_key", "expected"),
    [
        ("one run on the highest level stays", [(5, 9)], True, None),
        ("one run below it does not", [(0, 9)], True, [(5, 9)]),
        ("all runs", [(0, 1), (3, 5), (5, 9)], True, [(5, 15)]),
        ("without a key, the small files", [(0, 1), (0, 1_000_000), (0, 2)], False, [(0, 3), (0, 1_000_000)]),
        ("without a key, one small file stays", [(0, 1), (0, 1_000_000)], False, None),
    ],
)  # fmt: skip
def test_a_full_compaction(sentence: str, runs: Runs, has_key: bool, expected: Runs | None) -> None:
    made = bucket(runs)
    assert after(made, full_merge(made, has_key=has_key)) == expected, sentence


def test_what_is_written_meanwhile_stays_in_front() -> None:
    made = bucket([(0, 1), (0, 2), (0, 1_000_000)])
    merge = small_files_merge(made)
    assert merge is not None
    assert after([SortedRun(0, 7), *made], merge) == [(0, 7), (0, 3), (0, 1_000_000)]
