"""Marks the partitions that are done: so long after their end and after their newest file as the job says.

It commits nothing, so that readers of snapshots see no change.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from paimon_contract.job import Job
from paimon_contract.parameters.mark_partitions_done import MarkPartitionsDoneParameters
from paimon_contract.result import Outcome, PartitionsDone
from paimon_engines.engine import Engine
from spark_apps.catalog.done_marks import DoneMarks, Mark
from spark_apps.catalog.marked_partitions import Judge, TableMarks
from spark_apps.catalog.measure import measure_table, outcome_between
from spark_apps.catalog.partition_times import PartitionTime, TimeFormat, values_time
from spark_apps.catalog.partitions import Partition, PartitionReader
from spark_apps.catalog.plain_partitions import MAX_EXAMPLE, moment_of, plain_partitions
from spark_apps.catalog.session import Session
from spark_apps.failures.errors import spec_failure
from spark_apps.metadata.base import MetadataFiles
from spark_apps.metadata.table_files import location_of
from spark_apps.progress import log_step

PARAMETERS = MarkPartitionsDoneParameters
COMMITS: Final = False
LOOKS: Final = True

FIELD: Final = "spec.markPartitionsDone"
PER_SCAN: Final = 100
"""Partitions that are marked before the files are read again: a load may have begun meanwhile."""
MOST: Final = 10_000
"""Partitions that are marked per run. What is left is reported, and the next run continues."""


def run(job: Job, session: Session) -> Outcome:
    """Marks the partitions that are done and have no mark, or one that is older than their newest file."""
    asked = job.parameters_as(PARAMETERS)
    table = session.table_at_start()
    _refuse_unsupported(job, asked, table)
    how = TimeFormat(asked.timestamp_pattern, asked.timestamp_formatter, asked.time_zone, f"{FIELD}.timestampFormatter")
    marks, reader = DoneMarks(session, table), PartitionReader(session, table)
    marking = Marking(marks, values_time(session, how), 1000 * asked.interval_seconds, 1000 * asked.idle_seconds)
    measured = measure_table(session, table)  # before the last look at the partitions: no later snapshot counts as seen
    while chosen := marking.choose(reader.read(), now()):
        for each in chosen:
            marking.mark(each)
        log_step(f"{marking.marked} partitions marked as done")
    return outcome_between(measured, measured, partitions_done=marking.summary())


def without_jvm(job: Job, engine: Engine, files: MetadataFiles) -> Outcome | None:  # noqa: ARG001
    """Ends where nothing is to be marked; None where something is, where only Java can tell, or for what is refused."""
    asked = job.parameters_as(PARAMETERS)
    is_known = asked.interval_seconds > 0 and asked.idle_seconds > 0
    partitions = plain_partitions(job, files) if is_known else None
    if partitions is None:
        return None
    found = Judge(asked, partitions, TableMarks(files, location_of(job)), moment_of(now())).report_if_none_is_due()
    return None if found is None else partitions.unchanged(partitions_done=found)


def now() -> int:
    """The current time in ms."""
    return time.time_ns() // 1_000_000


class Marks(Protocol):
    """`DoneMarks`, or its like of a test."""

    def directory_of(self, partition: Partition) -> str:
        """The directory of the partition."""

    def read(self, directory: str) -> Mark | None:
        """The mark of a directory; None: it has none."""

    def write(self, directory: str, before: Mark | None) -> None:
        """Marks a directory."""


@dataclass
class Directory:
    """A directory with the files of a partition. Paimon has one for NULL and for the empty text: both are done then."""

    path: str
    partition: Partition
    """One of its partitions."""
    newest: int
    """When its newest file was made, in ms of the writers' clocks."""
    time: int | None
    """The time of the partition in ms: the latest, and None if one of them cannot be read."""

    def add(self, other: Directory) -> None:
        """Another partition with the same directory."""
        self.newest = max(self.newest, other.newest)
        self.time = None if self.time is None or other.time is None else max(self.time, other.time)


@dataclass
class Marking:
    """What one run marks, and what it leaves. Times in ms."""

    marks: Marks
    time_of: PartitionTime
    interval: int
    """A partition ends so long after its time."""
    idle: int
    """It is done when its end and its newest file are longer ago than this."""
    known: dict[bytes, str] = field(default_factory=dict)
    """The directory of each partition that was seen before."""
    read: dict[str, Mark | None] = field(default_factory=dict)
    """The mark of each directory, as it was before the run."""
    written: set[str] = field(default_factory=set)
    """Directories are marked once: what another writer loads into one later waits for the next run."""
    already: int = 0
    waiting: int = 0
    remaining: int = 0
    unreadable: list[Partition] = field(default_factory=list)

    @property
    def marked(self) -> int:
        """Partitions that were marked."""
        return len(self.written)

    def choose(self, found: Iterable[Partition], at: int) -> list[Directory]:
        """What to mark next, the latest first; empty at the end. `at`: the current time."""
        others = [each for each in self._directories(found) if each.path not in self.written]
        self.unreadable = [each.partition for each in others if each.time is None]
        done = [each for each in others if self._is_done(each, at)]
        due = sorted((each for each in done if not self._is_marked(each)), key=lambda each: -(each.time or 0))
        self.waiting = len(others) - len(self.unreadable) - len(done)
        self.already = len(done) - len(due)
        chosen = due[: min(PER_SCAN, MOST - self.marked)]
        self.remaining = len(due) - len(chosen)
        return chosen

    def mark(self, directory: Directory) -> None:
        """Marks a directory that was chosen."""
        self.marks.write(directory.path, self.read[directory.path])
        self.written.add(directory.path)

    def summary(self) -> PartitionsDone:
        """What was done."""
        example = str(self.unreadable[0])[:MAX_EXAMPLE] if self.unreadable else None
        return PartitionsDone(
            marked=self.marked,
            already_marked=self.already,
            not_yet_done=self.waiting,
            remaining=self.remaining,
            unreadable=len(self.unreadable),
            example=example,
        )

    def _directories(self, found: Iterable[Partition]) -> Iterable[Directory]:
        by_path: dict[str, Directory] = {}
        for partition in found:
            path = self.known.get(partition.identity) or self.marks.directory_of(partition)
            self.known[partition.identity] = path
            each = Directory(path, partition, partition.updated, self.time_of(partition))
            if path in by_path:
                by_path[path].add(each)
            else:
                by_path[path] = each
        return by_path.values()

    def _is_done(self, directory: Directory, at: int) -> bool:
        """As Flink decides by partition.time-interval and partition.idle-time-to-done."""
        if directory.time is None:
            return False
        return at - max(directory.newest, directory.time + self.interval) > self.idle

    def _is_marked(self, directory: Directory) -> bool:
        if directory.path not in self.read:
            self.read[directory.path] = self.marks.read(directory.path)
        mark = self.read[directory.path]
        return mark is not None and mark.modified is not None and mark.modified > directory.newest


def _refuse_unsupported(job: Job, asked: MarkPartitionsDoneParameters, table: Any) -> None:
    for name, seconds in (("timeInterval", asked.interval_seconds), ("idleTime", asked.idle_seconds)):
        if seconds < 1:
            raise spec_failure("InvalidSpec", f"{name} is below 1s", "set it to 1s or more", field=f"{FIELD}.{name}")
    if not list(table.partitionKeys()):
        raise spec_failure(
            "InvalidSpec", f"the table {job.table} has no partitions", "remove markPartitionsDone", field=FIELD
        )
    if table.coreOptions().partitionedTableInMetastore():
        raise spec_failure(
            "InvalidSpec",
            f"the table {job.table} has its partitions in the metastore, and there they would not be done",
            "remove markPartitionsDone, or the option metastore.partitioned-table from the table",
            field=FIELD,
        )
