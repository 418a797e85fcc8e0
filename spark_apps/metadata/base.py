"""The protocol of a kind of storage whose files can be read without a JVM."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

MAX_BYTES: Final = 1 << 20
"""Largest file that is read by default. A schema of 10,000 columns has about that size."""
SETTLED_S: Final = 2
"""Seconds after which a file cannot be overwritten within the same tick of its time: S3 has whole seconds."""


class UnreadableError(Exception):
    """What is asked for cannot be read without a JVM. The message is one clause with the reason.

    Callers leave it to the JVM, which reads it or classifies the failure.
    """


@dataclass(frozen=True)
class Stamped:
    """The content of a file that is overwritten, and its stamp.

    An equal stamp later proves that nobody has written the file since. None: it was written so recently that a later
    write could have the same time, or the storage gives no time.
    """

    content: bytes
    stamp: str | None


class MetadataFiles(Protocol):
    """The files of one storage, named by URIs as in `JobCatalog.warehouse`. A new kind is one class and one line in
    `files_of`. Each method raises UnreadableError when the storage fails or refuses access.
    """

    def read(self, path: str, max_bytes: int = MAX_BYTES) -> bytes | None:
        """The content of a file; None: no such file. Raises UnreadableError for more than `max_bytes`."""

    def read_stamped(self, path: str) -> Stamped | None:
        """The content of a small file with its stamp, in one request; None: no such file."""

    def names(self, directory: str) -> Iterator[str]:
        """Names of the files and directories in a directory, in no certain order; none where it does not exist."""


class TimedFiles(MetadataFiles, Protocol):
    """`MetadataFiles` that know the times of files: all that are read without a JVM."""

    def times(self, directory: str) -> Iterator[tuple[str, int]]:
        """Names of the files in a directory, each with the time in ms of its last write, by the storage's clock."""


def within(content: bytes, max_bytes: int, path: str) -> bytes:
    """The content. Raises UnreadableError if it has more than `max_bytes`: callers read one byte more than that."""
    if len(content) > max_bytes:
        raise UnreadableError(f"{path} has more than {max_bytes} bytes")
    return content
