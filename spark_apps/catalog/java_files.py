"""Metadata files read by Paimon's FileIO in the JVM, for a storage that Python cannot read, as HDFS."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from spark_apps.catalog.session import Session
from spark_apps.failures.causes import is_caused_by, root_message
from spark_apps.metadata.base import MAX_BYTES, Stamped, UnreadableError


@dataclass(frozen=True)
class JavaFiles:
    """The files that the access of the catalog reaches."""

    session: Session

    def read(self, path: str, max_bytes: int = MAX_BYTES) -> bytes | None:
        """The content of a file; None: no such file. Raises UnreadableError for more than `max_bytes`."""
        try:
            place = self.session.path(path)
            files = self.session.file_io(place)
            if int(files.getFileSize(place)) <= max_bytes:
                streams = self.session.jvm.org.apache.paimon.utils.IOUtils
                return bytes(streams.readFully(files.newInputStream(place), True))
        except Exception as error:  # noqa: BLE001  (py4j raises what Java has thrown)
            require_missing(path, error)
            return None
        raise UnreadableError(f"{path} has more than {max_bytes} bytes")

    def read_stamped(self, path: str) -> Stamped | None:
        """The content of a small file. A driver looks once, so it needs no stamp."""
        content = self.read(path)
        return None if content is None else Stamped(content, None)

    def names(self, directory: str) -> Iterator[str]:
        """Names of the files and directories in a directory; none where it does not exist."""
        try:
            place = self.session.path(directory)
            found = [str(each.getPath().getName()) for each in self.session.file_io(place).listStatus(place) or ()]
        except Exception as error:  # noqa: BLE001
            require_missing(directory, error)
            found = []
        yield from found


def require_missing(path: str, error: Exception) -> None:
    """Raises UnreadableError unless the failure is that there is no such file."""
    if not is_caused_by(error, "FileNotFoundException"):
        raise UnreadableError(f"{path}: {root_message(error)}") from error
