"""Expiry of snapshots by the operator, on the schedule of retention.snapshots."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from paimon_contract.parameters.expire_snapshots import ExpireSnapshotsParameters
from paimon_operator.api.run.status import RunTrigger, RunType
from paimon_operator.api.table.status import LastDecision, LastFailure, ScheduleState, TableStatus
from paimon_operator.api.units import paimon_duration
from paimon_operator.core import schedule
from paimon_operator.core.operations import schedule_state
from paimon_operator.core.operations.base import DueRun, RunOutcome
from paimon_operator.core.spec.context import TableContext


class ExpireSnapshots:
    """One schedule, remembered in status.retention."""

    type_ = RunType.EXPIRE_SNAPSHOTS

    def due(self, context: TableContext, status: TableStatus) -> Iterator[DueRun]:
        """Due when its tick has come."""
        wanted = _schedule(context)
        tick = wanted and schedule_state.due_tick(_slot(status), wanted, context.created, context.now)
        if tick:
            yield DueRun(
                type_=RunType.EXPIRE_SNAPSHOTS,
                trigger=RunTrigger.SCHEDULE,
                due=tick.since,
                due_time=tick.tick,
                identity=tick.identity,
                after=_slot(status).last_run,
            )

    def outlook(self, context: TableContext, status: TableStatus) -> TableStatus:
        """The next tick."""
        wanted, state = _schedule(context), _slot(status)
        if wanted is not None:
            return _with(status, schedule_state.with_next(state, wanted, context))
        return status if status.retention is None else _with(status, schedule_state.without_schedule(state))

    def noted(self, status: TableStatus, work: DueRun, decision: LastDecision) -> TableStatus:
        """What was decided."""
        return _with(status, schedule_state.record_decision(_slot(status), work.due_time, decision))

    def ended(self, status: TableStatus, ended: RunOutcome, key: str) -> TableStatus:
        """The result of the run. A user's failure is the user's."""
        if ended.succeeded:
            return _with(status, schedule_state.record_success(_slot(status), ended))
        if ended.active.trigger is RunTrigger.USER:
            return status
        return _with(
            status,
            schedule_state.record_failure(_slot(status), ended, key, schedule_state.RETRIED_BEFORE_THE_NEXT_TICK),
        )

    def failures(self, status: TableStatus) -> Iterator[tuple[str | None, LastFailure]]:
        """The failure of the last run, if it was one."""
        if status.retention is not None and status.retention.failure is not None:
            yield None, status.retention.failure

    def wakes(self, status: TableStatus) -> Iterator[datetime]:
        """The next tick or retry."""
        yield from schedule_state.next_wakeups(_slot(status))


def job(context: TableContext) -> ExpireSnapshotsParameters:
    """What is kept, as it holds for the table. Absent values are the table's own options, or Paimon's defaults."""
    block = context.effective.retention.snapshots if context.effective.retention else None
    if block is None:
        return ExpireSnapshotsParameters()
    return ExpireSnapshotsParameters(
        time_retained=paimon_duration(block.time_retained) if block.time_retained else None,
        num_retained_min=block.num_retained_min,
        num_retained_max=block.num_retained_max,
    )


def _schedule(context: TableContext) -> schedule.Schedule | None:
    block = context.effective.retention.snapshots if context.effective.retention else None
    return schedule.parse(block.schedule, context.zone) if block and block.schedule else None


def _slot(status: TableStatus) -> ScheduleState:
    return status.retention or ScheduleState()


def _with(status: TableStatus, state: ScheduleState) -> TableStatus:
    return status.model_copy(update={"retention": state})
