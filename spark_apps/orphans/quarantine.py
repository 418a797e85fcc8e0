"""Orphans that were moved away, and how each is moved back, as long as it was not removed for good.

  quarantine/<storage's time in ms>-<run>-<uid>-<batch>/undo.jsonl       a header, then one line for each file
  quarantine/<storage's time in ms>-<run>-<uid>-<batch>/files/<path>     the files, by their paths in the table

The undo list is written before the first move and removed after the last file. So after a kill at any step, each file
is at one of two known places, and the next run goes on from there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from spark_apps.metadata.base import UnreadableError
from spark_apps.orphans.files import ListedFile, StorageFiles
from spark_apps.orphans.times import Moment

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

    @property
    def moved_at(self) -> Moment:
        """When they were moved."""
        header = self._lines[0]
        return Moment(header["storageMs"], header["driverMs"])

    @property
    def listed(self) -> list[ListedFile]:
        """The files of the undo list. Each is here, or back in the table, or was never moved."""
        return [ListedFile(each["path"], each["size"], each["modifiedMs"]) for each in self._lines[1:]]

    def present(self) -> Iterator[ListedFile]:
        """Those of the undo list that are here."""
        here = {each.path for each in self.files.walk(f"{self.directory}/files")}
        yield from (each for each in self.listed if each.path in here)

    def move_away(self, file: ListedFile) -> None:
        """Moves a file of the undo list out of the table."""
        self.files.move(self._in_table(file), self._here(file))

    def restore(self, file: ListedFile) -> None:
        """Moves a file back. Where the table still has it, as after a kill on S3, this copy is removed."""
        if self.files.status(self._in_table(file)) is None:
            self.files.move(self._here(file), self._in_table(file))
        else:
            self.files.delete(self._here(file))

    def remove(self, file: ListedFile) -> None:
        """Removes a file for good."""
        self.files.delete(self._here(file))

    def close(self) -> None:
        """Removes the undo list, once no file is left here."""
        self.files.delete(f"{self.directory}/{_LIST}")
        self.files.prune(self.directory)

    @cached_property
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
        """Those with an undo list, oldest first. What a kill has left without one holds no file any more."""
        for name in sorted(set(self.files.names(self.directory))):
            batch = MovedFiles(self.files, f"{self.directory}/{name}", self.location)
            if _LIST in set(self.files.names(batch.directory)):
                yield batch
            else:
                self.files.prune(batch.directory)

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
