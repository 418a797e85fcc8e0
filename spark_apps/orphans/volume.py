"""Files on a volume, to read and to change."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Final

from spark_apps.metadata.volume import VolumeFiles, local, readable
from spark_apps.orphans.files import ChangeFailedError, ListedFile

_MS: Final = 1_000_000
"""Nanoseconds."""


class VolumeStorage(VolumeFiles):
    """Plain files that can be moved and removed."""

    may_change_tables: ClassVar[bool] = True

    @property
    def largest_move(self) -> int | None:
        """No limit."""
        return None

    def walk(self, directory: str) -> Iterator[ListedFile]:
        """All files below a directory; none where it does not exist. Links are left out."""
        root = local(directory)
        left = [root]
        while left:
            for each in _entries(left.pop()):
                with readable(each.path):
                    if each.is_symlink():
                        continue
                    if each.is_dir():
                        left.append(Path(each.path))
                        continue
                found = self.status(each.path)
                if found is not None:  # else a writer has just renamed its temporary file
                    yield replace(found, path=os.path.relpath(each.path, root))

    def status(self, path: str) -> ListedFile | None:
        """The file at this path; None: no such file."""
        with readable(path):
            try:
                found = local(path).lstat()
            except (FileNotFoundError, NotADirectoryError):
                return None
        return ListedFile(path, found.st_size, found.st_mtime_ns // _MS)

    def write(self, path: str, content: bytes) -> None:
        """Writes a file beside it, and renames that."""
        target = local(path)
        beside = target.with_name(f".{target.name}.tmp")
        with _changing(path):
            target.parent.mkdir(parents=True, exist_ok=True)
            with beside.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(target)

    def move(self, source: str, target: str) -> None:
        """Renames the file."""
        with _changing(source):
            local(target).parent.mkdir(parents=True, exist_ok=True)
            local(source).rename(local(target))

    def delete(self, path: str) -> None:
        """Removes the file."""
        with _changing(path):
            local(path).unlink(missing_ok=True)

    def prune(self, directory: str) -> None:
        """Removes empty directories, the innermost first."""
        for inner, _, _ in os.walk(local(directory), topdown=False):
            with suppress(OSError):
                Path(inner).rmdir()


def _entries(directory: Path) -> list[os.DirEntry[str]]:
    """What is in a directory. One that vanishes meanwhile has nothing; Paimon removes empty ones."""
    with readable(str(directory)):
        try:
            with os.scandir(directory) as found:
                return list(found)
        except FileNotFoundError:
            return []


@contextmanager
def _changing(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ChangeFailedError(f"{path}: {error.strerror or error}") from error
