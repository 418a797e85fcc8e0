"""What the runs of a table have found of others' changes: `status.drift`, and the schema with which it is compared."""

from __future__ import annotations

from typing import Final

from paimon_contract.drift import JobDrift
from paimon_contract.result import DriftedField as JobField
from paimon_operator.api.drift import DriftedField, DriftFound
from paimon_operator.api.table.status import DriftState, TableStatus
from paimon_operator.core.operations.base import RunOutcome
from paimon_operator.core.operations.verification import (
    is_verified,
    put_in_doubt,
    require_verification,
    state_of,
    with_state,
)
from paimon_operator.core.spec.context import TableContext
from paimon_schema.bucket_count import BUCKET
from paimon_schema.drift import DriftKind

ACCEPT: Final = "paimon-operator.dev/accept-drift"
"""Annotation with the schema id of status.drift: the changes up to it are accepted."""


def drift_of(status: TableStatus) -> DriftState:
    """The recorded state."""
    return status.drift or DriftState()


def with_drift(status: TableStatus, state: DriftState, **values: object) -> TableStatus:
    """The status with another state."""
    return status.model_copy(update={"drift": state.model_copy(update=values)})


def has_drifted(status: TableStatus) -> bool:
    """Whether somebody else has changed the table."""
    return bool(drift_of(status).count)


def for_job(status: TableStatus) -> JobDrift | None:
    """What a driver compares the table with; None if no schema is recorded."""
    known, state = state_of(status), drift_of(status)
    if known.schema_id is None or known.schema_digest is None:
        return None
    return JobDrift(
        schema_id=known.schema_id,
        schema_digest=known.schema_digest,
        known=tuple(_for_job(each) for each in state.kept),
        hidden=max(0, (state.kept_count or 0) - len(state.kept)),
    )


def _for_job(change: DriftedField) -> JobField:
    return JobField(change=change.change.value, field=change.field, before=change.before, after=change.after)


def record_verified(status: TableStatus, ended: RunOutcome) -> TableStatus:
    """The status after a run that has made the table as declared: drift is what differs from its schema from now on.

    A driver of an earlier release reports no schema: the next run that compares schemas records it.
    """
    found, state = ended.result.drift, drift_of(status)
    looked = {"observed_time": ended.at, "changed_at": None, "correcting": None}
    if found is None:
        return with_drift(status, state, **looked)
    known = {"schema_id": found.schema_id, "schema_digest": found.schema_digest}
    status = with_state(status, state_of(status).model_copy(update=known))
    kept = {"kept": found.changes, "kept_count": found.count or None}
    return with_drift(status, state, **_values(found), **kept, **looked)


def record_refused(status: TableStatus, ended: RunOutcome) -> TableStatus:
    """The status after a run that could not make the table as declared: what it has found is recorded.

    A run that has read nothing has corrected nothing: the next one does. With another number of buckets the table is
    not the verified one any more, also if the manifest becomes that of before.
    """
    found, state = ended.result.drift, drift_of(status)
    if found is None:
        return status
    status = with_drift(status, state, **_values(found), correcting=None)
    return status if _buckets(found.changes) == _buckets(state.changes) else require_verification(status)


def record_observed(status: TableStatus, ended: RunOutcome) -> TableStatus:
    """The status after a run that has compared the schema.

    A change that leaves no legal plan puts the table in doubt. So does another number of buckets: a rescale follows
    what a run has measured, and nothing may be written before it.
    A result from before its changes were accepted does not count: another run follows.
    """
    found, state, known = ended.result.drift, drift_of(status), state_of(status)
    if found is None:
        return with_drift(status, state, observed_time=ended.at, changed_at=None)
    if known.schema_id not in (None, found.baseline_id):
        return with_drift(status, state, changed_at=ended.at)
    if known.schema_id is None:
        update = {"schema_id": found.schema_id, "schema_digest": found.schema_digest}
        status = with_state(status, known.model_copy(update=update))
    status = with_drift(status, state, **_values(found), observed_time=ended.at, changed_at=None)
    is_doubtful = found.refused is not None or _buckets(found.changes) != _buckets(state.changes)
    return put_in_doubt(status, ended.at) if is_doubtful else status


def _buckets(changes: tuple[DriftedField, ...]) -> tuple[str | None, ...]:
    """The number of buckets that somebody else has set; nothing if nobody has."""
    return tuple(each.after for each in changes if each.change is DriftKind.OPTION_CHANGED and each.field == BUCKET)


def _values(found: DriftFound) -> dict[str, object]:
    return {
        "schema_id": found.schema_id,
        "schema_digest": found.schema_digest,
        "schema_time": found.schema_time,
        "count": found.count or None,
        "changes": found.changes,
        "refused": found.refused,
    }


def record_measured_schema(status: TableStatus, ended: RunOutcome) -> TableStatus:
    """The status after a run of another operation: a schema that it has found unchanged needs no run of its own."""
    seen, state = ended.result.after, drift_of(status)
    known = state if state.schema_id is not None else state_of(status)
    if not ended.succeeded or ended.result.drift is not None or seen is None:
        return status
    if seen.schema_id is None or known.schema_id is None:
        return status
    if seen.schema_id == known.schema_id and seen.schema_digest in (None, known.schema_digest):
        return with_drift(status, state, observed_time=ended.at)
    return with_drift(status, state, changed_at=state.changed_at or ended.at)


def with_accepted(context: TableContext, status: TableStatus) -> TableStatus:
    """The status once a user has accepted the changes up to the compared schema: drift counts from there.

    Not while they keep the table from being verified: then a run looks every hour whether they were reverted.
    """
    state, known = drift_of(status), state_of(status)
    accepts = context.table.metadata.annotations.get(ACCEPT) == str(state.schema_id)
    in_doubt = state.refused is not None or not is_verified(context, status)
    if not accepts or in_doubt or not has_drifted(status) or state.schema_digest is None:
        return status
    update = {"schema_id": state.schema_id, "schema_digest": state.schema_digest}
    nothing = {"count": None, "changes": (), "kept": (), "kept_count": None, "refused": None}
    return with_drift(with_state(status, known.model_copy(update=update)), state, **nothing)
