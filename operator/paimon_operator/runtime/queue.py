"""The keyed work queue: many changes of one object become one reconcile, as in client-go's work queue.

A key is *waiting*, *busy* (with a worker), or neither. A key that is added while busy waits again as soon as its worker
is done. Two workers therefore never have the same key, and no change is lost.

Unlike client-go's, the queue is fair by namespace: the waiting namespace with the fewest busy keys is next, in turns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar

from paimon_operator.core.turns import Turns

K = TypeVar("K", bound=Hashable)


class Timer(Protocol):
    """The return value of `call_later`."""

    def cancel(self) -> None: ...

    def when(self) -> float:
        """The time when it fires, on the queue's clock."""


class CallLater(Protocol):
    """`loop.call_later`."""

    def __call__(self, delay: float, callback: Callable[[K], None], argument: K, /) -> Timer: ...


class QueueClosedError(Exception):
    """The queue returns no more keys: the process is stopping."""


class WorkQueue(Generic[K]):
    """Coalescing queue of keys for the tasks of one event loop. `clock` is in seconds.

    `on_late(key)` is called for a key of which an event may have been lost: its time has come, and nothing has enqueued
    it before.
    """

    def __init__(
        self,
        *,
        namespace_of: Callable[[K], str],
        clock: Callable[[], float],
        call_later: CallLater,
        on_late: Callable[[K], None],
    ) -> None:
        self._namespace_of, self._clock, self._call_later, self._on_late = namespace_of, clock, call_later, on_late
        self._waiting: dict[K, float] = {}
        self._turns: Turns[K] = Turns()
        self._busy: set[K] = set()
        self._again: dict[K, float] = {}
        self._timers: dict[K, Timer] = {}
        self._unfinished: dict[K, float] = {}
        self._ready = asyncio.Event()
        self._closed_at: float | None = None

    def add(self, key: K) -> None:
        """Enqueues the key now, once. A later time of the key is dropped: its reconcile sets a new one."""
        self._cancel_timer(key)
        self._unfinished.setdefault(key, self._clock())
        if key in self._busy:
            self._again.setdefault(key, self._clock())
        elif key not in self._waiting:
            self._enqueue(key, self._clock())

    def add_late(self, key: K) -> None:
        """Enqueues the key now, because an event of it may have been lost."""
        self._on_late(key)
        self.add(key)

    def add_late_after(self, key: K, delay: float) -> None:
        """Enqueues the key after `delay` seconds at the latest, because an event of it may have been lost already.

        Its next reconcile knows that, also one that comes earlier for another reason.
        """
        self._on_late(key)
        self.add_after(key, delay, expected=True)

    def add_after(self, key: K, delay: float, *, expected: bool = False) -> None:
        """Enqueues the key after `delay` seconds. The earlier of two times applies; a waiting key stays as it is.

        `expected`: that the time comes is no sign of a lost event.
        """
        if delay <= 0:
            return self.add(key)
        if key in self._waiting or key in self._again:
            return None
        timer = self._timers.get(key)
        if timer is None or self._clock() + delay < timer.when():
            self._cancel_timer(key)
            self._timers[key] = self._call_later(delay, self.add if expected else self.add_late, key)
        return None

    async def get(self) -> K:
        """The next key. It is busy until `done`. Raises QueueClosedError after `close`."""
        while not self._waiting and self._closed_at is None:
            self._ready.clear()
            await self._ready.wait()
        if self._closed_at is not None:
            raise QueueClosedError
        key = self._turns.pop(in_use=map(self._namespace_of, self._busy))
        del self._waiting[key]
        self._busy.add(key)
        return key

    def done(self, key: K, *, failed: bool = False) -> None:
        """Ends the work on `key`, which waits again if it was added meanwhile. After a failure it is unfinished."""
        self._busy.remove(key)
        since = self._again.pop(key, None)
        if not failed:
            self._unfinished.pop(key)
        if since is not None:
            self._unfinished.setdefault(key, since)
            self._enqueue(key, since)

    def close(self) -> None:
        """Stops the queue. Waiting keys are not reconciled; the first list of the next process enqueues them."""
        self._closed_at = self._clock() if self._closed_at is None else self._closed_at
        for key in tuple(self._timers):
            self._cancel_timer(key)
        self._ready.set()

    @property
    def depth(self) -> int:
        """Number of waiting keys."""
        return len(self._waiting)

    @property
    def busy(self) -> int:
        """Number of busy keys."""
        return len(self._busy)

    @property
    def oldest_age(self) -> float:
        """Seconds the longest waiting key has waited; 0 when none waits."""
        return self._clock() - min(self._waiting.values()) if self._waiting else 0.0

    def unfinished_since(self, is_one: Callable[[K], bool]) -> float | None:
        """Since when the oldest of these keys has had work that no reconcile has finished; None when none has.

        A closed queue finishes nothing that comes due.
        """
        since = [since for key, since in self._unfinished.items() if is_one(key)]
        return min([*since, *([] if self._closed_at is None else [self._closed_at])], default=None)

    def _enqueue(self, key: K, since: float) -> None:
        self._waiting[key] = since
        self._turns.add(self._namespace_of(key), key)
        self._ready.set()

    def _cancel_timer(self, key: K) -> None:
        if timer := self._timers.pop(key, None):
            timer.cancel()
