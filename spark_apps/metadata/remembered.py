"""The files of a table as a run has found them when it began: what several of its steps ask for is read once.

It is for the steps before a run's first change, and for none after it. What somebody else writes during these steps is
as if it came later: such a commit counts for the next run, which inspects from the snapshot that this one has seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from spark_apps.metadata.base import MAX_BYTES, MetadataFiles, Stamped, TimedFiles, within

MOST_BYTES: Final = 32 << 10
"""Larger files are read again: manifests, which no two steps ask for, or only with others that they need."""
MOST_FILES: Final = 100
"""Files whose content is remembered."""
MOST_NAMES: Final = 1_000
"""Longer directories are listed again."""


@dataclass(frozen=True)
class RememberedFiles:
    """The files in `files`. For one thread."""

    files: MetadataFiles
    _contents: dict[str, bytes | None] = field(default_factory=dict)
    _stamped: dict[str, Stamped | None] = field(default_factory=dict)
    _names: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def read(self, path: str, max_bytes: int = MAX_BYTES) -> bytes | None:
        """The content of a file when it was first read."""
        if path not in self._contents:
            content = self.files.read(path, max_bytes)
            if len(self._contents) == MOST_FILES or len(content or b"") > MOST_BYTES:
                return content
            self._contents[path] = content
        known = self._contents[path]
        return None if known is None else within(known, max_bytes, path)

    def read_stamped(self, path: str) -> Stamped | None:
        """The content of a small file with its stamp, when both were first read."""
        if path not in self._stamped:
            self._stamped[path] = self.files.read_stamped(path)
        return self._stamped[path]

    def names(self, directory: str) -> Iterator[str]:
        """Names in a directory when it was first listed."""
        if directory not in self._names:
            names = tuple(self.files.names(directory))
            if len(names) > MOST_NAMES:
                yield from names
                return
            self._names[directory] = names
        yield from self._names[directory]


@dataclass(frozen=True)
class RememberedTimedFiles(RememberedFiles):
    """The same with the times of files."""

    files: TimedFiles

    def times(self, directory: str) -> Iterator[tuple[str, int]]:
        """Names and times of the files in a directory as they are now."""
        yield from self.files.times(directory)
