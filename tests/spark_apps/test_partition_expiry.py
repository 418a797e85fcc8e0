"""Which partitions a run drops in which commit, and the text in which a partition has its time. Without a JVM."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import pytest

from spark_apps.catalog.partition_times import time_text
from spark_apps.catalog.partitions import Partition, PartitionNames
from spark_apps.operations import expire_partitions
from spark_apps.operations.expire_partitions import MOST, PER_COMMIT, Expiry
from spark_apps.sql.partition_values import PartitionKey

LIMIT = 1000


class Names:
    """Names every partition but those of `nameless`."""

    def __init__(self, nameless: Iterable[int] = ()) -> None:
        self.nameless = {str(each) for each in nameless}

    def spec_of(self, partition: Partition) -> dict[str, str] | None:
        value = str(partition.keys[0].value)
        return None if value in self.nameless else {"n": value}


def partition(number: int, time: int = 0) -> Partition:
    """A partition `n=<number>` that was written at `time`."""
    keys = (PartitionKey("n", "INTEGER", number),)
    return Partition(identity=str(number).encode(), keys=keys, updated=time, files=1, rows=1, size_bytes=1)


def expiry(nameless: Iterable[int] = ()) -> Expiry:
    def time_of(each: Partition) -> int | None:
        return None if each.updated < 0 else each.updated

    return Expiry(cast("PartitionNames", Names(nameless)), time_of, LIMIT)


def numbers(specs: Iterable[Any]) -> list[int]:
    return [int(each["n"]) for each in specs]


def test_partitions_before_the_limit_are_dropped_and_the_one_at_it_stays() -> None:
    found = [partition(n, time) for n, time in enumerate((LIMIT - 1, LIMIT, LIMIT + 1))]
    assert numbers(expiry().next_specs(found)) == [0]


def test_each_commit_drops_a_bounded_number_until_nothing_is_left() -> None:
    found, run = [partition(n) for n in range(2 * PER_COMMIT + 1)], expiry()
    sizes = []
    while specs := run.next_specs(found):
        sizes.append(len(specs))
        found = [each for each in found if each.keys[0].value not in numbers(specs)]
    assert (sizes, run.expired, run.remaining) == ([PER_COMMIT, PER_COMMIT, 1], 2 * PER_COMMIT + 1, 0)


def test_a_run_stops_at_its_bound_and_says_how_many_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST % PER_COMMIT == 0
    monkeypatch.setattr(expire_partitions, "MOST", PER_COMMIT + 2)
    found, run = [partition(n) for n in range(PER_COMMIT + 5)], expiry()
    first, second = run.next_specs(found), run.next_specs(found)
    assert (len(first), len(second), run.next_specs(found)) == (PER_COMMIT, 2, [])
    summary = run.summary(PER_COMMIT + 5)
    assert (summary.expired, summary.remaining, summary.total) == (PER_COMMIT + 2, 3, PER_COMMIT + 5)


def test_a_partition_that_gets_rows_again_is_not_dropped_twice_in_a_run() -> None:
    run = expiry()
    assert numbers(run.next_specs([partition(1)])) == [1]
    assert run.next_specs([partition(1)]) == []


def test_partitions_without_a_time_or_a_name_stay_and_are_counted() -> None:
    run = expiry(nameless=[2, 4])
    found = [partition(1, -1), partition(2), partition(3), partition(4, LIMIT)]
    assert numbers(run.next_specs(found)) == [3]
    summary = run.summary(4)
    assert (summary.unreadable, summary.example) == (2, "n=1"), "one that is not due needs no name"


KEYS = (
    PartitionKey("dt", "VARCHAR", "2026-11-25"),
    PartitionKey("d", "INTEGER", 7),
    PartitionKey("x", "VARCHAR", None),
)


@pytest.mark.parametrize(
    ("sentence", "pattern", "text"),
    [
        ("the first key", None, "2026-11-25"),
        ("keys in a text", "$dt 0$d:00:00", "2026-11-25 07:00:00"),
        ("the longest key that fits", "$dt", "2026-11-25"),
        ("a text behind a key", "$dtT0$d:00", "2026-11-25T07:00"),
        ("a dollar without a key", "$ $y $d", "$ $y 7"),
        ("a key without a value", "$dt $x", None),
    ],
)
def test_the_text_with_the_time(sentence: str, pattern: str | None, text: str | None) -> None:
    assert time_text(KEYS, pattern) == text, sentence


def test_a_date_and_a_timestamp_are_texts_that_paimon_reads() -> None:
    day = (PartitionKey("dt", "DATE", 20_782),)
    minute = (PartitionKey("at", "TIMESTAMP_WITHOUT_TIME_ZONE", "2026-11-25T12:00"),)
    second = (PartitionKey("at", "TIMESTAMP_WITHOUT_TIME_ZONE", "2026-11-25T12:00:01.5"),)
    late = (PartitionKey("dt", "DATE", 4_000_000),)
    texts = [time_text(keys, None) for keys in (day, minute, second, late)]
    assert texts == ["2026-11-25", "2026-11-25 12:00:00", "2026-11-25 12:00:01.5", "4000000"]
