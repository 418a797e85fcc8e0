"""Reads the table's schema, so that no change by somebody else goes unnoticed.

Other runs report the schema's number as well. So a run is due only for a table that no run has read for a while, or
after a run has found another number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from paimon_contract.parameters.observe import ObserveParameters
from paimon_contract.result import Result
from paimon_operator.api.base import rfc3339
from paimon_operator.api.run.result import drift_found
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import RunTrigger
from paimon_operator.api.table.schedule_state import LastDecision
from paimon_operator.api.table.status import DriftState, TableStatus
from paimon_operator.core import backoff
from paimon_operator.core.operations import drift_state, retries, schedule_state
from paimon_operator.core.operations.base import DueRun, RunOutcome, identity
from paimon_operator.core.operations.drift_state import drift_of, with_drift
from paimon_operator.core.operations.operation import Memory, OperationSpec
from paimon_operator.core.operations.schema import provision
from paimon_operator.core.operations.verification import state_of
from paimon_operator.core.spec.context import TableContext
from paimon_operator.errors import SpecError

_UNHEALTHY_AFTER: Final = 2
"""Failed runs in a row."""


class ObserveSchema:
    """Due when nothing has read the schema for the operator's interval, or when it has another number."""

    def due(self, context: TableContext, status: TableStatus) -> Iterator[DueRun]:
        """One run at its time, or the repetition of one that failed."""
        state = drift_of(status)
        if _next(context, status) is None or state.next is None:
            return
        if state.next <= context.now:
            yield _due_run(context, state, state.next, rfc3339(state.next))
        elif state.failure is not None and backoff.has_come(state.failure.next_try, context.now):
            tick = state.last_due or context.now
            yield _due_run(context, state, tick, identity(rfc3339(tick), state.failure.count))

    def stopped_by(self, context: TableContext, subject: str | None) -> SpecError | None:  # noqa: ARG002
        """Nothing: an error of the table itself stops everything."""
        return None

    def with_next_ticks(self, context: TableContext, status: TableStatus) -> TableStatus:
        """The status with the time of the next run."""
        state, moment = drift_of(status), _next(context, status)
        if status.drift is None and moment is None:
            return status
        return with_drift(status, state, next=moment)

    def record_decision(self, status: TableStatus, work: DueRun, decision: LastDecision) -> TableStatus:
        """The status with the decision."""
        state = schedule_state.record_decision(drift_of(status), work.due_time, decision)
        return status.model_copy(update={"drift": state})

    def memories(self, status: TableStatus) -> Iterator[Memory]:
        """One. A single failure says nothing about the table, and the next correction is a time to reconcile too."""
        if status.drift is None:
            return
        state = status.drift
        failure = state.failure
        shown = failure if failure is not None and failure.count >= _UNHEALTHY_AFTER else None
        retry = None if failure is None else failure.next_try
        moments = [each for each in (state.next, state.next_correction, retry) if each is not None]
        yield Memory(None, shown, min(moments, default=None), state.last_due)

    def requested(self, run: PaimonRun, created: datetime) -> DueRun:
        """The whole schema."""
        return DueRun(type_=OPERATION.type, trigger=RunTrigger.USER, due=created, run=run)


def _due_run(context: TableContext, state: DriftState, tick: datetime, name: str) -> DueRun:
    """It yields to all other work, unless the table has another schema or the run has waited for a whole interval."""
    overdue = context.observe_interval is not None and context.now - tick > context.observe_interval
    return DueRun(
        type_=OPERATION.type,
        trigger=RunTrigger.SCHEDULE,
        due=tick,
        due_time=tick,
        identity=name,
        after=state.last_run,
        yields=state.changed_at is None and not overdue,
    )


def _next(context: TableContext, status: TableStatus) -> datetime | None:
    """When the next run is due; None for a table that is not established, and where the operator starts none."""
    interval, known, state = context.observe_interval, state_of(status), drift_of(status)
    if interval is None or known.hash is None:
        return None
    answered = None if state.last_due is None or backoff.is_ahead(state.last_due, context.now) else state.last_due
    if state.changed_at is not None and (answered is None or answered < state.changed_at):
        return state.changed_at
    delay = backoff.Backoff(first=interval, last=interval * (1 + backoff.SPREAD)).delay(1, context.table.metadata.uid)
    looked = [each for each in (state.observed_time, answered) if each is not None]
    if looked:
        return max(looked) + delay
    # An operator of an earlier release did not look: its tables get their first run spread over the interval.
    return state.next or context.now + (delay - interval) / backoff.SPREAD


def record_result(status: TableStatus, ended: RunOutcome, key: str) -> TableStatus:
    """The status after a run. The failure of a user's run is not recorded: the schedule does not retry it."""
    if ended.succeeded:
        state = schedule_state.record_success(drift_of(status), ended)
        return drift_state.record_observed(status.model_copy(update={"drift": state}), ended)
    if ended.active.trigger is RunTrigger.USER:
        return status
    failed = schedule_state.record_failure(drift_of(status), ended, key, retries.BEFORE_THE_NEXT_TICK)
    return status.model_copy(update={"drift": failed})


def job(context: TableContext, run: PaimonRun) -> ObserveParameters:
    """The schema to compare with, and the manifest."""
    return ObserveParameters(table=provision.job(context, run), drift=drift_state.for_job(context.table.status))


def status_fields(result: Result) -> Mapping[str, Any]:
    """What was found."""
    return {"drift": drift_found(result)}


def summary(result: Result) -> str:
    """How many changes there are."""
    found = result.drift
    if found is None:
        return "nothing was reported"
    changes = {0: "no change", 1: "1 change"}.get(found.count, f"{found.count} changes")
    return f"schema {found.schema_id} was compared: {changes} by others"


_OBSERVE: Final = ObserveSchema()
OPERATION: Final = OperationSpec(
    type="Observe",
    order=45,
    scheduled=_OBSERVE,
    on_demand=_OBSERVE,
    job=job,
    summary=summary,
    status_fields=status_fields,
    memory="drift",
    record_result=record_result,
    only_reads=True,
    may_end_without_jvm=True,
    small=True,
)
