"""State of establishing the table: whether it is verified, and what puts that in doubt."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.status import ProvisionState, TableStatus
from paimon_operator.core.spec.context import TableContext

DOUBTFUL: Final = frozenset({Reason.TABLE_NOT_FOUND, Reason.CONFLICT})
"""A run that ends with one of these found that the table is not the verified one any more."""


def state_of(status: TableStatus) -> ProvisionState:
    """The recorded state of establishing the table."""
    return status.provision or ProvisionState()


def is_verified(context: TableContext, status: TableStatus) -> bool:
    """Whether the table was verified against the current manifest."""
    return state_of(status).hash == context.wanted_hash


def is_established(status: TableStatus) -> bool:
    """Whether the table was verified against any manifest, and nothing has put that in doubt since."""
    return state_of(status).hash is not None


def require_verification(status: TableStatus) -> TableStatus:
    """The status of a table that has to be verified again, because a run has put it in doubt."""
    return with_state(status, state_of(status).model_copy(update={"hash": None}))


def with_state(status: TableStatus, state: ProvisionState) -> TableStatus:
    """The status with another state of establishing the table."""
    return status.model_copy(update={"provision": state})
