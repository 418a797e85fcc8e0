"""Files to read and to change by Paimon's FileIO, where Python cannot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, ClassVar

from spark_apps.catalog.java_files import JavaFiles, require_missing
from spark_apps.failures.causes import root_message
from spark_apps.orphans.files import ChangeFailedError, ListedFile


class JavaStorage(JavaFiles):
    """The files that the access of the catalog reaches."""

    may_change_tables: ClassVar[bool] = True

    @property
    def largest_move(self) -> int | None:
        """No limit."""
        return None

    def walk(self, directory: str) -> Iterator[ListedFile]:
        """All files below a directory; none where it does not exist."""
        root = self.session.path(directory).toUri().getPath()
        left = [directory]
        while left:
            for each in self._statuses(left.pop()):
                path = each.getPath()
                if each.isDir():
                    left.append(path.toString())
                else:
                    inside = str(path.toUri().getPath()).removeprefix(f"{root}/")
                    yield ListedFile(inside, int(each.getLen()), int(each.getModificationTime()))

    def status(self, path: str) -> ListedFile | None:
        """The file at this path; None: no such file."""
        place = self.session.path(path)
        try:
            found = self.session.file_io(place).getFileStatus(place)
        except Exception as error:  # noqa: BLE001  (py4j raises what Java has thrown)
            require_missing(path, error)
            return None
        return ListedFile(path, int(found.getLen()), int(found.getModificationTime()))

    def write(self, path: str, content: bytes) -> None:
        """Writes a file beside it, and renames that."""
        place = self.session.path(path)
        with _changing(path):
            files = self.session.file_io(place)
            files.delete(place, False)
            if not files.tryToWriteAtomic(place, content.decode()):
                raise ChangeFailedError(f"{path}: it exists already")

    def move(self, source: str, target: str) -> None:
        """Renames the file."""
        place, to = self.session.path(source), self.session.path(target)
        with _changing(source):
            files = self.session.file_io(place)
            files.mkdirs(to.getParent())
            if not files.rename(place, to):
                raise ChangeFailedError(f"{source}: the storage refused to move it")

    def delete(self, path: str) -> None:
        """Removes the file."""
        place = self.session.path(path)
        with _changing(path):
            files: Any = self.session.file_io(place)
            files.delete(place, False)

    def prune(self, directory: str) -> None:
        """Removes empty directories, the innermost first."""
        for each in self._statuses(directory):
            if each.isDir():
                self.prune(each.getPath().toString())
        with suppress(ChangeFailedError):  # (one that is not empty)
            self.delete(directory)

    def _statuses(self, directory: str) -> list[Any]:
        place = self.session.path(directory)
        try:
            return list(self.session.file_io(place).listStatus(place) or ())
        except Exception as error:  # noqa: BLE001
            require_missing(directory, error)
            return []


@contextmanager
def _changing(path: str) -> Iterator[None]:
    try:
        yield
    except ChangeFailedError:
        raise
    except Exception as error:
        raise ChangeFailedError(f"{path}: {root_message(error)}") from error
