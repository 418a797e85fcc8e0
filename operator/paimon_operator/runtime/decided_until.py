"""Until when the due ticks of all tables were decided. The Lease says it to the next process.

A process remembers the ticks that it skips without storing them (`deferred_ticks`). The next one takes this moment
instead, for the first decision about each table. See `core.table.repeated_skips`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

from paimon_operator.api.base import rfc3339
from paimon_operator.core.ports import Clock, Kind
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.queue import WorkQueue

MARGIN: Final = timedelta(seconds=10)
"""So much later than its tick may a timer fire: it counts by another clock, which differs a little after a day."""
RECENT: Final = timedelta(minutes=10)
"""While the moment is older, because a table fails again and again, every skip is stored."""
_COUNTED_FOR_S: Final = 1.0
_STEP_S: Final = 5.0


class DecidedUntil:
    """The moment that an earlier process has left, and the one that this process leaves."""

    def __init__(self, clock: Clock, *, monotonic: Callable[[], float], namespaces: Iterable[str] = ()) -> None:
        """`monotonic` is the queue's clock. A process that watches other `namespaces` says nothing about these."""
        self._clock, self._monotonic = clock, monotonic
        self.scope = hashlib.sha256("/".join(sorted(namespaces)).encode()).hexdigest()[:8]
        """Stands for the namespaces in what the Lease has."""
        self._left: datetime | None = None
        self._queue: WorkQueue[Key] | None = None
        self._listed_at: float | None = None
        self._has_caught_up = False
        self._counted: tuple[float, float | None] | None = None
        self._seen = clock.now(), monotonic()
        """Both clocks, as last read."""
        self._stepped_at: datetime | None = None

    @property
    def left(self) -> datetime | None:
        """The moment of the process before; None: it is not known."""
        return self._left

    def found(self, text: str | None) -> None:
        """Takes over what the Lease has from the process before. What is not a moment of the same scope is nothing."""
        time, _, scope = (text or "").partition(" ")
        try:
            moment = datetime.fromisoformat(time)
            is_moment = moment.tzinfo is not None and scope == self.scope
            self._left = moment.astimezone(UTC) if is_moment else None
        except (ValueError, OverflowError):
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
        return None if moment is None else f"{rfc3339(moment)} {self.scope}"

    def is_recent(self) -> bool:
        """Whether the next process would know of a tick that is skipped now."""
        moment = self.get()
        return moment is not None and self._clock.now() - moment < RECENT

    def get(self) -> datetime | None:
        """The moment of this process, once it has caught up with the one before; None: it is not known."""
        self._notice_step()
        if self._queue is None or self._listed_at is None:
            return self._left
        since = self._unfinished_since(self._queue)
        self._has_caught_up = self._has_caught_up or since is None or since > self._listed_at
        if not self._has_caught_up:
            return self._left
        waits = 0.0 if since is None else self._monotonic() - since
        decided = self._clock.now() - timedelta(seconds=waits)
        return min(decided, self._stepped_at or decided) - MARGIN

    def _notice_step(self) -> None:
        """Keeps when the clock was set, or the machine slept: timers of later ticks come too late by that.

        It is kept until the process ends, and every skip is stored from then on.
        """
        now, (before, monotonic) = (self._clock.now(), self._monotonic()), self._seen
        step = (now[0] - before).total_seconds() - (now[1] - monotonic)
        if self._stepped_at is None and abs(step) > _STEP_S:
            self._stepped_at = before
        self._seen = now

    def _unfinished_since(self, queue: WorkQueue[Key]) -> float | None:
        """Not counted at each reconcile: after the first list every table waits."""
        now = self._monotonic()
        if self._counted is None or now - self._counted[0] >= _COUNTED_FOR_S:
            self._counted = now, queue.unfinished_since(_is_table)
        return self._counted[1]


def _is_table(key: Key) -> bool:
    return key.kind is Kind.TABLE
