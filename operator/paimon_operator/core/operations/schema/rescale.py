"""Rescale: changes the number of buckets of a Fixed table, a bounded number of partitions per run.

It starts when `bucket.fixed.count` differs from the table and `onCountChange` is Rescale. Once started it is always
completed, to the number that the manifest states then: between its first and its last run the table must not be
written. `unfinished` is stored before the first run is created. What the table itself marks (`rescaling`) counts too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from paimon_contract.parameters.rescale import RescaleParameters
from paimon_contract.result import Result
from paimon_operator.api.policies import ExternalWriters
from paimon_operator.api.reasons import Reason, known_reason
from paimon_operator.api.run.result import rescale_result
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import RunTrigger
from paimon_operator.api.table.schedule_state import DecisionResult, LastDecision
from paimon_operator.api.table.spec import BucketType, PaimonTable, PaimonTableSpec
from paimon_operator.api.table.status import RescaleState, TableStatus
from paimon_operator.core import backoff
from paimon_operator.core.operations import edits, retries
from paimon_operator.core.operations.base import DueRun, RunOutcome, identity
from paimon_operator.core.operations.edits import EditBlocker
from paimon_operator.core.operations.operation import Hold, InputSize, Memory, OperationSpec
from paimon_operator.core.operations.rescale_plan import (
    count_hash,
    facts_of,
    is_asked,
    is_unfinished,
    rescale_plan,
    rescale_state,
    wanted_count,
)
from paimon_operator.core.operations.schedule_state import retry_time
from paimon_operator.core.operations.verification import require_verification, state_of
from paimon_operator.core.spec.context import TableContext
from paimon_operator.errors import SpecError

PARTITIONS_PER_RUN: Final = 20
BYTES_PER_RUN: Final = 100 * 1024**3
"""They bound a run, so that its progress is seen and a suspended table stops soon. One partition is never divided."""
FIELD: Final = "spec.bucket.fixed.count"


class RescaleTable:
    """Due while the number of buckets differs from the manifest, or a rescale is unfinished."""

    def due(self, context: TableContext, status: TableStatus) -> Iterator[DueRun]:
        """The next run, unless the last one failed and waits for an edit or for its time."""
        state, count = rescale_state(status), wanted_count(context.spec)
        if count is None or not _is_its_turn(context, status):
            return
        if state.failure is not None and not backoff.has_come(state.failure.next_try, context.now):
            return
        repetition = state.failure.count if state.failure else 0
        yield DueRun(
            type_=OPERATION.type,
            trigger=RunTrigger.SPEC,
            due=context.created,
            spec_hash=count_hash(count),
            identity=identity(f"{count}/{state.done or 0}", repetition),
            after=state.last_run,
        )

    def stopped_by(self, context: TableContext, subject: str | None) -> SpecError | None:  # noqa: ARG002
        """Nothing: an error of the table itself stops everything."""
        return None

    def with_next_ticks(self, context: TableContext, status: TableStatus) -> TableStatus:
        """The status without the failure of another number."""
        state, count = rescale_state(status), wanted_count(context.spec)
        if state.failure is None or (count is not None and state.failure.spec_hash == count_hash(count)):
            return status
        return _with(status, state.model_copy(update={"failure": None}))

    def record_decision(self, status: TableStatus, work: DueRun, decision: LastDecision) -> TableStatus:
        """A run that starts makes the rescale unfinished, before it exists."""
        if decision.result is not DecisionResult.STARTED:
            return status
        state = rescale_state(status)
        goes_on = state.unfinished and state.spec_hash == work.spec_hash
        progress = {} if goes_on else _first_progress(status)
        update = progress | {"unfinished": True, "spec_hash": work.spec_hash}
        return _with(status, state.model_copy(update=update))

    def memories(self, status: TableStatus) -> Iterator[Memory]:
        """One, once a run has started."""
        if status.rescale is not None:
            yield Memory(None, status.rescale.failure)


def hold(context: TableContext, status: TableStatus) -> Hold | None:
    """A rescale that is due or unfinished excludes every other run. One that is refused changes nothing.

    The rest of an edit is applied first.
    """
    if not is_asked(context.spec, status):
        return _of_another_type(context.spec, status)
    if not _is_its_turn(context, status):
        return None
    unfinished, failure = is_unfinished(status), rescale_state(status).failure
    if failure is not None and failure.next_try is None:
        reason = known_reason(failure.reason, Reason.RESCALE_FAILED)
        message = f"run {failure.run}: {failure.message}"
        return Hold(reason=reason, message=message, is_stalled=True, excludes=unfinished)
    unapproved = _unapproved(context, status)
    if unapproved is not None:
        return Hold(reason=unapproved.reason, message=unapproved.message, is_stalled=True, excludes=unfinished)
    if wanted_count(context.spec) is None:
        message = f"spec.bucket: a rescale is unfinished ({_progress(status)}): set type Fixed and a count again"
        return Hold(reason=Reason.RESCALING, message=message, is_stalled=True)
    return Hold(reason=Reason.RESCALING, message=_progress(status))


def _is_its_turn(context: TableContext, status: TableStatus) -> bool:
    """Whether a rescale is unfinished, or is what is left of the edit."""
    if not is_asked(context.spec, status):
        return False
    return is_unfinished(status) or not edits.has_other_changes(context, status)


def _unapproved(context: TableContext, status: TableStatus) -> EditBlocker | None:
    """That the plan waits for approval; None if it does not, and once a run has begun."""
    return edits.unapproved(context, rescale_plan(context.spec, status))


def _of_another_type(spec: PaimonTableSpec, status: TableStatus) -> Hold | None:
    """Why the edit of the type cannot be applied, once a run has found that the table differs."""
    failure, found = state_of(status).failure, facts_of(status).bucket_mode
    automatic = BucketType.DYNAMIC if spec.table_schema.primary_keys else BucketType.UNAWARE
    wanted = spec.bucket.type if spec.bucket is not None else automatic
    if failure is None or failure.reason != Reason.TABLE_DIFFERS or found in (None, wanted):
        return None
    message = (
        f"spec.bucket.type: the table has {found} buckets, and Paimon cannot change them to {wanted}. Set the type "
        "back, or create another PaimonTable with the new type and load the data into it."
    )
    return Hold(reason=Reason.TABLE_DIFFERS, message=message, is_stalled=True, excludes=False)


def paused(status: TableStatus) -> str | None:
    """What is left of an unfinished rescale; None if there is none."""
    return _progress(status) if is_unfinished(status) else None


def _progress(status: TableStatus) -> str:
    state = rescale_state(status)
    if state.total is None or not state.unfinished:
        return "the table is being rescaled to another number of buckets"
    done = state.done or 0
    return f"{done} of {state.total} partitions have the new number of buckets, {state.total - done} are left"


def _first_progress(status: TableStatus) -> dict[str, int | None]:
    """The progress before the first run. After an unfinished rescale some partitions may have the number already."""
    total = None if is_unfinished(status) else facts_of(status).partitions
    return {"done": None if total is None else 0, "total": total}


def record_result(status: TableStatus, ended: RunOutcome, key: str) -> TableStatus:
    """The status after a run: its progress, or one failure more. A run that refused has begun nothing.

    The table is verified again after the last run: the number in the manifest may have been edited meanwhile.
    """
    state, found = rescale_state(status), ended.result.rescale
    if ended.succeeded and found is not None:
        update: dict[str, Any] = {"done": found.done, "total": found.total, "last_time": ended.at, "failure": None}
        status = _with(status, state.model_copy(update=update | _ended(ended, unfinished=not found.finished)))
        return require_verification(status) if found.finished else status
    next_try = retry_time(ended, state.failure.count + 1 if state.failure else 1, key, retries.ESTABLISHING)
    unfinished = bool(state.unfinished) and ended.reason != Reason.RESCALE_REFUSED
    update = {"failure": ended.as_failure(state.failure, next_try)} | _ended(ended, unfinished=unfinished)
    return _with(status, state.model_copy(update=update))


def _ended(ended: RunOutcome, *, unfinished: bool) -> dict[str, Any]:
    return {"last_run": ended.active.name, "unfinished": unfinished or None}


def on_spec_change(status: TableStatus, table: PaimonTable, now: datetime) -> TableStatus:
    """After any edit, a run that failed is tried again at once: the cause may be outside of the number."""
    failure = rescale_state(status).failure
    if failure is None or table.metadata.generation == status.observed_generation:
        return status
    return _with(
        status, rescale_state(status).model_copy(update={"failure": failure.model_copy(update={"next_try": now})})
    )


def job(context: TableContext, run: PaimonRun) -> RescaleParameters:  # noqa: ARG001
    """The number of buckets. Raises SpecError for a manifest without one."""
    count = wanted_count(context.spec)
    if count is None:
        raise SpecError(FIELD, "the manifest states no number of buckets", "Set bucket.type Fixed and a count.")
    return RescaleParameters(count=count, most_partitions=PARTITIONS_PER_RUN, most_bytes=BYTES_PER_RUN)


def is_still_asked_for(context: TableContext, run: PaimonRun, decided: str) -> bool:  # noqa: ARG001
    """Whether the manifest states the same number as when the run was decided, and no other writer may commit."""
    count, others = wanted_count(context.spec), context.spec.external_writers is ExternalWriters.ACTIVE
    return count is not None and count_hash(count) == decided and not others


def status_fields(result: Result) -> Mapping[str, Any]:
    """The progress."""
    return {"rescale": rescale_result(result)}


def summary(result: Result) -> str:
    """What was done."""
    found = result.rescale
    if found is None:
        return "nothing was reported"
    verified = ", and all are verified" if found.finished else ""
    return f"{found.done} of {found.total} partitions have the new number of buckets{verified}"


def input_size(run: PaimonRun, table: PaimonTable) -> InputSize:  # noqa: ARG001
    """The table's size."""
    facts = facts_of(table.status)
    return InputSize(facts.rows, facts.size_bytes, "the table")


def _with(status: TableStatus, state: RescaleState) -> TableStatus:
    return status.model_copy(update={"rescale": state})


OPERATION: Final = OperationSpec(
    type="Rescale",
    order=15,
    scheduled=RescaleTable(),
    hold=hold,
    paused=paused,
    excludes_foreign_writers=True,
    job=job,
    summary=summary,
    status_fields=status_fields,
    memory="rescale",
    record_result=record_result,
    on_spec_change=on_spec_change,
    is_still_asked_for=is_still_asked_for,
    input_size=input_size,
)
