"""The numbers that a run has left, in the decision about the block whose run it was."""

from __future__ import annotations

from paimon_operator.api.base import MESSAGE_LENGTH, truncated
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import RunTrigger
from paimon_operator.api.table.schedule_state import LastDecision
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.base import DueRun, RunOutcome
from paimon_operator.core.operations.need import Need
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.table import selection


def with_numbers(context: TableContext, status: TableStatus, ended: RunOutcome | None) -> TableStatus:
    """The status whose decision about a run that has just succeeded shows how far its thresholds are, and what starts
    the next run. `ended`: the run whose result the status has got in this step.
    """
    scheduled = None if ended is None else registry.OPERATIONS.of(ended.active.type).scheduled
    if ended is None or scheduled is None:
        return status
    of_block = (each for each in scheduled.memories(status) if each.subject == ended.active.subject)
    for decision, tick in [(each.decision, each.next) for each in of_block]:
        if decision is None or tick is None or not _lacks_numbers(decision):
            continue
        active = ended.active
        work = DueRun(type_=active.type, subject=active.subject, trigger=RunTrigger.SCHEDULE, due=tick)
        need = selection.need_of(context, status, work)
        if need is not None and need.observed_at is not None:
            status = scheduled.record_decision(status, work, _with(decision, need))
    return status


def _lacks_numbers(decision: LastDecision) -> bool:
    """Whether the block waits for its next tick since its run has succeeded, and shows no numbers yet."""
    return decision.reason == Reason.RUN_SUCCEEDED and decision.observed_at is None


def _with(decision: LastDecision, need: Need) -> LastDecision:
    message = f"{decision.message}. {need.next_run}" if need.next_run else decision.message
    numbers = {"checks": need.checks, "observed_at": need.observed_at}
    return decision.model_copy(update={"message": truncated(message, MESSAGE_LENGTH), **numbers})
