"""State of establishing the table: whether it is verified, and what puts that in doubt."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.status import ProvisionState, TableStatus
from paimon_operator.core.spec.capabilities import verified_by
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.ownership import was_moved

DOUBTFUL: Final = frozenset({Reason.TABLE_NOT_FOUND, Reason.CONFLICT, Reason.TABLE_ALTERED})
"""A run that ends with one of these found that the table is not the verified one any more."""


def state_of(status: TableStatus) -> ProvisionState:
    """The recorded state of establishing the table."""
    return status.provision or ProvisionState()


def is_verified(context: TableContext, status: TableStatus) -> bool:
    """Whether the table was verified against the current manifest, with the current engine."""
    state = state_of(status)
    return is_established(context, status) and state.hash == context.wanted_hash and not state.may_be_altered


def is_established(context: TableContext, status: TableStatus) -> bool:
    """Whether the current engine verified the table at its current place, and nothing has put that in doubt since."""
    known = state_of(status).hash is not None
    return known and not was_switched(context, status) and not was_moved(context, status)


def was_switched(context: TableContext, status: TableStatus) -> bool:
    """Whether another engine than the current one verified the table last."""
    return verified_by(status) not in (None, context.engine.id)


def with_effective(context: TableContext, status: TableStatus) -> TableStatus:
    """The status with the current effective settings, which do not replace the engine that verified the table."""
    engine = verified_by(status) if was_switched(context, status) else status.engine
    return status.model_copy(update={"effective": context.effective, "engine": engine})


def require_verification(status: TableStatus) -> TableStatus:
    """The status of a table that has to be verified again, because a run has put it in doubt."""
    return with_state(status, state_of(status).model_copy(update={"hash": None}))


def put_in_doubt(status: TableStatus, at: datetime) -> TableStatus:
    """The same, after a run of another operation. A verification that had failed before is repeated at once.

    Otherwise a failure that waits for an edit would keep the table from being verified, and all else waits for that.
    """
    state = state_of(status)
    failure = None if state.failure is None else state.failure.model_copy(update={"next_try": at})
    return require_verification(with_state(status, state.model_copy(update={"failure": failure})))


def with_state(status: TableStatus, state: ProvisionState) -> TableStatus:
    """The status with another state of establishing the table."""
    return status.model_copy(update={"provision": state})
