"""Five-field cron in a time zone: when the next tick is, and which tick is due.

A tick t is due when t <= now and t is after the last tick that was answered. Of several missed ticks only the latest
runs. All results are in UTC. Clock changes follow Debian's cron, as `cronsim` does: a fixed time in the skipped hour
runs once when the gap ends, a fixed time in the repeated hour runs once, and `*/15` continues through both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

_FIELDS: Final = 5
_PROBE: Final = datetime(2024, 1, 1, tzinfo=UTC)


class ScheduleError(ValueError):
    """An invalid cron expression or time zone. The message is one clause without a full stop."""


@dataclass(frozen=True)
class Schedule:
    """A cron expression in a time zone. `parse` creates it and checks both."""

    expression: str
    zone: ZoneInfo

    @property
    def text(self) -> str:
        """Expression and time zone."""
        return f"{self.expression} {self.zone.key}"

    def latest(self, now: datetime) -> datetime:
        """The latest tick that is not after `now`, or a moment shortly before `now` when none is near."""
        before = self._shortly_before(now)
        return self.due(before, now) or before

    def next_after(self, moment: datetime) -> datetime:
        """The first tick strictly after `moment`."""
        return _next_tick(self, moment)

    def due(self, last: datetime, now: datetime) -> datetime | None:
        """The latest tick in (last, now], or None. `last` is the last answered tick, or the object's creation."""
        tick = self.next_after(last)
        if tick > now:
            return None
        for later in self.ticks_after(max(last, self._shortly_before(now))):
            if later > now:
                break
            tick = later
        return tick

    def ticks_after(self, moment: datetime) -> Iterator[datetime]:
        """All ticks strictly after `moment`, in order."""
        moment = moment.astimezone(UTC)
        for local in CronSim(self.expression, moment.astimezone(self.zone)):
            tick = local.astimezone(UTC)
            # In the second pass of a repeated hour, cronsim returns ticks of the first pass, which is over.
            if tick > moment:
                yield tick
        raise ScheduleError(f"{self.expression!r} never comes")

    def _shortly_before(self, now: datetime) -> datetime:
        """A moment shortly before the latest tick, so that few ticks lie between the two.

        A backward search alone is not enough: in the second pass of a repeated hour the wall clock reads as in the
        first pass, and cronsim skips the ticks of the first pass after that reading.
        """
        start = now.astimezone(self.zone)
        earlier = next(CronSim(self.expression, start, reverse=True), start)
        return earlier.astimezone(UTC) - timedelta(seconds=1)


@lru_cache(maxsize=16384)
def _next_tick(schedule: Schedule, moment: datetime) -> datetime:
    # Tables share schedules and last ticks, and an idle table asks for the same tick at every reconcile.
    return next(schedule.ticks_after(moment))


@lru_cache(maxsize=4096)
def parse(expression: str, zone: str) -> Schedule:
    """The schedule of both texts. Raises ScheduleError. Cached: ten thousand tables share few schedules."""
    if len(expression.split()) != _FIELDS:
        raise ScheduleError(f"{expression!r} has not the five fields of a cron schedule")
    schedule = Schedule(expression, time_zone(zone))
    try:
        CronSim(expression, _PROBE)
    except CronSimError as error:
        raise ScheduleError(_problem(expression, error)) from error
    schedule.next_after(_PROBE)
    return schedule


@lru_cache(maxsize=1024)
def time_zone(name: str) -> ZoneInfo:
    """The zone of the IANA database. Raises ScheduleError for anything else, paths and `localtime` among them.

    Every name of the database starts with a capital; what does not is the machine's own (`localtime`, `posixrules`).
    """
    if not name[:1].isupper() or name not in available_timezones():
        raise ScheduleError(f"{name!r} is not a time zone of the IANA database")
    return ZoneInfo(name)


def _problem(expression: str, error: CronSimError) -> str:
    if "day-of-month" in str(error) and _readable(_in_every_month(expression)):
        return f"{expression!r} never comes: none of its months has such a day"
    return f"{expression!r} is not a cron schedule ({str(error)[:1].lower()}{str(error)[1:]})"


def _in_every_month(expression: str) -> str:
    minute, hour, day, _, weekday = expression.split()
    return f"{minute} {hour} {day} * {weekday}"


def _readable(expression: str) -> bool:
    try:
        CronSim(expression, _PROBE)
    except CronSimError:
        return False
    return True
