"""Until when the due ticks of all tables have been decided. The Lease has this moment, for the next process.

It is what makes `core.table.repeated_skips` safe over a restart: ticks after it may have had no decision.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from paimon_operator.api.base import rfc3339
from paimon_operator.core.ports import Clock, Kind
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.queue import WorkQueue

MARGIN: Final = timedelta(minutes=1)
"""A timer fires this much after its tick at the latest: the event loop may be busy, and clocks may be adjusted."""


class DecidedUntil:
    """The moment that an earlier process has left, and once this process has caught up, its own."""

    def __init__(self, clock: Clock, *, monotonic: Callable[[], float]) -> None:
        """`monotonic` is the queue's clock."""
        self._clock, self._monotonic = clock, monotonic
        self._left: datetime | None = None
        self._queue: WorkQueue[Key] | None = None
        self._listed_at: float | None = None
        self._has_caught_up = False

    def found(self, text: str | None) -> None:
        """Takes over what the Lease has from the process before. Anything but a time counts as nothing."""
        try:
            self._left = None if text is None else datetime.fromisoformat(text)
        except ValueError:
            self._left = None

    def lead(self, queue: WorkQueue[Key]) -> None:
        """Counts what this queue has not finished."""
        self._queue = queue

    def listed(self) -> None:
        """All objects have been enqueued once: with these, the process has caught up."""
        self._listed_at = self._monotonic()

    def text(self) -> str | None:
        """The moment as the Lease has it."""
        moment = self.get()
        return None if moment is None else rfc3339(moment)

    def get(self, margin: timedelta = MARGIN) -> datetime | None:
        """The moment; None: it is not known."""
        if self._queue is None or self._listed_at is None:
            return self._left
        since = self._queue.unfinished_since(_is_table)
        self._has_caught_up = self._has_caught_up or since is None or since > self._listed_at
        if not self._has_caught_up:
            return self._left
        waits = 0.0 if since is None else self._monotonic() - since
        return self._clock.now() - timedelta(seconds=waits) - margin


def _is_table(key: Key) -> bool:
    return key.kind is Kind.TABLE
