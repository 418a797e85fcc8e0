"""A clock that a test advances, with `call_later` and `sleep`. Nothing waits for real time."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

START: Final = datetime(2026, 11, 21, 8, tzinfo=UTC)
"""When a test begins that names no other time."""


@dataclass(order=True)
class VirtualTimer:
    """One call at a time of the clock."""

    at: float
    number: int
    fire: Callable[[], None] = field(compare=False)
    cancelled: bool = field(default=False, compare=False)

    def cancel(self) -> None:
        self.cancelled = True

    def when(self) -> float:
        return self.at


class VirtualTime:
    """Seconds since the test began."""

    def __init__(self, start: datetime = START) -> None:
        self._start, self._seconds = start, 0.0
        self._timers: list[VirtualTimer] = []
        self._numbers = itertools.count()
        self.slept: list[float] = []

    def seconds(self) -> float:
        """A monotonic clock."""
        return self._seconds

    def now(self) -> datetime:
        """A wall clock, which shows `start` when the test begins."""
        return self._start + timedelta(seconds=self._seconds)

    def step(self, ahead: timedelta) -> None:
        """Sets the wall clock, as somebody does by hand. Timers do not notice."""
        self._start += ahead

    def call_later(self, delay: float, callback: Callable[..., None], *arguments: Any) -> VirtualTimer:
        timer = VirtualTimer(self._seconds + delay, next(self._numbers), lambda: callback(*arguments))
        heapq.heappush(self._timers, timer)
        return timer

    async def sleep(self, delay: float) -> None:
        """Advances the clock by `delay` seconds and returns at once."""
        self.slept.append(delay)
        self.advance(delay)

    def advance(self, seconds: float) -> None:
        """Advances the clock and fires every timer that is due, in the order of time."""
        end = self._seconds + seconds
        while self._timers and self._timers[0].at <= end:
            timer = heapq.heappop(self._timers)
            self._seconds = timer.at
            if not timer.cancelled:
                timer.fire()
        self._seconds = end
