"""Whether the operator takes back what somebody else has changed, and when it waits.

At most three runs an hour are started for it. A field that was changed again after two corrections within an hour is
contested: two parties fight over it, and the operator corrects nothing until the older correction is an hour old.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from paimon_operator.api.base import to_the_second
from paimon_operator.api.drift import MAX_CORRECTIONS, Correction
from paimon_operator.api.policies import DriftPolicy
from paimon_operator.api.table.status import DriftState, TableStatus
from paimon_operator.core.operations.drift_state import drift_of, with_drift
from paimon_operator.core.operations.verification import is_verified, require_verification
from paimon_operator.core.spec.context import TableContext

PERIOD: Final = timedelta(hours=1)
CONTESTED_AFTER: Final = 2
"""Corrections of one field within PERIOD after which a third is not made."""


def with_correction(context: TableContext, status: TableStatus) -> TableStatus:
    """The status in which a run is to take back what is legal, if the policy asks for it and nothing stops it."""
    status = _with_limits(context, status)
    state = drift_of(status)
    if state.next_correction is not None or not _is_wanted(context, status):
        return status
    made = Correction(time=to_the_second(context.now), fields=_fields(state))
    status = with_drift(status, state, corrections=(*state.corrections, made), correcting=True)
    return require_verification(status)


def record_start(context: TableContext, status: TableStatus) -> TableStatus:
    """The status when the run starts that takes changes back: it may have waited for its place."""
    state = drift_of(status)
    if not state.correcting or not state.corrections:
        return status
    *earlier, made = state.corrections
    started = made.model_copy(update={"time": to_the_second(context.now)})
    return with_drift(status, state, corrections=(*earlier, started))


def _is_wanted(context: TableContext, status: TableStatus) -> bool:
    asks = context.spec.drift_policy is DriftPolicy.CORRECT and is_verified(context, status)
    return asks and bool(_fields(drift_of(status)))


def _with_limits(context: TableContext, status: TableStatus) -> TableStatus:
    """The status without old corrections, and with the time until which the operator waits."""
    if status.drift is None:
        return status
    state, wanted = status.drift, _is_wanted(context, status)
    recent = tuple(each for each in state.corrections if context.now - each.time <= PERIOD)
    state = state.model_copy(update={"corrections": recent})
    contested = [_after(made[-CONTESTED_AFTER]) for made in contested_fields(state).values()] if wanted else []
    full = [_after(recent[0].time)] if wanted and len(recent) >= MAX_CORRECTIONS else []
    until = max([*contested, *full], default=None)
    return with_drift(status, state, contested=bool(contested) or None, next_correction=until)


def _after(correction: datetime) -> datetime:
    """The first second at which the correction is more than an hour old."""
    return correction + PERIOD + timedelta(seconds=1)


def contested_fields(state: DriftState) -> dict[str, list[datetime]]:
    """Each field to correct that was corrected too often, with the times of its corrections."""
    times = {field: [each.time for each in state.corrections if field in each.fields] for field in _fields(state)}
    return {field: made for field, made in times.items() if len(made) >= CONTESTED_AFTER}


def _fields(state: DriftState) -> tuple[str, ...]:
    """The names of what is to be corrected; the kind of the change stands for what has no name."""
    return tuple(dict.fromkeys(each.field or each.change.value for each in state.changes if each.correctable))
