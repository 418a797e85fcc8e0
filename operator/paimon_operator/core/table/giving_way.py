"""Maintenance that waits for its turn in a shared driver Pod gives way once to a write, a user's run or an edit.

The turn may begin at any moment, so this takes three steps, each stored before the next:
1. The table asks: `activeRun.givesWay`. It is never taken back.
2. The run answers with the reason GivingWay. A reconcile of the run that began before has lost its right to store an
   attempt then, because each status is stored under the version that was read.
3. The table names the other run as active and keeps this one as `deferredRun`, which is the active run afterwards.
If the turn has begun before the second step, the other run waits for its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from paimon_operator.api.conditions import ConditionType, find
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import RunTrigger
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.base import DueRun
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.table import maintenance_start


def overtakes(work: DueRun) -> bool:
    """Whether waiting maintenance gives way to the work."""
    operation = registry.OPERATIONS.of(work.type_)
    by_schedule = work.trigger is RunTrigger.SCHEDULE
    return not work.yields and not (by_schedule and (operation.in_windows or operation.only_reads))


def asked(status: TableStatus) -> TableStatus:
    """The status in which the active run is asked to give way."""
    active = status.active_run
    if active is None:
        return status
    return status.model_copy(update={"active_run": active.model_copy(update={"gives_way": True})})


def may_give_way(status: TableStatus, run: PaimonRun | None) -> bool:
    """Whether the active `run` is maintenance that waits for its turn, and has not given way before."""
    active = status.active_run
    if active is None or run is None or active.gave_way or active.trigger is not RunTrigger.SCHEDULE:
        return False
    if run.status.attempts or run.metadata.deletion_timestamp is not None:
        return False
    is_maintenance = registry.OPERATIONS.of(active.type).is_held_with_maintenance
    return is_maintenance and _reason(run) == Reason.WAITING_FOR_TURN


def has_given_way(status: TableStatus, run: PaimonRun | None) -> bool:
    """Whether the active run, as read just now, has answered that it does not begin."""
    active = status.active_run
    if active is None or run is None or not active.gives_way or run.status.attempts:
        return False
    return _reason(run) == Reason.GIVING_WAY


def deferred(status: TableStatus) -> TableStatus:
    """The status without an active run, and with the one that has given way as the next."""
    active = status.active_run
    if active is None:
        return status
    later = active.model_copy(update={"gives_way": None, "gave_way": True})
    return status.model_copy(update={"active_run": None, "following_runs": None, "deferred_run": later})


def resumable(context: TableContext, status: TableStatus) -> DueRun | None:
    """The work of the deferred run, if it may start now."""
    work = _work(context, status)
    return work if work is not None and maintenance_start.start_of(context, work).has_come(context.now) else None


def resumed(status: TableStatus) -> TableStatus:
    """The status with the deferred run as the active one."""
    return status.model_copy(update={"active_run": status.deferred_run, "deferred_run": None})


def window_changes(context: TableContext, status: TableStatus) -> Iterator[datetime]:
    """When the deferred run may start, or may not start any more."""
    work = _work(context, status)
    change = None if work is None else maintenance_start.start_of(context, work).next_change(context.now)
    yield from () if change is None else (change,)


def _work(context: TableContext, status: TableStatus) -> DueRun | None:
    run = status.deferred_run
    if run is None:
        return None
    due = run.due_time or context.now
    return DueRun(type_=run.type, subject=run.subject, trigger=run.trigger, due=due, due_time=run.due_time)


def _reason(run: PaimonRun) -> str | None:
    found = find(run.status.conditions, ConditionType.SUCCEEDED)
    return None if found is None else found.reason
