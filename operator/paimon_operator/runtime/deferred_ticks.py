"""Ticks that this process has skipped without storing them, per table: what brings its status up to date.

A decision about a table begins with them, whichever version of the table it has: an edit or a late event starts no run
for a tick that was skipped. A status that the process stores has them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.table.repeated_skips import Place, Tick, skipped_ticks, with_ticks
from paimon_operator.runtime.keys import Key


class DeferredTicks:
    """The skipped ticks of each table whose status on the API server does not have them."""

    def __init__(self) -> None:
        self._ticks: dict[Key, tuple[str, Mapping[Place, Tick]]] = {}
        """With the table's UID."""

    def note(self, key: Key, uid: str, status: TableStatus) -> None:
        """Remembers the ticks of a status that is not stored."""
        self._ticks[key] = uid, skipped_ticks(status)

    def forget(self, key: Key) -> None:
        """The status is stored, or the table is gone."""
        self._ticks.pop(key, None)

    def has(self, key: Key) -> bool:
        """Whether any is remembered."""
        return key in self._ticks

    def added_to(self, key: Key, uid: str, status: TableStatus, now: datetime) -> TableStatus:
        """The status with the ticks of this very table."""
        whose, ticks = self._ticks.get(key, ("", {}))
        return with_ticks(status, ticks, now) if ticks and whose == uid else status

    def first_next(self, key: Key) -> float | None:
        """The first tick that the process has not decided, of those schedules. Seconds since 1970; None: none."""
        _, ticks = self._ticks.get(key, ("", {}))
        return min((tick.next.timestamp() for tick in ticks.values()), default=None)
