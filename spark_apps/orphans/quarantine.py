"""Orphans that were moved away, and how each is moved back, as long as it was not removed for good.

  quarantine/<storage's time in ms>-<run>-<uid>-<batch>/undo.jsonl       a header, then one line for each file
  quarantine/<storage's time in ms>-<run>-<uid>-<batch>/files/<path>     the files, by their paths in the table

The undo list is written before the first move and removed after the last file. So after a kill at any step, each file
is at one of two known places, and the next run goes on from there. The place of a file says where it belongs, so a lost
or damaged list keeps no file from being moved back: it only keeps the files from being removed for good.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from spark_apps.metadata.base import UnreadableError
from spark_apps.orphans.files import ChangeFailedError, ListedFile, OtherFileError, StorageFiles
from spark_apps.orphans.times import Moment
from spark_apps.progress import log_step

VERSION: Final = 1
MAX_LIST_BYTES: Final = 16 << 20
"""Bytes of an undo list."""
_LIST: Final = "undo.jsonl"


@dataclass(frozen=True)
class MovedFiles:
    """Files that were moved away together, from the table at `location` to `directory`."""

    files: StorageFiles
    directory: str
    location: str

    @cached_property
    def moved_at(self) -> Moment | None:
        """When they were moved; None: there is no whole undo list to say so."""
        try:
            header = self._lines()[0]
            return Moment(header["storageMs"], header["driverMs"])
        except UnreadableError as error:
            log_step(f"files that were moved away stay: {error}")
            return None

    def present(self) -> Iterator[ListedFile]:
        """The files that are here, by their paths in the table."""
        yield from self.files.walk(f"{self.directory}/files")

    def move_away(self, file: ListedFile) -> None:
        """Moves a file of the undo list out of the table."""
        self.files.move(self._in_table(file), self._here(file))

    def restore(self, file: ListedFile) -> None:
        """Moves a file back. Where the table still has it, as after a kill on S3, this copy is removed.

        Raises OtherFileError where the table has another file of this path, such as half a copy.
        """
        there = self.files.status(self._in_table(file))
        if there is None:
            self.files.move(self._here(file), self._in_table(file))
        elif there.size == file.size:
            self.files.delete(self._here(file))
        else:
            raise OtherFileError(
                f"{self._in_table(file)} has {there.size} bytes, and {self._here(file)}, which was moved away from "
                f"there, {file.size}"
            )

    def restore_each(self, files: Iterable[ListedFile]) -> None:
        """Moves these files back: all that can be. Raises ChangeFailedError for the first that cannot."""
        failed: ChangeFailedError | None = None
        for each in files:
            try:
                self.restore(each)
            except ChangeFailedError as error:
                failed = failed or error
        if failed is not None:
            raise failed

    def remove(self, file: ListedFile) -> None:
        """Removes a file for good."""
        self.files.delete(self._here(file))

    def close(self) -> None:
        """Removes the undo list, unless a file is left here."""
        if next(self.present(), None) is None:
            self.files.delete(f"{self.directory}/{_LIST}")
            self.files.prune(self.directory)

    def _lines(self) -> list[dict[str, Any]]:
        path = f"{self.directory}/{_LIST}"
        content = self.files.read(path, MAX_LIST_BYTES)
        try:
            lines: list[dict[str, Any]] = [json.loads(each) for each in (content or b"").splitlines()]
            if lines[0]["version"] != VERSION or len(lines) != lines[0]["files"] + 1:
                raise ValueError(f"version {lines[0]['version']}, {len(lines)} lines")  # noqa: TRY301
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise UnreadableError(f"{path} is no whole undo list of version {VERSION}: {error}") from error
        return lines

    def _here(self, file: ListedFile) -> str:
        return f"{self.directory}/files/{file.path}"

    def _in_table(self, file: ListedFile) -> str:
        return f"{self.location}/{file.path}"


@dataclass(frozen=True)
class Quarantine:
    """All files that were moved away from the table at `location`."""

    files: StorageFiles
    directory: str
    location: str

    def batches(self) -> Iterator[MovedFiles]:
        """Those with an undo list or a file, oldest first. A kill can leave empty directories."""
        for name in sorted(set(self.files.names(self.directory))):
            batch = MovedFiles(self.files, f"{self.directory}/{name}", self.location)
            if _LIST in set(self.files.names(batch.directory)) or next(batch.present(), None) is not None:
                yield batch
            else:
                self.files.prune(batch.directory)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left of earlier runs, also no list of what they have moved."""
        return next(self.batches(), None) is None

    def begin(self, name: str, at: Moment, moved: Sequence[ListedFile]) -> MovedFiles:
        """A new batch with its undo list. Moves nothing yet."""
        batch = MovedFiles(self.files, f"{self.directory}/{at.storage_ms:013d}-{name}", self.location)
        header = {
            "version": VERSION,
            "storageMs": at.storage_ms,
            "driverMs": at.driver_ms,
            "table": self.location,
            "files": len(moved),
        }
        lines = ({"path": each.path, "size": each.size, "modifiedMs": each.modified_ms} for each in moved)
        text = "".join(f"{json.dumps(each, ensure_ascii=True)}\n" for each in (header, *lines))
        self.files.write(f"{batch.directory}/{_LIST}", text.encode())
        return batch
