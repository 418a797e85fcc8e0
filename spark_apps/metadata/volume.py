"""Files on a volume, which is a directory of the Pod."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from spark_apps.metadata.base import MAX_BYTES, UnreadableError

_SCHEME: Final = "file:"
_NO_SUCH_FILE: Final = (FileNotFoundError, NotADirectoryError)


class VolumeFiles:
    """Plain files: `/warehouse/t`, `file:/warehouse/t` and `file:///warehouse/t` name the same one."""

    def read(self, path: str) -> bytes | None:
        """The content of a file; None: no such file. Raises UnreadableError for more than MAX_BYTES."""
        with _readable(path):
            try:
                with _local(path).open("rb") as file:
                    content = file.read(MAX_BYTES + 1)
            except _NO_SUCH_FILE:
                return None
        if len(content) > MAX_BYTES:
            raise UnreadableError(f"{path} has more than {MAX_BYTES} bytes")
        return content

    def names(self, directory: str) -> Iterator[str]:
        """Names of the files and directories in a directory; none where it does not exist."""
        with _readable(directory):
            try:
                found = [each.name for each in _local(directory).iterdir()]
            except _NO_SUCH_FILE:
                found = []
        yield from found


def _local(uri: str) -> Path:
    return Path("/" + uri.removeprefix(_SCHEME).lstrip("/"))


@contextmanager
def _readable(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror or error}") from error
