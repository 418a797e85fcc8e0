"""A volume on which the process dies at one of its changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from spark_apps.orphans.files import ListedFile
from spark_apps.orphans.volume import VolumeStorage
from tests.support.kill_points import Died


class DyingStorage(VolumeStorage):
    """Before the change of an odd number, after one of an even number. None: it never dies.

    A dead process does nothing more, also not what it would do when an exception passes by.
    """

    def __init__(self, dies_at: int | None) -> None:
        self._dies_at, self._changes, self._dead = dies_at, 0, False

    def write(self, path: str, content: bytes) -> None:
        self._change(super().write, path, content)

    def move(self, source: str, target: str) -> None:
        self._change(super().move, source, target)

    def delete(self, path: str) -> None:
        self._change(super().delete, path)

    def prune(self, directory: str) -> None:
        self._change(super().prune, directory)

    def status(self, path: str) -> ListedFile | None:
        self._require_alive()
        return super().status(path)

    def walk(self, directory: str) -> Iterator[ListedFile]:
        self._require_alive()
        return super().walk(directory)

    def _change(self, change: Callable[..., None], *args: Any) -> None:
        self._require_alive()
        self._changes += 1
        self._dead = self._changes == self._dies_at
        if not self._dead or self._changes % 2 == 0:
            change(*args)
        self._require_alive()

    def _require_alive(self) -> None:
        if self._dead:
            raise Died
