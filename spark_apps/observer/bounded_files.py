"""Files of which none is read whose size would take the memory of the observer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from spark_apps.metadata.base import MAX_BYTES, MetadataFiles, Stamped

MAX_FILE_BYTES: Final = 16 << 20
"""Largest file that is read. Paimon's default target of a manifest is 8 MiB."""


@dataclass(frozen=True)
class BoundedFiles:
    """The same files. Each method raises UnreadableError as theirs do."""

    files: MetadataFiles

    def read(self, path: str, max_bytes: int = MAX_BYTES) -> bytes | None:
        """The content of a file; None: no such file."""
        return self.files.read(path, min(max_bytes, MAX_FILE_BYTES))

    def read_stamped(self, path: str) -> Stamped | None:
        """The content of a small file with its stamp; None: no such file."""
        return self.files.read_stamped(path)

    def names(self, directory: str) -> Iterator[str]:
        """Names of the files and directories in a directory."""
        return self.files.names(directory)
