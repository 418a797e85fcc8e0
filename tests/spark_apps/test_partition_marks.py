"""Which partitions a run marks as done, in which order, and what it counts of the others. Without a JVM."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest

from paimon_contract.result import PartitionsDone
from spark_apps.catalog.done_marks import Mark
from spark_apps.catalog.partitions import Partition
from spark_apps.operations import mark_partitions_done
from spark_apps.operations.mark_partitions_done import PER_SCAN, Marking
from spark_apps.sql.partition_values import PartitionKey

INTERVAL, IDLE = 1_000, 60
NO_TIME = -1


@dataclass
class Marks:
    """Marks in memory, written at the time of `clock`. Partitions with the same tens share a directory."""

    clock: int = 0
    made: dict[str, Mark] = field(default_factory=dict)
    reads: list[str] = field(default_factory=list)
    writes: list[tuple[str, Mark | None]] = field(default_factory=list)

    def directory_of(self, partition: Partition) -> str:
        return f"n={int(str(partition.keys[0].value)) // 10}"

    def read(self, directory: str) -> Mark | None:
        self.reads.append(directory)
        return self.made.get(directory)

    def write(self, directory: str, before: Mark | None) -> None:
        self.writes.append((directory, before))
        self.made[directory] = Mark(self.clock)


def partition(number: int, made: int = 0) -> Partition:
    """A partition `n=<number>` whose newest file was `made` then. Its time is its number; of the last it has none."""
    keys = (PartitionKey("n", "INTEGER", number),)
    return Partition(identity=str(number).encode(), keys=keys, updated=made, files=1, rows=1, size_bytes=1)


def marking(marks: Marks) -> Marking:
    def time_of(each: Partition) -> int | None:
        number = int(str(each.keys[0].value))
        return None if number == 9_990 else number

    return Marking(marks, time_of, INTERVAL, IDLE)


def run(found: Iterable[Partition], at: int, marks: Marks | None = None) -> tuple[list[str], PartitionsDone]:
    """The directories that a run at this time marks in order, and its summary."""
    known, partitions = marks or Marks(clock=at), list(found)
    one = marking(known)
    while chosen := one.choose(partitions, at):
        for each in chosen:
            one.mark(each)
    return [directory for directory, _ in known.writes], one.summary()


def counts(found: PartitionsDone) -> tuple[int, int, int]:
    return found.marked, found.already_marked, found.not_yet_done


@pytest.mark.parametrize(
    ("sentence", "made", "at", "is_done"),
    [
        ("exactly the idle time after its end", 0, 10 + INTERVAL + IDLE, False),
        ("longer after its end", 0, 10 + INTERVAL + IDLE + 1, True),
        ("long after its end, exactly the idle time after its newest file", 5_000, 5_000 + IDLE, False),
        ("long after its end, and longer after its newest file", 5_000, 5_000 + IDLE + 1, True),
        ("before its end, long after its newest file", 0, 10 + INTERVAL - 1, False),
        ("with a file that is newer than the current time", 9_000, 8_000, False),
    ],
)
def test_a_partition_is_done(sentence: str, made: int, at: int, *, is_done: bool) -> None:
    marked, found = run([partition(10, made)], at)
    assert (marked, counts(found)) == ((["n=1"], (1, 0, 0)) if is_done else ([], (0, 0, 1))), sentence


@pytest.mark.parametrize(
    ("sentence", "mark", "is_marked"),
    [
        ("a mark after the newest file", Mark(5_001), True),
        ("a mark of the same moment, before which the file was not seen", Mark(5_000), False),
        ("a mark before the newest file", Mark(4_999), False),
        ("a file that is no mark", Mark(None), False),
        ("no mark", None, False),
    ],
)
def test_a_partition_is_marked_again_unless_its_mark_is_newer(
    sentence: str, mark: Mark | None, *, is_marked: bool
) -> None:
    marks = Marks(clock=9_000, made={} if mark is None else {"n=1": mark})
    _, found = run([partition(10, 5_000)], 9_000, marks)
    assert counts(found) == ((0, 1, 0) if is_marked else (1, 0, 0)), sentence
    assert marks.writes == ([] if is_marked else [("n=1", mark)]), "the writer knows what is there"


def test_the_latest_partition_is_marked_first_and_the_mark_of_one_that_is_not_done_is_not_read() -> None:
    marks = Marks(clock=9_000)
    marked, found = run([partition(10), partition(30), partition(20), partition(8_900)], 9_000, marks)
    assert (marked, counts(found)) == (["n=3", "n=2", "n=1"], (3, 0, 1))
    assert sorted(marks.reads) == ["n=1", "n=2", "n=3"]


def test_partitions_without_a_time_are_counted_and_one_is_named() -> None:
    _, found = run([partition(10), partition(9_990)], 9_000)
    assert (found.marked, found.unreadable, found.example) == (1, 1, "n=9990")


def test_partitions_of_one_directory_are_done_when_all_of_them_are() -> None:
    both = [partition(10, 5_000), partition(11, 6_000)]
    assert run(both, 5_000 + IDLE + 1)[0] == []
    assert run(both, 6_000 + IDLE + 1)[0] == ["n=1"]
    assert run(both[::-1], 5_000 + IDLE + 1)[0] == []
    assert run([partition(9_990), partition(9_991)], 99_000)[0] == [], "one of them has no time"


def test_a_run_stops_at_its_bound_and_says_how_many_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mark_partitions_done, "MOST", PER_SCAN + 2)
    marked, found = run([partition(10 * n) for n in range(PER_SCAN + 5)], 99_000)
    assert (len(marked), found.marked, found.remaining, found.already_marked) == (PER_SCAN + 2, PER_SCAN + 2, 3, 0)


def test_the_files_are_read_again_after_a_bounded_number_of_marks() -> None:
    marks = Marks(clock=99_000)
    one = marking(marks)
    partitions = [partition(10 * n) for n in range(PER_SCAN + 5)]
    first = one.choose(partitions, 99_000)
    for each in first:
        one.mark(each)
    loading = [partition(0, 98_999), partition(10 * (PER_SCAN + 4), 98_999), *partitions[1:-1]]
    second = one.choose(loading, 99_000)
    assert (len(first), [each.path for each in second]) == (PER_SCAN, [f"n={n}" for n in (4, 3, 2, 1)])
    assert one.waiting == 1, "a load began in one that is not marked; one that is marked waits for the next run"
