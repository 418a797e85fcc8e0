"""Operations that keep all others from starting until they are complete, and the condition that shows it."""

from __future__ import annotations

from dataclasses import dataclass

from paimon_operator.api.conditions import ConditionType
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
    """The hold of an operation that must not start, because another writer has committed."""
    found = undeclared_commit(context.spec, status) if operation.excludes_foreign_writers else None
    if found is None:
        return None
    unfinished = operation.paused is not None and operation.paused(status) is not None
    message = (
        f"{operation.type} does not start: snapshot {found.snapshot_id} was made by commit user "
        f"{found.commit_user or 'unnamed'}, not by the operator. Stop that writer, then edit externalWriters."
    )
    return Hold(reason=Reason.OUTSIDE_COMMIT, message=message, is_stalled=True, excludes=unfinished)


def writes_paused(status: TableStatus) -> tuple[Finding, ...]:
    """The condition WritesPaused, while an operation is unfinished during which nothing else may commit."""
    for operation in registry.OPERATIONS.operations:
        left = operation.paused(status) if operation.paused is not None else None
        if left is not None:
            message = f"{left}: no other run commits until the last one is verified"
            return (true(ConditionType.WRITES_PAUSED, Reason.RESCALING, message),)
    return ()
