"""The order of the due writes of one table: that of the list, so that a delta is not loaded before its base."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from paimon_operator.api.table.schedule_state import LastDecision
from paimon_operator.api.table.status import WriteState
from paimon_operator.core import backoff
from paimon_operator.core.operations.base import DueRun
from paimon_operator.core.operations.causes import Cause

TRIES_WAITED_FOR: Final = 4
"""So many failed tries of a write are waited for by the writes after it: about a quarter of an hour."""


@dataclass(frozen=True)
class DueWrite:
    """One write of the list."""

    name: str
    work: DueRun | None
    """Its run, if it is due."""
    is_waited_for: bool
    """It has failed, and the writes after it wait for its retry."""


def until_retry(writes: Iterable[DueWrite]) -> tuple[list[DueRun], list[tuple[DueRun, LastDecision]]]:
    """The due writes that may run, and those that wait for the retry of an earlier one, with the decision to show."""
    due: list[DueRun] = []
    waiting: list[tuple[DueRun, LastDecision]] = []
    earlier: DueWrite | None = None
    for each in writes:
        if earlier is None and each.work is None and each.is_waited_for:
            earlier = each
        elif earlier is None and each.work is not None:
            due.append(each.work)
        elif earlier is not None and each.work is not None:
            waiting.append((each.work, _waits_for(earlier.name)))
    return due, waiting


def _waits_for(earlier: str) -> LastDecision:
    message = f"it is due, and waits for the retry of write {earlier}, which comes before it in the list"
    return Cause.EARLIER_WRITE.decision(message)


def in_list_order(works: list[DueRun], ended: Mapping[str, datetime | None]) -> Iterator[DueRun]:
    """The due writes, given in list order, each with the time since when it is to run.

    The first of the list comes first, whatever the ticks. Only a write that became due before an earlier one has ended
    precedes that one's next run: a write that is always due does not keep the others from their turn. `ended` is when
    a write last had its turn, by its name.
    """
    since = min((work.due for work in works), default=None)
    if since is None:
        return
    first = next(
        work
        for number, work in enumerate(works)
        if not any(_was_passed(later, ended.get(work.subject or "")) for later in works[number + 1 :])
    )
    yield replace(first, due=since)
    yield from (work for work in works if work is not first)


def _was_passed(work: DueRun, ended: datetime | None) -> bool:
    return ended is not None and work.due < ended


def last_end(state: WriteState) -> datetime | None:
    """When the write last had its turn; None before the first run. A failure counts once nobody waits for its retry."""
    failure = state.failure
    failed = failure.time if failure is not None and failure.count > TRIES_WAITED_FOR else None
    return max((each for each in (state.last_time, failed) if each is not None), default=None)


def is_waited_for(state: WriteState, now: datetime) -> bool:
    """Whether the writes after this one wait for its retry: for the first tries, not for a fault that lasts."""
    failure = state.failure
    if failure is None or failure.next_try is None or failure.count > TRIES_WAITED_FOR:
        return False
    return not backoff.has_come(failure.next_try, now)
