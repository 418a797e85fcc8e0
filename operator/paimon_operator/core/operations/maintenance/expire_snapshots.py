"""Expiry of snapshots by the operator, on the schedule of retention.snapshots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from paimon_contract.parameters.expire_snapshots import ExpireSnapshotsParameters
from paimon_contract.result import Result
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import RunTrigger
from paimon_operator.api.table.status import LastDecision, ScheduleState, TableStatus
from paimon_operator.api.units import paimon_duration
from paimon_operator.core import schedule
from paimon_operator.core.operations import retries, schedule_state
from paimon_operator.core.operations.base import DueRun, RunOutcome
from paimon_operator.core.operations.maintenance.expiry_need import expiry_need
from paimon_operator.core.operations.need import Need
from paimon_operator.core.operations.operation import Memory, OperationSpec
from paimon_operator.core.spec.context import SNAPSHOTS, TableContext
from paimon_operator.errors import SpecError


class Expiry:
    """One schedule, remembered in status.retention. Users may request a run too."""

    def due(self, context: TableContext, status: TableStatus) -> Iterator[DueRun]:
        """Due when its tick has come."""
        if self.stopped_by(context, None) is not None:
            return
        work = schedule_state.due_run(OPERATION.type, _slot(status), _schedule(context), context)
        if work is not None:
            yield work

    def stopped_by(self, context: TableContext, subject: str | None) -> SpecError | None:  # noqa: ARG002
        """An error in the retention of snapshots or in the time zone."""
        return context.stops_schedule(SNAPSHOTS)

    def with_next_ticks(self, context: TableContext, status: TableStatus) -> TableStatus:
        """The next tick."""
        if (error := self.stopped_by(context, None)) is not None:
            return status if status.retention is None else _with(status, schedule_state.stopped(_slot(status), error))
        wanted, state = _schedule(context), _slot(status)
        if wanted is not None:
            return _with(status, schedule_state.with_next(state, wanted, context))
        return status if status.retention is None else _with(status, schedule_state.without_schedule(state))

    def record_decision(self, status: TableStatus, work: DueRun, decision: LastDecision) -> TableStatus:
        """The status with the decision."""
        return _with(status, schedule_state.record_decision(_slot(status), work.due_time, decision))

    def memories(self, status: TableStatus) -> Iterator[Memory]:
        """One."""
        if status.retention is not None:
            yield schedule_state.memory_of(status.retention)

    def requested(self, run: PaimonRun, created: datetime) -> DueRun:
        """All of the table."""
        return DueRun(type_=OPERATION.type, trigger=RunTrigger.USER, due=created, run=run)


def record_result(status: TableStatus, ended: RunOutcome, key: str) -> TableStatus:
    """The status after a run. The failure of a user's run is not recorded: the schedule does not retry it."""
    if ended.succeeded:
        return _with(status, schedule_state.record_success(_slot(status), ended))
    if ended.active.trigger is RunTrigger.USER:
        return status
    return _with(status, schedule_state.record_failure(_slot(status), ended, key, retries.BEFORE_THE_NEXT_TICK))


def need(context: TableContext, status: TableStatus, work: DueRun) -> Need:  # noqa: ARG001
    """Whether any snapshot may expire."""
    return expiry_need(context, status)


def job(context: TableContext, run: PaimonRun) -> ExpireSnapshotsParameters:  # noqa: ARG001
    """The effective retention. Absent values are the table's own options, or Paimon's defaults.

    Raises SpecError while the retention is broken: what an older one allowed to expire may be meant to stay.
    """
    if (error := context.broken_in(SNAPSHOTS)) is not None:
        raise error
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


def status_fields(result: Result) -> Mapping[str, Any]:
    """How many snapshots expired."""
    return {"expired": result.expired}


def summary(result: Result) -> str:
    """What was done."""
    return f"{result.expired or 0} snapshots expired"


_EXPIRY: Final = Expiry()
OPERATION: Final = OperationSpec(
    type="ExpireSnapshots",
    order=40,
    scheduled=_EXPIRY,
    on_demand=_EXPIRY,
    job=job,
    summary=summary,
    status_fields=status_fields,
    memory="retention",
    record_result=record_result,
    skips_empty_table=True,
    need=need,
    in_windows=True,
)
