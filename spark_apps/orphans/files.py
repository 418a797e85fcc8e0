"""The protocol of a kind of storage whose files can be listed with their times, moved and removed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from spark_apps.metadata.base import MetadataFiles, UnreadableError


class ChangeFailedError(UnreadableError):
    """A file could not be written, moved or removed."""


class OtherFileError(ChangeFailedError):
    """A file cannot be moved back, because another one has its path. Both stay."""


@dataclass(frozen=True, slots=True, order=True)
class ListedFile:
    """A file as the storage lists it. `modified_ms` is the storage's own time of it, in ms since 1970."""

    path: str
    """Relative to the directory that was listed."""
    size: int
    modified_ms: int

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


class StorageFiles(MetadataFiles, Protocol):
    """`MetadataFiles` that can be changed. A new kind is one class and one line in `storage_in`.

    Reading raises UnreadableError, changing ChangeFailedError, when the storage fails or refuses access.
    """

    @property
    def may_change_tables(self) -> bool:
        """Whether a table's files may be changed; False: only reports are written, and the rest is left to a JVM."""

    @property
    def largest_move(self) -> int | None:
        """Bytes of the largest file that can be moved; None: there is no limit."""

    def walk(self, directory: str) -> Iterator[ListedFile]:
        """All files below a directory, in no certain order; none where it does not exist. Links are left out."""

    def status(self, path: str) -> ListedFile | None:
        """The file at this path, which its status names in full; None: no such file."""

    def write(self, path: str, content: bytes) -> None:
        """Writes a file as a whole or not at all, and makes its directories. Replaces a file that exists."""

    def move(self, source: str, target: str) -> None:
        """Moves a file, and makes the directories of `target`. After a kill, both can exist, but never none."""

    def delete(self, path: str) -> None:
        """Removes a file. One that does not exist is no failure."""

    def prune(self, directory: str) -> None:
        """Removes the directory and those in it, as far as they hold no file. Failures do not matter."""
