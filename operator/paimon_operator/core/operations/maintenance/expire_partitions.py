"""Expiry of partitions by the operator, on the schedule of retention.partitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from paimon_contract.parameters.expire_partitions import ExpirePartitionsParameters
from paimon_contract.result import Result
from paimon_operator.api import units
from paimon_operator.api.retention import PartitionStrategy
from paimon_operator.api.run.result import partition_expiry
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import RunTrigger
from paimon_operator.api.table.status import LastDecision, ScheduleState, TableStatus
from paimon_operator.core import schedule
from paimon_operator.core.operations import retries, schedule_state
from paimon_operator.core.operations.base import DueRun, RunOutcome
from paimon_operator.core.operations.operation import Memory, OperationSpec
from paimon_operator.core.spec.context import PARTITIONS, TableContext
from paimon_operator.errors import SpecError


class PartitionExpiry:
    """One schedule, remembered in status.partitionExpiry. Users may request a run too."""

    def due(self, context: TableContext, status: TableStatus) -> Iterator[DueRun]:
        """Due when its tick has come."""
        if self.stopped_by(context, None) is not None:
            return
        work = schedule_state.due_run(OPERATION.type, _slot(status), _schedule(context), context)
        if work is not None:
            yield work

    def stopped_by(self, context: TableContext, subject: str | None) -> SpecError | None:  # noqa: ARG002
        """An error in the retention of partitions or in the time zone."""
        return context.stops_schedule(PARTITIONS)

    def with_next_ticks(self, context: TableContext, status: TableStatus) -> TableStatus:
        """The next tick."""
        known, state = status.partition_expiry is not None, _slot(status)
        if (error := self.stopped_by(context, None)) is not None:
            return _with(status, schedule_state.stopped(state, error)) if known else status
        wanted = _schedule(context)
        if wanted is not None:
            return _with(status, schedule_state.with_next(state, wanted, context))
        return _with(status, schedule_state.without_schedule(state)) if known else status

    def record_decision(self, status: TableStatus, work: DueRun, decision: LastDecision) -> TableStatus:
        """The status with the decision."""
        return _with(status, schedule_state.record_decision(_slot(status), work.due_time, decision))

    def memories(self, status: TableStatus) -> Iterator[Memory]:
        """One."""
        if status.partition_expiry is not None:
            yield schedule_state.memory_of(status.partition_expiry)

    def requested(self, run: PaimonRun, created: datetime) -> DueRun:
        """All partitions of the table that are due."""
        return DueRun(type_=OPERATION.type, trigger=RunTrigger.USER, due=created, run=run)


def record_result(status: TableStatus, ended: RunOutcome, key: str) -> TableStatus:
    """The status after a run. The failure of a user's run is not recorded: the schedule does not retry it."""
    if ended.succeeded:
        return _with(status, schedule_state.record_success(_slot(status), ended))
    if ended.active.trigger is RunTrigger.USER:
        return status
    return _with(status, schedule_state.record_failure(_slot(status), ended, key, retries.BEFORE_THE_NEXT_TICK))


def job(context: TableContext, run: PaimonRun) -> ExpirePartitionsParameters:  # noqa: ARG001
    """The effective retention of partitions, in the time zone of the table.

    Raises SpecError while the retention or the zone is broken: what an older one allowed to expire may be meant to
    stay. The same for a user's run on a table without it.
    """
    if (error := context.stops_schedule(PARTITIONS)) is not None:
        raise error
    block = context.effective.retention.partitions if context.effective.retention else None
    if block is None:
        raise SpecError(PARTITIONS, "the table has no retention of partitions", "Set expirationTime there.")
    return ExpirePartitionsParameters(
        expiration_seconds=units.seconds(block.expiration_time, field=f"{PARTITIONS}.expirationTime"),
        strategy=(block.strategy or PartitionStrategy.VALUES_TIME).value,
        time_zone=context.zone,
        timestamp_pattern=block.timestamp_pattern,
        timestamp_formatter=block.timestamp_formatter,
    )


def _schedule(context: TableContext) -> schedule.Schedule | None:
    block = context.effective.retention.partitions if context.effective.retention else None
    return schedule.parse(block.schedule, context.zone) if block and block.schedule else None


def _slot(status: TableStatus) -> ScheduleState:
    return status.partition_expiry or ScheduleState()


def _with(status: TableStatus, state: ScheduleState) -> TableStatus:
    return status.model_copy(update={"partition_expiry": state})


def status_fields(result: Result) -> Mapping[str, Any]:
    """The partitions that expired, and those that stay."""
    return {"partitions": partition_expiry(result)}


def summary(result: Result) -> str:
    """What was done, and what was left."""
    found = result.partitions
    if found is None:
        return "nothing was reported"
    said = f"{found.expired} of {found.total} partitions expired"
    if found.remaining:
        said += f"; {found.remaining} more are due, and the next run drops them"
    if found.unreadable:
        said += f"; {found.unreadable} without a time that can be read, such as {found.example}"
    return said


_EXPIRY: Final = PartitionExpiry()
OPERATION: Final = OperationSpec(
    type="ExpirePartitions",
    order=25,
    scheduled=_EXPIRY,
    on_demand=_EXPIRY,
    job=job,
    summary=summary,
    status_fields=status_fields,
    memory="partitionExpiry",
    record_result=record_result,
    skips_empty_table=True,
    in_windows=True,
)
