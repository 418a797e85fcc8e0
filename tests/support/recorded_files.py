"""Files of a volume, and what was asked of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from spark_apps.metadata.base import MAX_BYTES, Stamped
from spark_apps.metadata.volume import VolumeFiles


class Recorded:
    """Files of a volume, and the names of all that was asked for. `before` is called with each name."""

    def __init__(self, before: Callable[[str], None] = lambda _: None) -> None:
        self.asked: list[str] = []
        self._before = before
        self._files = VolumeFiles()

    def read(self, path: str, max_bytes: int = MAX_BYTES) -> bytes | None:
        self._ask(Path(path).name)
        return self._files.read(path, max_bytes)

    def read_stamped(self, path: str) -> Stamped | None:
        self._ask(Path(path).name)
        return self._files.read_stamped(path)

    def names(self, directory: str) -> Iterator[str]:
        self._ask(f"{Path(directory).name}/")
        return self._files.names(directory)

    def _ask(self, name: str) -> None:
        self.asked.append(name)
        self._before(name)
