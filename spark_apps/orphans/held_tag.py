"""A tag of the operator on the latest snapshot, held while orphans are moved away.

It keeps the files of that snapshot while another program expires snapshots. Nothing depends on it for safety, since a
reference that cannot be read ends the run anyway: with the tag, such a program does not end it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.snapshots import SnapshotFiles
from spark_apps.orphans.files import StorageFiles

NAME: Final = "paimon-operator-orphan-files"


def is_held(files: StorageFiles, location: str) -> bool:
    """Whether the table has the tag."""
    return files.status(_path(location)) is not None


def remove_left_tag(files: StorageFiles, location: str) -> None:
    """Removes the tag that a killed run has left."""
    if is_held(files, location):
        files.delete(_path(location))


@contextmanager
def held_tag(files: StorageFiles, location: str) -> Iterator[None]:
    """Holds the tag. A tag's file is that of its snapshot. A table without a snapshot gets none."""
    content = _latest(files, location)
    try:
        if content is not None:
            files.write(_path(location), content)
        yield
    finally:
        remove_left_tag(files, location)


def _latest(files: StorageFiles, location: str) -> bytes | None:
    latest = SnapshotFiles(files, location).latest_by_hint()
    if latest is None:
        return None
    content = files.read(f"{location}/snapshot/snapshot-{latest.id}")
    if content is None:
        raise UnreadableError(f"{location}/snapshot/snapshot-{latest.id} has expired just now")
    return content


def _path(location: str) -> str:
    return f"{location}/tag/tag-{NAME}"
