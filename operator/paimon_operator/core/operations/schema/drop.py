"""Drops the table, because its PaimonTable is deleted with deletionPolicy Delete. Repeated without limit."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from paimon_contract.parameters.drop import DropParameters
from paimon_contract.result import Result
from paimon_operator.api.policies import AdoptionPolicy
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import RunTrigger
from paimon_operator.api.table.schedule_state import LastFailure
from paimon_operator.api.table.status import DropState, TableStatus
from paimon_operator.core import backoff
from paimon_operator.core.operations import retries
from paimon_operator.core.operations.base import DueRun, RunOutcome, identity
from paimon_operator.core.operations.operation import OperationSpec, Role
from paimon_operator.core.operations.schedule_state import retry_time
from paimon_operator.core.spec.context import TableContext


class DropTable:
    """Tried without limit, and remembered in status.drop."""

    def due(self, status: TableStatus, now: datetime) -> DueRun | None:
        """The next try; None while it waits for its time."""
        state = _state(status)
        waits = state.failure is not None and state.failure.next_try is not None
        if waits and state.failure is not None and not backoff.has_come(state.failure.next_try, now):
            return None
        return DueRun(
            type_=OPERATION.type,
            trigger=RunTrigger.DELETION,
            due=now,
            identity=identity("deletion", state.attempts or 0),
            after=state.last_run,
        )

    def is_done(self, status: TableStatus) -> bool:
        """Whether the table was dropped."""
        return bool(_state(status).done)

    def kept(self, status: TableStatus) -> bool:
        """Whether the table stays, because it existed before its PaimonTable."""
        return bool(_state(status).kept)

    def failure(self, status: TableStatus) -> LastFailure | None:
        """The failure of the last try; None without one."""
        return _state(status).failure


def record_result(status: TableStatus, ended: RunOutcome, key: str) -> TableStatus:
    """The status after a run: done, or with one more failure."""
    state, run = _state(status), ended.active.name
    if ended.succeeded:
        done = DropState(last_run=run, attempts=state.attempts, done=True, kept=ended.result.kept)
        return status.model_copy(update={"drop": done})
    attempts = (state.attempts or 0) + 1
    failure = ended.as_failure(state.failure, retry_time(ended, attempts, key, retries.EVERY_CLASS))
    failed = DropState(last_run=run, attempts=attempts, failure=failure)
    return status.model_copy(update={"drop": failed})


def _state(status: TableStatus) -> DropState:
    return status.drop or DropState()


def job(context: TableContext, run: PaimonRun) -> DropParameters:  # noqa: ARG001
    """Only a manifest that takes over every table may drop one that existed before: it is not the object's own."""
    return DropParameters(also_adopted=True if context.spec.adoption_policy is AdoptionPolicy.ADOPT else None)


def status_fields(result: Result) -> Mapping[str, Any]:
    """Whether the table existed, and whether it stays."""
    return {"dropped": result.dropped, "kept": result.kept}


def summary(result: Result) -> str:
    """What was done."""
    if result.kept:
        return Reason.TABLE_KEPT.means
    return "the table was dropped" if result.dropped else "the table was gone already"


OPERATION: Final = OperationSpec(
    type="Drop",
    order=50,
    role=Role.REMOVES_TABLE,
    removal=DropTable(),
    job=job,
    summary=summary,
    status_fields=status_fields,
    memory="drop",
    record_result=record_result,
)
