"""How much of the observed tables is kept in memory."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Final

from spark_apps.metadata.observation import Observation

MAX_ENTRIES: Final = 100_000
"""Sums and manifests that are kept of all tables together: about 50 MiB."""


class Budget:
    """What all tables keep. Threads share it."""

    def __init__(self, most: int = MAX_ENTRIES) -> None:
        self._most, self._kept, self._lock = most, 0, threading.Lock()

    @property
    def kept(self) -> int:
        """Entries that are kept now."""
        return self._kept

    def kept_of(self, before: Observation | None, after: Observation) -> tuple[Observation, bool]:
        """What to keep in place of `before`: `after`, and whether it is whole. Sums that do not fit are left out.

        The next change of such a table costs a read of all its manifests; without a change nothing differs.
        """
        size = _size(after)
        with self._lock:
            self._kept -= _size(before)
            is_whole = self._kept + size <= self._most
            self._kept += size if is_whole else 0
        return (after if is_whole else _without_sums(after)), is_whole

    def release(self, observation: Observation | None) -> None:
        """Nothing is kept of a table any more."""
        with self._lock:
            self._kept -= _size(observation)


def _without_sums(observation: Observation) -> Observation:
    contents = observation.contents
    return observation if contents is None else replace(observation, contents=replace(contents, manifests={}, sums={}))


def _size(observation: Observation | None) -> int:
    contents = None if observation is None else observation.contents
    return 0 if contents is None else len(contents.sums) + len(contents.manifests)
