"""Verified maintenance: what a run is to compare, what it has found, and what keeps maintenance from starting.

A difference is recorded with the run that found it. It holds all maintenance of the table until the annotation ACCEPT
names that run. A later difference is of another run, so an annotation that was left behind does not release it.
"""

from __future__ import annotations

from typing import Final

from paimon_contract.parameters.verification import VerifyParameters
from paimon_operator.api.base import rfc3339
from paimon_operator.api.conditions import ConditionType
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.columns import Aggregate, AggregateFunction, Column
from paimon_operator.api.table.maintenance import OnMismatch, Verify
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import TableStatus, VerificationState
from paimon_operator.core.conditions import Finding, true
from paimon_operator.core.operations.base import RunOutcome
from paimon_operator.core.spec.context import TableContext

ACCEPT: Final = "paimon-operator.dev/accept-rows"
"""Annotation with the run that has found a difference: maintenance continues with the rows as they are."""
_BY_ORDER: Final = frozenset({
    AggregateFunction.COLLECT,
    AggregateFunction.NESTED_UPDATE,
    AggregateFunction.NESTED_PARTIAL_UPDATE,
    AggregateFunction.THETA_SKETCH,
    AggregateFunction.HLL_SKETCH,
    AggregateFunction.RBM32,
    AggregateFunction.RBM64,
})  # fmt: skip
"""Their value, or its bytes, may depend on which rows are merged first."""
_ROUNDED: Final = frozenset({AggregateFunction.SUM, AggregateFunction.PRODUCT})
"""So does theirs of FLOAT and DOUBLE, in the last digits."""


def verify_parameters(context: TableContext) -> VerifyParameters | None:
    """What a compaction is to compare; None: nothing."""
    wanted = context.spec.maintenance
    if wanted is None or wanted.verify is Verify.NEVER:
        return None
    return VerifyParameters(
        whole=wanted.verify is Verify.ALWAYS,
        rolls_back=wanted.on_mismatch is OnMismatch.ROLLBACK,
        uncompared=tuple(each.name for each in context.spec.table_schema.columns if _is_by_order(each)),
    )


def _is_by_order(column: Column) -> bool:
    aggregate: Aggregate | None = column.aggregate
    if aggregate is None:
        return False
    is_rounded = column.type.strip().upper().startswith(("FLOAT", "DOUBLE"))
    return aggregate.function in _BY_ORDER or (aggregate.function in _ROUNDED and is_rounded)


def record_verification(status: TableStatus, ended: RunOutcome) -> TableStatus:
    """The status with what a run has compared, also if it failed. A run that compared nothing changes nothing."""
    found = ended.result.verification
    if found is None:
        return status
    state = status.verification or VerificationState()
    update: dict[str, object] = {"last_run": ended.active.name, "last": found.model_copy(update={"difference": None})}
    if found.difference is None:
        update["last_time"] = ended.at
    else:
        update |= {"held_by": ended.active.name, "found_at": ended.at, "difference": found.difference}
    return status.model_copy(update={"verification": state.model_copy(update=update)})


def why_held(table: PaimonTable, status: TableStatus) -> str | None:
    """Why no maintenance of the table starts, and what releases it; None: it may start."""
    state = status.verification
    if state is None or state.held_by is None or state.difference is None:
        return None
    if table.metadata.annotations.get(ACCEPT) == state.held_by:
        return None
    found, run, at = state.difference, state.held_by, "" if state.found_at is None else f" at {rfc3339(state.found_at)}"
    back = "The table was rolled back to it" if found.rolled_back else "The table has the rows of the commit"
    return (
        f"run {run} found{at} that its commit {found.after} changed rows: {found.found}. Tag {found.tag} keeps "
        f"snapshot {found.before}. {back}. Repair the table, then set the annotation {ACCEPT}={run}"
    )


def maintenance_held(table: PaimonTable, status: TableStatus) -> tuple[Finding, ...]:
    """The condition MaintenanceHeld, while maintenance is held."""
    said = why_held(table, status)
    return () if said is None else (true(ConditionType.MAINTENANCE_HELD, Reason.VERIFICATION_FAILED, said),)
