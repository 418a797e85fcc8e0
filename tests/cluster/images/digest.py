"""One digest over files and trees: what decides whether an image must be built again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

LENGTH = 12
"""Hexadecimal digits of a tag: 48 bits, for a handful of images."""


def digest(*, files: Iterable[Path] = (), texts: Iterable[str] = ()) -> str:
    """Returns a short digest of the names and contents of `files` (a directory counts with all below it) and `texts`.

    Times and modes do not count, and neither does a file's place outside the tree that is named.
    """
    total = hashlib.sha256()
    for text in texts:
        total.update(text.encode() + b"\0")
    for path in files:
        for file in source_files(path):
            total.update(f"{file.relative_to(path.parent)}\0".encode())
            with file.open("rb") as handle:
                total.update(hashlib.file_digest(handle, "sha256").digest())
    return total.hexdigest()[:LENGTH]


def source_files(path: Path) -> list[Path]:
    """Returns the file, or the tree's files without Python's caches, sorted; raises FileNotFoundError."""
    if not path.is_dir():
        path.stat()
        return [path]
    return sorted(file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
