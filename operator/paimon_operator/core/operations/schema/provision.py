"""Creates the table, or verifies it, whenever that part of the manifest or the engine changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from paimon_contract.parameters.provision import JobColumn, ProvisionParameters
from paimon_contract.result import Result
from paimon_operator.api.base import rfc3339
from paimon_operator.api.policies import AdoptionPolicy, DriftPolicy
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.result import drift_found, edit_plan, loaded_writes
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import FailureClass, RunTrigger
from paimon_operator.api.table.schedule_state import LastDecision, LastFailure
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import ProvisionState, TableStatus
from paimon_operator.core import backoff
from paimon_operator.core.operations import drift_state, edits, retries, write_ledgers
from paimon_operator.core.operations.base import DueRun, RunOutcome, identity
from paimon_operator.core.operations.operation import Memory, OperationSpec, Role
from paimon_operator.core.operations.schedule_state import retry_time
from paimon_operator.core.operations.verification import is_verified, state_of, with_state
from paimon_operator.core.spec.capabilities import ever_ready, may_be_rescaled
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.desired_table import DesiredColumn
from paimon_operator.core.spec.ownership import (
    last_observed,
    recreation_wanted,
    with_answer,
    with_proof,
    without_proof,
    without_recreation,
)
from paimon_operator.errors import SpecError
from paimon_schema.paimon_json import paimon_json
from paimon_schema.type_parser import parse

_MAX_DIFFERENCES, _DIFFERENCE_LENGTH = 32, 512


class EstablishTable:
    """Due when the manifest describes another table than the verified one, or another engine verified it."""

    def due(self, context: TableContext, status: TableStatus) -> Iterator[DueRun]:
        """One run, unless the last one failed and waits for an edit or for its time."""
        wanted, state = context.wanted_hash, state_of(status)
        if is_verified(context, status):
            return
        failure = state.failure if state.failure and state.failure.spec_hash == wanted else None
        if failure is not None and not _is_due(context, status, failure):
            return
        if edits.blocker(context, status) is not None:
            return
        repetition = failure.count if failure else 0
        yield DueRun(
            type_=OPERATION.type,
            trigger=RunTrigger.SPEC,
            due=context.created,
            spec_hash=wanted,
            identity=identity(f"{wanted}<{state.hash or ''}", repetition),
            after=state.last_run,
        )

    def stopped_by(self, context: TableContext, subject: str | None) -> SpecError | None:  # noqa: ARG002
        """Nothing: an error of the table itself stops everything."""
        return None

    def with_next_ticks(self, context: TableContext, status: TableStatus) -> TableStatus:
        """The status without the failure of another manifest or engine, or of a manifest that is verified by now."""
        state, before = state_of(status), context.table.status.effective
        if state.failure is None:
            return status
        same_engine = before is None or before.engine in (None, context.engine.id)
        if same_engine and state.failure.spec_hash == context.wanted_hash and not is_verified(context, status):
            return status
        return with_state(status, state.model_copy(update={"failure": None}))

    def record_decision(self, status: TableStatus, work: DueRun, decision: LastDecision) -> TableStatus:  # noqa: ARG002
        """The same status: the conditions Ready and Reconciling report it."""
        return status

    def memories(self, status: TableStatus) -> Iterator[Memory]:
        """One, once a run has ended."""
        if status.provision is not None:
            yield Memory(None, status.provision.failure)


def _is_due(context: TableContext, status: TableStatus, failure: LastFailure) -> bool:
    """Whether a failed run is repeated now: at its time, or as soon as a missing table is to be recreated."""
    if failure.reason == Reason.TABLE_MISSING and recreation_wanted(context, status) is not None:
        return True
    if failure.reason == Reason.AWAITING_APPROVAL and _is_approved(context, status):
        return True
    return backoff.has_come(failure.next_try, context.now)


def _is_approved(context: TableContext, status: TableStatus) -> bool:
    """Whether the plan that the last run has found is approved, or needs no approval any more."""
    found = status.plan
    return not edits.needs_approval(context) or (found is not None and edits.approved(context) == found.hash)


def record_result(status: TableStatus, ended: RunOutcome, key: str) -> TableStatus:
    """The status after a run: verified with its engine against the hash it was started for, or one failure more."""
    state = state_of(status)
    if not ended.succeeded:
        return _with_failure(status, ended, key)
    done = ProvisionState(
        hash=ended.active.spec_hash,
        last_run=ended.active.name,
        last_time=ended.at,
        # An adopted table stays adopted when a later run verifies it.
        created=ended.result.created if state.created is None else state.created,
        columns_digest=ended.result.columns_digest,
        schema_record=state.schema_record,
        bucket_count=None if ended.result.after is None else ended.result.after.bucket_count,
    )
    verified = status.model_copy(update={"engine": ended.result.engine or status.engine})
    recreates = _recreating(status) is not None or ended.active.recreates is not None
    proven = with_answer(with_proof(verified, ended.active.place, ended.at), ended.active.recreates)
    proven = without_recreation(proven)
    if recreates and ended.result.created:
        proven = _of_a_new_table(proven)
    known = write_ledgers.with_loaded(proven, ended.result.loaded, ended.active.name)
    return drift_state.record_verified(with_state(known, done), ended)


def _of_a_new_table(status: TableStatus) -> TableStatus:
    """The status without what was known of the table before: the numbers of its snapshots begin again."""
    update: dict[str, Any] = {"writes": (), "former_writes": None}
    if status.partitions_done is not None:
        update["partitions_done"] = status.partitions_done.model_copy(update={"snapshot": None})
    if status.compaction is not None:
        states = {name: getattr(status.compaction, name) for name in ("minor", "full", "sort")}
        known = {name: state for name, state in states.items() if state is not None}
        forgotten = {name: state.model_copy(update={"compacted_snapshot": None}) for name, state in known.items()}
        update["compaction"] = status.compaction.model_copy(update=forgotten)
    return status.model_copy(update=update)


def _with_failure(status: TableStatus, ended: RunOutcome, key: str) -> TableStatus:
    state = state_of(status)
    same = state.failure if state.failure and state.failure.spec_hash == ended.active.spec_hash else None
    retried = retries.EVERY_CLASS if ended.reason in retries.FIXED_WITHOUT_AN_EDIT else retries.ESTABLISHING
    next_try = retry_time(ended, same.count + 1 if same else 1, key, retried)
    status = drift_state.record_refused(status, ended)
    if ended.reason == Reason.TABLE_DIFFERS and drift_state.has_drifted(status):
        # It can end without an edit: somebody can revert the change by hand.
        next_try = ended.at + backoff.OWNERSHIP.delay(1, key)
    failure = ended.as_failure(same, next_try)
    found_at = ended.active.place if ended.reason in retries.HAS_READ_THE_TABLE else None
    update = {"last_run": ended.active.name, "failure": failure, "found_at": found_at, "hash": state_of(status).hash}
    update["may_be_altered"] = state.may_be_altered or _may_be_altered(state, ended) or None
    if ended.result.plan is not None or ended.reason == Reason.TABLE_MISSING:
        # The table is not as recorded: the plan of the run, if it has one, is the one to approve.
        update |= {"schema_record": None, "columns_digest": None}
        status = status.model_copy(update={"plan": ended.result.plan})
    if ended.reason == Reason.CONFLICT:
        status = without_proof(status, ended.at)
    if ended.reason == Reason.TABLE_MISSING:
        status = without_recreation(status)
    return with_state(status, state.model_copy(update=update))


def _may_be_altered(state: ProvisionState, ended: RunOutcome) -> bool:
    """Whether a run that failed may have altered the table for another spec than the verified one.

    It alters nothing after an error in the spec, except where Paimon refuses the second of two schema commits.
    """
    altered_nothing = ended.failure_class is FailureClass.SPEC and ended.reason != Reason.TABLE_REFUSED
    return state.hash is not None and ended.active.spec_hash != state.hash and not altered_nothing


def _recreating(status: TableStatus) -> str | None:
    return None if status.ownership is None else status.ownership.recreating


def job(context: TableContext, run: PaimonRun) -> ProvisionParameters:  # noqa: ARG001
    """The whole table. How it is hashed (`core/spec/desired_table.py`) does not depend on this form."""
    table, status = context.desired, context.table.status
    seen, active = last_observed(status), status.active_run
    return ProvisionParameters(
        columns=tuple(_column(each) for each in table.columns),
        primary_keys=table.primary_keys,
        partition_keys=table.partition_keys,
        comment=table.comment,
        options=table.options,
        adoption=table.adoption,
        last_observed=None if seen is None else rfc3339(seen),
        recreates=True if active is not None and active.recreates is not None else None,
        recreation=_recreating(status),
        unknown_writes=write_ledgers.unknown_writes(context) or None,
        dropped=table.dropped or None,
        rescales=may_be_rescaled(context.spec) or None,
        approve=edits.needs_approval(context) or None,
        approved=edits.approved(context) if edits.needs_approval(context) else None,
        drift=drift_state.for_job(status),
        corrects=_corrects(context),
        verifies=_verifies(context) or None,
        owners_here=(context.owners_here or None) if table.adoption == AdoptionPolicy.ADOPT else None,
    )


def _verifies(context: TableContext) -> bool:
    """Whether the last run that succeeded has made the table as this manifest says, and no run has altered it since."""
    state = state_of(context.table.status)
    return state.recorded_for == context.wanted_hash and not state.may_be_altered


def _corrects(context: TableContext) -> bool | None:
    """Whether the run takes back what others have changed: it was decided so, and the policy still asks for it."""
    decided = drift_state.drift_of(context.table.status).correcting
    return decided if context.spec.drift_policy is DriftPolicy.CORRECT else None


def _column(column: DesiredColumn) -> JobColumn:
    form = paimon_json(parse(column.type))
    return JobColumn(
        name=column.name,
        type=column.type,
        comment=column.comment,
        data_type=form,
        renamed_from=column.renamed_from,
        default_value=column.default_value,
    )


def on_spec_change(status: TableStatus, table: PaimonTable, now: datetime) -> TableStatus:
    """After any edit, a table that was never Ready, or has another owner, is tried again at once.

    The cause may be outside the manifest, or in a field that the hash does not cover.
    """
    state = state_of(status)
    unseen = table.metadata.generation != status.observed_generation
    if not unseen or state.failure is None:
        return status
    waits_for_owner = state.failure.reason in retries.FIXED_WITHOUT_AN_EDIT
    if not waits_for_owner and (ever_ready(status) or state.failure.failure_class in retries.ESTABLISHING):
        return status
    failure = state.failure.model_copy(update={"next_try": now})
    return with_state(status, state.model_copy(update={"failure": failure}))


def status_fields(result: Result) -> Mapping[str, Any]:
    """Whether the table was created, and how an existing one differs, as far as a status holds it."""
    differences = tuple(each[:_DIFFERENCE_LENGTH] for each in result.differences[:_MAX_DIFFERENCES])
    return {
        "created": result.created,
        "differences": differences,
        "plan": edits.in_manifest_terms(edit_plan(result)),
        "columns_digest": result.columns_digest,
        "drift": drift_found(result),
        "loaded": loaded_writes(result),
    }


def summary(result: Result) -> str:
    """What was done."""
    if result.created:
        return "the table was made"
    back = result.drift.taken_back if result.drift is not None else ()
    said = "; ".join(f"{each.change} {each.field} ({each.after} -> {each.before})" for each in back)
    return "the table was verified" + (f", and changes by others were taken back: {said}" if said else "")


def is_still_asked_for(context: TableContext, run: PaimonRun, decided: str) -> bool:  # noqa: ARG001
    """Whether the manifest asks for the same table as when the run was decided."""
    return context.wanted_hash == decided


OPERATION: Final = OperationSpec(
    type="Provision",
    order=10,
    role=Role.ESTABLISHES_TABLE,
    scheduled=EstablishTable(),
    job=job,
    summary=summary,
    status_fields=status_fields,
    memory="provision",
    record_result=record_result,
    on_spec_change=on_spec_change,
    is_still_asked_for=is_still_asked_for,
    may_end_without_jvm=True,
    small=True,
)
