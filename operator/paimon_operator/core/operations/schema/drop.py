"""Drop the table, because its object is deleted with deletionPolicy Delete. Repeated without limit."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from paimon_contract.parameters.drop import DropParameters
from paimon_operator.api.run.status import FailureClass, RunTrigger, RunType
from paimon_operator.api.table.status import DropState, TableStatus
from paimon_operator.core.operations.base import DueRun, RunOutcome, identity
from paimon_operator.core.operations.schedule_state import retry_time

RETRIED: Final = frozenset(FailureClass)


def due(status: TableStatus, now: datetime) -> DueRun | None:
    """The next try, None while it waits for its time."""
    state = state_of(status)
    if state.failure is not None and state.failure.next_try is not None and state.failure.next_try > now:
        return None
    return DueRun(
        type_=RunType.DROP,
        trigger=RunTrigger.DELETION,
        due=now,
        identity=identity("deletion", state.attempts or 0),
        after=state.last_run,
    )


def ended(status: TableStatus, run: RunOutcome, key: str) -> TableStatus:
    """Done, or one more failure."""
    state = state_of(status)
    if run.succeeded:
        return _with(status, DropState(last_run=run.active.name, attempts=state.attempts, done=True))
    attempts = (state.attempts or 0) + 1
    failure = run.as_failure(state.failure, retry_time(run, attempts, key, RETRIED))
    return _with(status, DropState(last_run=run.active.name, attempts=attempts, failure=failure))


def state_of(status: TableStatus) -> DropState:
    """What is remembered of dropping."""
    return status.drop or DropState()


def job() -> DropParameters:
    """Everything that a drop needs stands in the job's head."""
    return DropParameters()


def _with(status: TableStatus, state: DropState) -> TableStatus:
    return status.model_copy(update={"drop": state})
