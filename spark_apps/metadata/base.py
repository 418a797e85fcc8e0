"""The protocol of a kind of storage whose files can be read without a JVM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

MAX_BYTES: Final = 1 << 20
"""Largest file that is read. A schema of 10,000 columns has about that size."""


class UnreadableError(Exception):
    """What is asked for cannot be read without a JVM. The message is one clause with the reason.

    Callers leave it to the JVM, which reads it or classifies the failure.
    """


class MetadataFiles(Protocol):
    """The files of one storage, named by URIs as in `JobCatalog.warehouse`. A new kind is one class and one line in
    `files_of`. Each method raises UnreadableError when the storage fails or refuses access.
    """

    def read(self, path: str) -> bytes | None:
        """The content of a file; None: no such file. Raises UnreadableError for more than MAX_BYTES."""

    def names(self, directory: str) -> Iterator[str]:
        """Names of the files and directories in a directory, in no certain order; none where it does not exist."""
