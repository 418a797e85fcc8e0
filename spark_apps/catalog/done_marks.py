"""Marks of partitions that are done: Paimon's file `_SUCCESS` in the directory of a partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from spark_apps.catalog.partitions import Partition
from spark_apps.catalog.session import Session
from spark_apps.failures.causes import causes_of

_JSON: Final = ".fasterxml.jackson."
"""Package of what Paimon throws at a file that is empty or holds anything else. A marker that is killed leaves such."""


@dataclass(frozen=True)
class Mark:
    """The mark of a directory. `modified` in ms of the marker's clock; None: the file there is no mark of Paimon's."""

    modified: int | None


class DoneMarks:
    """Reads and writes marks by Paimon's own class, which also Flink marks partitions with.

    Paimon's procedure mark_partition_done is not used. It splits its text at commas, and it takes the name of a
    directory from the text: of `dt=2026-11-25` and a DATE it makes another directory than the one with the files.
    """

    def __init__(self, session: Session, table: Any) -> None:
        paimon = session.jvm.org.apache.paimon
        self._files, self._location = table.fileIO(), table.location()
        self._action = paimon.partition.actions.SuccessFileMarkDoneAction(self._files, self._location)
        self._reader, self._path = paimon.partition.file.SuccessFile, paimon.fs.Path
        self._name = str(paimon.partition.actions.SuccessFileMarkDoneAction.SUCCESS_FILE_NAME)
        self._row_of = paimon.utils.SerializationUtils.deserializeBinaryRow
        self._paths, self._arity = table.store().pathFactory(), len(list(table.partitionKeys()))

    def directory_of(self, partition: Partition) -> str:
        """The directory with the partition's files, below that of the table. Paimon escapes the values."""
        row = self._row_of(self._arity.to_bytes(4, "big") + partition.identity)
        return str(self._paths.getPartitionString(row))

    def read(self, directory: str) -> Mark | None:
        """The mark of the directory; None: it has none."""
        try:
            found = self._reader.safelyFromPath(self._files, self._file(directory))
        except Exception as error:
            if any(_JSON in each.split(":", 1)[0] for each in causes_of(error)):
                return Mark(None)
            raise
        return None if found is None else Mark(int(found.modificationTime()))

    def write(self, directory: str, before: Mark | None) -> None:
        """Marks the directory, or renews its mark, which keeps the time when it was made. `before`: as it was read."""
        if before is not None and before.modified is None:
            self._files.delete(self._file(directory), False)
        self._action.markDone(directory)

    def _file(self, directory: str) -> Any:
        return self._path(self._path(self._location, directory), self._name)
