"""Whether any partition is to be marked as done, from the table's metadata and its marks alone."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Final

from paimon_contract.parameters.mark_partitions_done import MarkPartitionsDoneParameters
from paimon_contract.result import PartitionsDone
from paimon_schema.table_schema import TableSchema
from spark_apps.catalog.plain_partitions import Keys, PlainPartitions, PlainTimes, Unread, example_of, moment_of
from spark_apps.metadata.base import MetadataFiles
from spark_apps.metadata.settings import DONE_MARK
from spark_apps.sql.partition_values import PartitionKey

MAX_MS: Final = 1 << 47
"""Of a time within the calendar."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]+")
"""Values that are the same in the name of a directory: Paimon escapes others, and has one directory for some."""
_LEGACY_NAME: Final = "partition.legacy-name"
"""Option without which a date is no number in the name of a directory."""
_NUMBERED: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "DATE")
_TEXTS: Final = ("CHAR", "VARCHAR")


@dataclass(frozen=True)
class TableMarks:
    """Reads the marks in the directories of a table's partitions."""

    files: MetadataFiles
    location: str

    def modified(self, directory: str) -> int | None:
        """When the partition was marked, in ms; None: it was not, or only Java can tell."""
        content = self.files.read(f"{self.location}/{directory}/{DONE_MARK}")
        try:
            found = None if content is None else json.loads(content)
        except ValueError:
            return None
        modified = found.get("modificationTime") if isinstance(found, dict) else None
        return modified if isinstance(modified, int) and 0 <= modified < MAX_MS else None


class State(Enum):
    """State of a partition."""

    UNREADABLE = "no time can be read from it"
    WAITING = "not yet done"
    MARKED = "done, and marked"
    DUE = "to be marked, or only Java can tell"


@dataclass(frozen=True)
class Judge:
    """Says what a run at the moment `at` would find of each partition."""

    asked: MarkPartitionsDoneParameters
    partitions: PlainPartitions
    marks: TableMarks
    at: datetime

    def report_if_none_is_due(self) -> PartitionsDone | None:
        """What a run reports that has nothing to mark; None where it has, or where only Java can tell.

        Raises UnreadableError for keys that cannot be decoded. A file that was removed since counts as the newest too:
        then a mark can come later, by the idle time at most.
        """
        newest = self.partitions.newest_files()
        counts, unreadable = dict.fromkeys(State, 0), []
        for partition, keys in self.partitions.with_keys():
            state = self._state_of(keys, newest.get(partition))
            if state is State.DUE:
                return None
            counts[state] += 1
            unreadable += [keys] if state is State.UNREADABLE else []
        return PartitionsDone(
            marked=0,
            already_marked=counts[State.MARKED],
            not_yet_done=counts[State.WAITING],
            unreadable=len(unreadable),
            example=example_of(unreadable),
        )

    def _state_of(self, keys: Keys, newest: datetime | None) -> State:
        time, idle = self._times.earliest(keys), timedelta(seconds=self.asked.idle_seconds)
        if isinstance(time, Unread):
            return State.UNREADABLE if time is Unread.NO_TIME else State.DUE
        if self._waits_for_its_end(time, idle):
            return State.WAITING
        if newest is None:
            return State.DUE
        if self.at - newest <= idle:
            return State.WAITING
        return State.MARKED if self._is_marked(keys, newest) else State.DUE

    @property
    def _times(self) -> PlainTimes:
        return PlainTimes(self.asked.timestamp_pattern, self.asked.timestamp_formatter, self.asked.time_zone)

    def _waits_for_its_end(self, time: datetime, idle: timedelta) -> bool:
        try:
            return self.at - (time + timedelta(seconds=self.asked.interval_seconds)) <= idle
        except OverflowError:  # (such as 9999-12-31, which means that a row has no time: it never ends)
            return True

    def _is_marked(self, keys: Keys, newest: datetime) -> bool:
        """Whether the partition certainly has a mark that is newer than its newest file."""
        directory = directory_of(keys, self.partitions.schema)
        modified = None if directory is None else self.marks.modified(directory)
        return modified is not None and moment_of(modified) > newest


def directory_of(keys: tuple[PartitionKey, ...], schema: TableSchema) -> str | None:
    """The directory of a partition below that of the table; None where only Java can tell."""
    if any(key.root == "DATE" for key in keys) and schema.options.get(_LEGACY_NAME, "true").lower() != "true":
        return None
    parts = []
    for key in keys:
        is_known = key.root in _NUMBERED or (key.root in _TEXTS and _PLAIN.fullmatch(str(key.value)))
        if key.value is None or not is_known or not _PLAIN.fullmatch(key.name):
            return None
        parts.append(f"{key.name}={key.value}")
    return "/".join(parts)
