"""Files on a volume, which is a directory of the Pod."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from spark_apps.metadata.base import MAX_BYTES, SETTLED_S, Stamped, UnreadableError, within

_SCHEME: Final = "file:"
_NO_SUCH_FILE: Final = (FileNotFoundError, NotADirectoryError)


class VolumeFiles:
    """Plain files: `/warehouse/t`, `file:/warehouse/t` and `file:///warehouse/t` name the same one."""

    def read(self, path: str, max_bytes: int = MAX_BYTES) -> bytes | None:
        """The content of a file; None: no such file. Raises UnreadableError for more than `max_bytes`."""
        found = _opened(path, max_bytes)
        return None if found is None else found[0]

    def read_stamped(self, path: str) -> Stamped | None:
        """The content of a small file with its stamp; None: no such file."""
        found = _opened(path, MAX_BYTES)
        if found is None:
            return None
        content, status = found
        is_settled = time.time_ns() - status.st_mtime_ns >= SETTLED_S * 1_000_000_000
        stamp = f"{status.st_ino}/{status.st_mtime_ns}/{status.st_size}"
        return Stamped(content, stamp if is_settled else None)

    def names(self, directory: str) -> Iterator[str]:
        """Names of the files and directories in a directory; none where it does not exist."""
        with readable(directory):
            try:
                found = [each.name for each in local(directory).iterdir()]
            except _NO_SUCH_FILE:
                found = []
        yield from found

    def times(self, directory: str) -> Iterator[tuple[str, int]]:
        """Names of the files in a directory with their times; one that is removed meanwhile is left out."""
        with readable(directory):
            for name in list(self.names(directory)):
                with suppress(*_NO_SUCH_FILE):
                    found = (local(directory) / name).stat()
                    if stat.S_ISREG(found.st_mode):
                        yield name, found.st_mtime_ns // 1_000_000


def _opened(path: str, max_bytes: int) -> tuple[bytes, os.stat_result] | None:
    with readable(path):
        try:
            with local(path).open("rb") as file:
                return within(file.read(max_bytes + 1), max_bytes, path), os.fstat(file.fileno())
        except _NO_SUCH_FILE:
            return None


def local(uri: str) -> Path:
    """The path of a file by its URI."""
    return Path("/" + uri.removeprefix(_SCHEME).lstrip("/"))


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Turns failures of the system into UnreadableError."""
    try:
        yield
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror or error}") from error
