"""Expiry of snapshots by the operator, on the schedule of retention.snapshots."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from paimon_operator.api.contract import ExpireSnapshotsJob
from paimon_operator.api.run.status import RunTrigger, RunType
from paimon_operator.api.table.status import Decision, Failure, ScheduleState, TableStatus
from paimon_operator.api.units import paimon_duration
from paimon_operator.core import schedule
from paimon_operator.core.operations import schedule_state
from paimon_operator.core.operations.base import Ended, Work
from paimon_operator.core.spec.context import Look


class ExpireSnapshots:
    """One schedule, remembered in status.retention."""

    type_ = RunType.EXPIRE_SNAPSHOTS

    def due(self, look: Look, status: TableStatus) -> Iterator[Work]:
        """Due when its tick has come."""
        wanted = _schedule(look)
        tick = wanted and schedule_state.due_tick(_slot(status), wanted, look.created, look.now)
        if tick:
            yield Work(
                type_=RunType.EXPIRE_SNAPSHOTS,
                trigger=RunTrigger.SCHEDULE,
                due=tick.since,
                due_time=tick.tick,
                identity=tick.identity,
                after=_slot(status).last_run,
            )

    def outlook(self, look: Look, status: TableStatus) -> TableStatus:
        """The next tick."""
        wanted, state = _schedule(look), _slot(status)
        if wanted is not None:
            return _with(status, schedule_state.with_next(state, wanted, look))
        return status if status.retention is None else _with(status, schedule_state.forgotten(state))

    def noted(self, status: TableStatus, work: Work, decision: Decision) -> TableStatus:
        """What was decided."""
        return _with(status, schedule_state.noted(_slot(status), work.due_time, decision))

    def ended(self, status: TableStatus, ended: Ended, key: str) -> TableStatus:
        """The result of the run. A user's failure is the user's."""
        if ended.succeeded:
            return _with(status, schedule_state.succeeded(_slot(status), ended))
        if ended.active.trigger is RunTrigger.USER:
            return status
        return _with(
            status, schedule_state.failed(_slot(status), ended, key, schedule_state.RETRIED_BEFORE_THE_NEXT_TICK)
        )

    def failures(self, status: TableStatus) -> Iterator[tuple[str | None, Failure]]:
        """The failure of the last run, if it was one."""
        if status.retention is not None and status.retention.failure is not None:
            yield None, status.retention.failure

    def wakes(self, status: TableStatus) -> Iterator[datetime]:
        """The next tick or retry."""
        yield from schedule_state.wakes(_slot(status))


def job(look: Look) -> ExpireSnapshotsJob:
    """What is kept, as it holds for the table. Absent values are the table's own options, or Paimon's defaults."""
    block = look.holds.retention.snapshots if look.holds.retention else None
    if block is None:
        return ExpireSnapshotsJob()
    return ExpireSnapshotsJob(
        time_retained=paimon_duration(block.time_retained) if block.time_retained else None,
        num_retained_min=block.num_retained_min,
        num_retained_max=block.num_retained_max,
    )


def _schedule(look: Look) -> schedule.Schedule | None:
    block = look.holds.retention.snapshots if look.holds.retention else None
    return schedule.parse(block.schedule, look.zone) if block and block.schedule else None


def _slot(status: TableStatus) -> ScheduleState:
    return status.retention or ScheduleState()


def _with(status: TableStatus, state: ScheduleState) -> TableStatus:
    return status.model_copy(update={"retention": state})
