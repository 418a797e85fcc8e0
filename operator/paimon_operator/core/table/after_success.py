"""The numbers that a run has left, in the decision about the block whose run it was."""

from __future__ import annotations

from paimon_operator.api.base import MESSAGE_LENGTH, truncated
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import RunTrigger
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.base import DueRun, RunOutcome
from paimon_operator.core.operations.operation import Memory, Scheduled
from paimon_operator.core.spec.context import TableContext


def with_numbers(context: TableContext, status: TableStatus, ended: RunOutcome | None) -> TableStatus:
    """The status whose decision about a run that has just succeeded shows how far its thresholds are, and what starts
    the next run. `ended`: the run whose result the status has got in this step.
    """
    operation = None if ended is None else registry.OPERATIONS.of(ended.active.type)
    if ended is None or operation is None or operation.scheduled is None or operation.need is None:
        return status
    memory = _waiting(operation.scheduled, status, ended)
    if memory is None or memory.next is None or memory.decision is None:
        return status
    work = DueRun(type_=operation.type, subject=memory.subject, trigger=RunTrigger.SCHEDULE, due=memory.next)
    need = operation.need(context, status, work)
    if need.observed_at is None:
        return status
    message = f"{memory.decision.message}. {need.next_run}" if need.next_run else memory.decision.message
    numbers = {"message": truncated(message, MESSAGE_LENGTH), "checks": need.checks, "observed_at": need.observed_at}
    return operation.scheduled.record_decision(status, work, memory.decision.model_copy(update=numbers))


def _waiting(scheduled: Scheduled, status: TableStatus, ended: RunOutcome) -> Memory | None:
    """The block, if it waits for its next tick since its run has succeeded, and shows no numbers yet."""
    found = (each for each in scheduled.memories(status) if each.subject == ended.active.subject)
    memory = next(found, None)
    decision = None if memory is None else memory.decision
    if decision is None or decision.reason != Reason.RUN_SUCCEEDED or decision.observed_at is not None:
        return None
    return memory
