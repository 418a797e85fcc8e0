"""Ticks that were skipped once more for the same reason, which by themselves write no status.

A fleet in which nothing happens would write at each tick of each table. So `lastDue` and `next` of such a schedule are
stored with the next change of the status, and with the first skip of each day. Until then the process remembers them.
The next process knows from the Lease until when the due ticks of all tables had been decided. Of a table that waited
for nothing but its ticks, those up to then that are not stored were skipped: any other decision would be stored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, NamedTuple

from paimon_operator.api.base import ApiModel
from paimon_operator.api.conditions import ConditionStatus, ConditionType, find
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.schedule_state import DecisionResult, LastDecision, ScheduleState
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core import backoff, schedule
from paimon_operator.core.decision import Decision
from paimon_operator.core.operations.schedule_state import changed, finds_the_same

_DAY: Final = timedelta(days=1)
_NEVER: Final = datetime.fromtimestamp(0, UTC)
_SETTLED: Final = {
    ConditionType.READY: (ConditionStatus.TRUE,),
    ConditionType.STALLED: (ConditionStatus.FALSE, None),
    ConditionType.SUSPENDED: (ConditionStatus.FALSE, None),
    ConditionType.COMMIT_SAFE: (ConditionStatus.TRUE, ConditionStatus.UNKNOWN, None),
}
"""Conditions of a table that is reconciled at each of its ticks, and decides about it."""

Place = tuple[str, ...]
"""Where a state is in the status: its field, then the part of its field."""


class Tick(NamedTuple):
    """A tick that was skipped, and the one after it."""

    schedule: str
    last_due: datetime
    next: datetime


def skipped_ticks(status: TableStatus) -> dict[Place, Tick]:
    """The last tick of each schedule whose last tick was skipped."""
    return {
        place: Tick(state.schedule, state.last_due, state.next)
        for place, state in _states(status).items()
        if _is_skip(state) and state.schedule is not None and state.last_due is not None and state.next is not None
    }


def with_ticks(status: TableStatus, ticks: Mapping[Place, Tick], now: datetime) -> TableStatus:
    """The status with later skipped ticks of the same schedules. A tick that lies ahead came by a wrong clock."""
    return _mapped(status, partial(_with_tick, ticks, now))


def _with_tick(ticks: Mapping[Place, Tick], now: datetime, place: Place, state: ScheduleState) -> ScheduleState:
    tick = ticks.get(place)
    if tick is None or not _is_skip(state) or state.last_due is None or state.schedule != tick.schedule:
        return state
    if tick.last_due <= state.last_due or backoff.is_ahead(tick.last_due, now):
        return state
    return changed(state, last_due=tick.last_due, next=tick.next)


def with_skipped_ticks(status: TableStatus, decided_until: datetime | None, now: datetime) -> TableStatus:
    """The status with the skipped ticks up to `decided_until` that it does not have. One that lies ahead is wrong."""
    if decided_until is None or backoff.is_ahead(decided_until, now) or not _is_settled(status):
        return status
    return _mapped(status, partial(_skipped, decided_until))


def deferred(decision: Decision[TableStatus], stored: TableStatus, uid: str) -> Decision[TableStatus]:
    """The decision, which defers its status if that differs from the `stored` one by nothing but ticks skipped again.

    `uid` spreads the first skips of a day.
    """
    status = decision.status
    if status is None or status == stored or decision.actions or decision.events or decision.finalizer != "keep":
        return decision
    if not _is_settled(status) or _day(stored, uid) != _day(status, uid):
        return decision
    repeats = _mapped(status, partial(_as_stored, _states(stored))) == stored
    return replace(decision, defers_status=True) if repeats else decision


def _is_settled(status: TableStatus) -> bool:
    """Whether the table waits for nothing but its ticks."""
    if status.active_run is not None or status.queued_run is not None or status.deferred_run is not None:
        return False
    known = {type_: find(status.conditions, type_) for type_ in _SETTLED}
    return all((each.status if each else None) in _SETTLED[type_] for type_, each in known.items())


def _skipped(until: datetime, _: Place, state: ScheduleState) -> ScheduleState:
    """The state after its skipped ticks up to `until`."""
    if not _is_skip(state) or state.last_due is None:
        return state
    recurrence = _recurrence(state)
    tick = None if recurrence is None else recurrence.due(state.last_due, until)
    if recurrence is None or tick is None:
        return state
    return changed(state, last_due=tick, next=recurrence.next_after(tick))


def _recurrence(state: ScheduleState) -> schedule.Schedule | None:
    """The schedule of the state. None: there is none, or only the image that has stored it knows its time zone."""
    expression, _, zone = (state.schedule or "").rpartition(" ")
    try:
        return schedule.parse(expression, zone)
    except schedule.ScheduleError:
        return None


def _as_stored(before: Mapping[Place, ScheduleState], place: Place, state: ScheduleState) -> ScheduleState:
    """The state as it was before, if it differs by a tick that was skipped for the same."""
    known = before.get(place)
    if known is None or known.decision is None or state.decision is None:
        return state
    if not (_is_skip(known) and _is_skip(state)):
        return state
    if _parts(state):  # the latest decision of its parts
        return changed(state, decision=known.decision)
    if not _is_repeated(known.decision, state.decision):
        return state
    return changed(state, last_due=known.last_due, next=known.next, decision=known.decision)


def _is_repeated(before: LastDecision, after: LastDecision) -> bool:
    return finds_the_same(before, after) and (bool(after.checks) or before.message == after.message)


def _is_skip(state: ScheduleState) -> bool:
    """Whether its last tick was skipped as not needed. A run that has found nothing to do ended after its tick."""
    decision, tick, success = state.decision, state.last_due, state.last_time
    if decision is None or decision.result is not DecisionResult.SKIPPED or decision.reason != Reason.NOT_NEEDED:
        return False
    return tick is not None and (success is None or success < tick)


def _day(status: TableStatus, uid: str) -> int:
    """The day of the newest tick. Days begin at another moment of the day for each table."""
    newest = max((state.last_due for state in _states(status).values() if state.last_due), default=_NEVER)
    begins = int.from_bytes(hashlib.sha256(uid.encode()).digest()[:4]) % int(_DAY.total_seconds())
    return (int(newest.timestamp()) + begins) // int(_DAY.total_seconds())


def _states(status: TableStatus) -> dict[Place, ScheduleState]:
    """All states of the status but those of writes, whose ticks all start a run."""
    found: dict[Place, ScheduleState] = {}
    for name, state in _parts(status).items():
        found[(name,)] = state
        found |= {(name, part): each for part, each in _parts(state).items()}
    return found


def _mapped(status: TableStatus, change: Callable[[Place, ScheduleState], ScheduleState]) -> TableStatus:
    """The status with each of these states changed."""
    update = {name: _mapped_state((name,), state, change) for name, state in _parts(status).items()}
    return status.model_copy(update=update)


def _mapped_state(
    place: Place, state: ScheduleState, change: Callable[[Place, ScheduleState], ScheduleState]
) -> ScheduleState:
    """The state changed. One with parts has the newest tick of theirs, and the first one ahead."""
    parts = {name: change((*place, name), part) for name, part in _parts(state).items()}
    if parts:
        last_due = max((part.last_due for part in parts.values() if part.last_due), default=None)
        ahead = min((part.next for part in parts.values() if part.next), default=None)
        state = changed(state, **parts, last_due=last_due, next=ahead)
    return change(place, state)


def _parts(model: ApiModel) -> dict[str, ScheduleState]:
    """The states right below: of the status those of its operations, of compaction those of its strategies."""
    return {name: value for name, value in model.__dict__.items() if isinstance(value, ScheduleState)}
