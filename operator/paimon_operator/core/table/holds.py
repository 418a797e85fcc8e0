"""Operations that keep all others from starting until they are complete, and the condition that shows it."""

from __future__ import annotations

from dataclasses import dataclass

from paimon_operator.api.base import rfc3339
from paimon_operator.api.conditions import ConditionType
from paimon_operator.api.policies import ExternalWriters
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.commits.foreign_commits import undeclared_commit
from paimon_operator.core.conditions import Finding, true
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.base import DueRun
from paimon_operator.core.operations.operation import Hold, OperationSpec
from paimon_operator.core.operations.verification import is_established
from paimon_operator.core.spec.context import TableContext


@dataclass(frozen=True)
class HeldBy:
    """The hold of an operation."""

    type_: str
    hold: Hold

    def allows(self, work: DueRun) -> bool:
        """Whether the work may start."""
        if work.type_ == self.type_:
            return not self.hold.is_stalled
        return not self.hold.excludes


def holding(context: TableContext, status: TableStatus) -> HeldBy | None:
    """The operation that keeps others from starting. None before the table is established: only that starts then."""
    if not is_established(context, status):
        return None
    for operation in registry.OPERATIONS.operations:
        hold = operation.hold(context, status) if operation.hold is not None else None
        if hold is not None:
            return HeldBy(operation.type, _beside_others(operation, context, status) or hold)
    return None


def _beside_others(operation: OperationSpec, context: TableContext, status: TableStatus) -> Hold | None:
    """The hold of an operation that must not start, because another writer may commit or has committed."""
    if not operation.excludes_foreign_writers:
        return None
    left = operation.paused(status) if operation.paused is not None else None
    unfinished = left is not None
    if context.spec.external_writers is ExternalWriters.ACTIVE:
        message = (
            f"spec.externalWriters is Active, and {operation.type} would lose the rows of other writers"
            f"{f' ({left})' if unfinished else ''}. Stop them, and set externalWriters to Paused until it is complete."
        )
        return Hold(reason=Reason.RESCALING, message=message, is_stalled=True, excludes=unfinished)
    found = undeclared_commit(context.spec, status)
    if found is None:
        return None
    message = (
        f"{operation.type} does not start: snapshot {found.snapshot_id} was made by commit user "
        f"{found.commit_user or 'unnamed'}, not by the operator. Stop that writer, then edit externalWriters."
    )
    return Hold(reason=Reason.OUTSIDE_COMMIT, message=message, is_stalled=True, excludes=unfinished)


def writes_paused(status: TableStatus, suspended: str | None) -> tuple[Finding, ...]:
    """The condition WritesPaused, while an operation is unfinished during which nothing else may commit.

    `suspended` states what suspends the table, if anything does.
    """
    for operation in registry.OPERATIONS.operations:
        left = operation.paused(status) if operation.paused is not None else None
        if left is not None:
            message = (
                f"{left}: no other run commits until the last one is verified{_stopped(operation, status, suspended)}"
            )
            return (true(ConditionType.WRITES_PAUSED, Reason.RESCALING, message),)
    return ()


def _stopped(operation: OperationSpec, status: TableStatus, suspended: str | None) -> str:
    """What stops the operation, and how it goes on."""
    memories = operation.scheduled.memories(status) if operation.scheduled is not None else ()
    failure = next((each.failure for each in memories if each.failure is not None), None)
    said = "" if suspended is None else f". {suspended}: set it to false to continue"
    if failure is None:
        return said
    again = "waits for an edit" if failure.next_try is None else f"tried again at {rfc3339(failure.next_try)}"
    return f"{said}. Run {failure.run} failed: {failure.message} ({again})"
