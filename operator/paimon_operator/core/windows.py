"""Maintenance windows: stretches of time that open at each tick of a schedule and stay open for a fixed time.

The opening is a tick of `core/schedule.py`, in the zone of the schedule. The length is elapsed time, so a window that
passes a clock change closes an hour earlier or later by the wall clock. Windows may pass midnight and may overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from paimon_operator.core.schedule import Schedule


@dataclass(frozen=True)
class Recurrence:
    """A window that opens at each tick of `schedule`."""

    schedule: Schedule
    duration: timedelta


Windows = tuple[Recurrence, ...]


@dataclass(frozen=True)
class Window:
    """One window: from its opening to its closing, which is not part of it."""

    opens: datetime
    closes: datetime
    continues: bool = False
    """Whether another window was open until then: nothing has had to wait for this opening."""

    @property
    def duration(self) -> timedelta:
        """How long it is open."""
        return self.closes - self.opens

    def covers(self, moment: datetime) -> bool:
        """Whether it is open at `moment`."""
        return self.opens <= moment < self.closes


def open_at(windows: Windows, moment: datetime) -> Window | None:
    """The window that is open at `moment`; of several the one that closes last. None if all are closed."""
    covering = (each for each in near(windows, moment) if each.covers(moment))
    return max(covering, key=lambda each: each.closes, default=None)


def near(windows: Windows, moment: datetime) -> tuple[Window, ...]:
    """Of each recurrence its latest window up to `moment`, which may be closed again, and its next one."""
    return _near(windows, moment.replace(second=0, microsecond=0))


@lru_cache(maxsize=4096)
def _near(windows: Windows, minute: datetime) -> tuple[Window, ...]:
    """`near` of a whole minute: ticks are whole minutes. Cached, because the tables of a catalog ask for the same."""
    found = [window for each in windows for window in _latest_and_next(each, minute)]
    return tuple(Window(each.opens, each.closes, _is_open_before(windows, each.opens)) for each in found)


def _latest_and_next(recurrence: Recurrence, minute: datetime) -> list[Window]:
    ticks = (recurrence.schedule.latest(minute), recurrence.schedule.next_after(minute))
    return [Window(tick, tick + recurrence.duration) for tick in ticks]


@lru_cache(maxsize=4096)
def _is_open_before(windows: Windows, opening: datetime) -> bool:
    """Whether a window was open until `opening`. Windows that touch count as one. Cached: it holds for many minutes."""
    before = opening - timedelta(seconds=1)
    return any(each.schedule.latest(before) + each.duration >= opening for each in windows)
