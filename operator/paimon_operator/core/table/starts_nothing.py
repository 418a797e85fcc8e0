"""Tables that start no run: without a valid manifest or catalog, and where a human has to act first.

Their blocks whose time has come say so.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.operations.causes import Cause, cause_of_obstacle
from paimon_operator.core.operations.verification import state_of, with_state
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.table import active_run, selection, table_conditions
from paimon_operator.core.table.active_run import ActiveRunState
from paimon_operator.core.table.outcome import REQUEUE_WHILE_ACTIVE, Outcome, until_next
from paimon_operator.core.table.table_conditions import Blocker

REQUEUE_WHILE_CLAIMED: Final = timedelta(minutes=5)
"""Covers a missed event: the deletion of the other PaimonTable arrives as a watch event."""


def without_context(table: PaimonTable, followed: ActiveRunState, obstacle: Blocker, now: datetime) -> Outcome:
    """Starts nothing, because the manifest is invalid. An active run continues."""
    status = table.status
    if followed.missing:
        status = active_run.given_up(table, obstacle.reason, obstacle.message, now)
    claimed = obstacle.reason is Reason.TABLE_CLAIMED
    if not claimed and obstacle.reason not in table_conditions.OF_THE_CATALOG:
        status = _without_plan(status, now)
    cause = cause_of_obstacle(obstacle.reason)
    status = selection.waiting_without_context(status, now, cause, obstacle.message)
    moments = (*selection.ticks(status), *((now + REQUEUE_WHILE_CLAIMED,) if claimed else ()))
    findings = table_conditions.refused(table, status, obstacle)
    return Outcome(status=status, findings=findings, requeue_after=until_next(moments, now))


def _without_plan(status: TableStatus, now: datetime) -> TableStatus:
    """The status without the plan of a former manifest. A run that waits for its approval is repeated after the edit.

    Such a plan was made from the table, so only a run makes it again.
    """
    state = state_of(status)
    if status.plan is None:
        return status
    if state.failure is not None and state.failure.reason == Reason.AWAITING_APPROVAL:
        failure = state.failure.model_copy(update={"next_try": now})
        status = with_state(status, state.model_copy(update={"failure": failure}))
    return status.model_copy(update={"plan": None})


def by_its_run(context: TableContext, followed: ActiveRunState, status: TableStatus) -> Outcome | None:
    """Starts nothing, because the result of the active run is unknown or its name is taken. None otherwise."""
    active = status.active_run
    if followed.run is not None and table_conditions.is_unknown(followed.run):
        said = f"it is unknown whether run {followed.run.metadata.name} has committed"
        status = selection.waiting(context, status, Cause.UNKNOWN_RESULT, said)
        findings = table_conditions.unknown_result(context, status, followed.run)
        requeue_after = until_next(selection.ticks(status), context.now)
        return Outcome(status=status, findings=findings, requeue_after=requeue_after)
    if active is not None and followed.taken:
        status = selection.waiting(context, status, Cause.TAKEN_NAME, table_conditions.whose_name(active))
        findings = table_conditions.name_taken(context, status, active)
        return Outcome(status=status, findings=findings, requeue_after=REQUEUE_WHILE_ACTIVE)
    return None
