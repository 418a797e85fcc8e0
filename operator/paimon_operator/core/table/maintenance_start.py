"""When due maintenance may start: its budget, the catalog's windows, the expected length of the run, its maxDelay.

- It waits for the next day once a budget is used up. No maxDelay overrides that: the budget limits what is paid for.
- It starts inside a window that it will not outlast, as far as the length of the last run tells.
- Work that is longer than every window starts in the next one of the longest that opens after it became due.
- Work that has waited for an opening starts after a delay that the table's UID decides: many tables wait for the same.
- Work that has waited for its maxDelay starts whether or not a window is open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from paimon_operator.api.base import rfc3339
from paimon_operator.api.run.status import RunTrigger
from paimon_operator.api.units import readable_duration
from paimon_operator.core import windows
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.base import DueRun
from paimon_operator.core.operations.causes import Cause
from paimon_operator.core.spec import spread
from paimon_operator.core.spec.context import WINDOWS, TableContext
from paimon_operator.core.spec.spent_budget import SpentBudget
from paimon_operator.core.windows import Window

_DAY: Final = timedelta(days=1)
LONGEST_SPREAD: Final = timedelta(minutes=10)
"""Starts are spread over the first tenth of a window, and over no more than this."""


@dataclass(frozen=True, kw_only=True)
class Start:
    """When due work may start, and why not before."""

    at: datetime | None
    """Not after now: it may start now. None: an error in the windows has to be fixed first."""
    until: datetime | None = None
    """When the window closes in which it may start now; None: it may start at any time from now on."""
    cause: Cause = Cause.OUTSIDE_WINDOWS
    message: str = ""
    """Why it does not start now; if it does, what is unusual about that."""

    def has_come(self, now: datetime) -> bool:
        """Whether the work may start now."""
        return self.at is not None and self.at <= now

    def next_change(self, now: datetime) -> datetime | None:
        """When the answer changes: the start, or the end of the window in which the work may start now."""
        return self.until if self.has_come(now) else self.at


def start_of(context: TableContext, work: DueRun) -> Start:
    """When `work` may start."""
    if context.spent is not None and _is_scheduled(work):
        return _on_the_next_day(context, work, context.spent)
    if not _needs_window(context, work):
        return Start(at=context.now)
    error = context.broken_in(WINDOWS)
    if error is not None:
        return Start(at=None, cause=Cause.BROKEN_WINDOWS, message=str(error))
    return _with_max_delay(context, work, _in_a_window(context, work))


def allowed(context: TableContext, works: Iterable[DueRun]) -> Iterator[DueRun]:
    """The work that may start now, with what is unusual about its start.

    Maintenance that waits for windows has been due since its first tick: otherwise long work whose newest tick is
    earlier could take every window before it.
    """
    for work in works:
        start = start_of(context, work)
        if start.has_come(context.now):
            due = work.waits_since if _needs_window(context, work) else work.due
            yield replace(work, note=start.message, due=due)


def _needs_window(context: TableContext, work: DueRun) -> bool:
    """Whether the catalog has windows and the work is maintenance by its schedule."""
    return _is_scheduled(work) and bool(context.catalog.spec.maintenance_windows)


def _is_scheduled(work: DueRun) -> bool:
    """Whether the work is maintenance by its schedule."""
    return registry.OPERATIONS.of(work.type_).in_windows and work.trigger is RunTrigger.SCHEDULE


def _on_the_next_day(context: TableContext, work: DueRun, spent: SpentBudget) -> Start:
    """The table's own moment after the beginning of the next day: another one each day, and earlier with each day.

    Otherwise a budget that is used up within minutes would go to the same tables every day.
    """
    days = max((spent.until - work.waits_since) // _DAY, 0)
    own = spread.delay(LONGEST_SPREAD, f"{context.table.metadata.uid}/{spent.until:%Y-%m-%d}")
    at = spent.until + timedelta(seconds=own.total_seconds() // (1 + days))
    return Start(at=at, cause=Cause.SPENT_BUDGET, message=f"{spent}; it starts at {rfc3339(at)} or later")


def _with_max_delay(context: TableContext, work: DueRun, start: Start) -> Start:
    """The start, at the latest when the work has waited for its maxDelay."""
    if work.max_delay is None or start.at is None or start.has_come(context.now):
        return start
    # A retry counts from the tick whose run has failed.
    first = work.waits_since if work.due_time is None else min(work.waits_since, work.due_time)
    overdue, longest = first + work.max_delay, readable_duration(work.max_delay)
    if overdue <= context.now:
        waited = f"it has waited since {rfc3339(first)}, longer than maxDelay ({longest})"
        return Start(at=overdue, message=f"{waited}, so it does not wait for a maintenance window")
    if overdue >= start.at:
        return start
    earlier = f"It starts at {rfc3339(overdue)} even outside the windows, because of maxDelay ({longest})"
    return Start(at=overdue, message=f"{start.message}. {earlier}")


def _in_a_window(context: TableContext, work: DueRun) -> Start:
    """The first start that a window allows. An open window comes first, even if the work starts a little later in it.

    So the last reason to wait for a window that opens later is the length of the work.
    """
    now = context.now
    at, window = min(_starts(context, work), key=lambda start: (start[1].opens > now, start[0]))
    if at > now:
        return Start(at=at, message=_waiting(context, work, at, window))
    return Start(at=at, until=window.closes, message=_outlasting(context, work))


def _starts(context: TableContext, work: DueRun) -> Iterator[tuple[datetime, Window]]:
    """The first possible start in each window near now. There is one in the next window of at least one recurrence."""
    too_long, longest = _is_longer_than_all(context, work), max(each.duration for each in context.windows)
    for window in windows.near(context.windows, context.now):
        start = max(context.now, _first_start(context, window, work.waits_since))
        if too_long:
            fits = work.waits_since <= window.opens and window.duration == longest
        else:
            fits = start + (work.expected or timedelta()) <= window.closes
        if fits and start < window.closes:
            yield start, window


def _first_start(context: TableContext, window: Window, since: datetime) -> datetime:
    """The opening for work that becomes due later; the table's own moment after it for work that waits for it."""
    if window.continues or since > window.opens:
        return window.opens
    return window.opens + spread.delay(_spread(window.duration), context.table.metadata.uid)


def _spread(duration: timedelta) -> timedelta:
    return min(duration / 10, LONGEST_SPREAD)


def _is_longer_than_all(context: TableContext, work: DueRun) -> bool:
    """Whether the work is too long for every window.

    Twice the spread is left over, for the table's delay and for a start that is late by as much. Otherwise work that
    almost fills its window could miss its only moment every time.
    """
    if work.expected is None:
        return False
    durations = [each.duration for each in context.windows]
    return all(work.expected > duration - 2 * _spread(duration) for duration in durations)


def _outlasting(context: TableContext, work: DueRun) -> str:
    if not _is_longer_than_all(context, work):
        return ""
    return f"its {_length(work)}, for which every maintenance window is too short, so it may outlast this one"


def _waiting(context: TableContext, work: DueRun, start: datetime, window: Window) -> str:
    """Why the work waits, and when a window lets it start."""
    opens = f"{'opened' if window.opens <= context.now else 'opens'} at {rfc3339(window.opens)}"
    of = f"spec.maintenanceWindows of PaimonCatalog {context.catalog.metadata.name}"
    message = f"due at {rfc3339(work.waits_since)}, starts at {rfc3339(start)} in the window that {opens} ({of})"
    if window.opens <= context.now or windows.open_at(context.windows, context.now) is None:
        return message
    return f"{message}. Its {_length(work)}, so it would outlast the window that is open now"


def _length(work: DueRun) -> str:
    return f"last run took {readable_duration(work.expected or timedelta())}"
