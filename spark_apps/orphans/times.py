"""The time of the storage, by which the ages of its files are counted, beside the driver's clock."""

from __future__ import annotations

import time
from dataclasses import dataclass

from spark_apps.metadata.base import UnreadableError
from spark_apps.orphans.files import StorageFiles


@dataclass(frozen=True)
class Moment:
    """One moment by two clocks, in ms since 1970. A wrong clock can only make files look younger."""

    storage_ms: int
    driver_ms: int

    @property
    def earliest_ms(self) -> int:
        """The earlier time."""
        return min(self.storage_ms, self.driver_ms)

    def since(self, before: Moment) -> int:
        """Milliseconds from `before` to now: by the clock that says less."""
        return min(self.storage_ms - before.storage_ms, self.driver_ms - before.driver_ms)


def moment_of(files: StorageFiles, directory: str) -> Moment:
    """The moment now. The storage's time is that of a file that is written for it."""
    path = f"{directory}/clock"
    files.write(path, b"This file shows the time of the storage.\n")
    found = files.status(path)
    if found is None:
        raise UnreadableError(f"{path} was written and does not exist")
    return Moment(found.modified_ms, time.time_ns() // 1_000_000)
