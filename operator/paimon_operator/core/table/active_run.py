"""The table's active run: its name is stored in the status, then it is created, observed and its result applied.

While `status.activeRun` stands no other run of the table may have a Pod. It is cleared only by a result, or when a live
read shows that a run whose UID had been recorded is gone; a result that is unknown keeps it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from paimon_operator.api.base import API_VERSION, rfc3339, truncated
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.conditions import ConditionStatus, ConditionType, find
from paimon_operator.api.policies import RunPolicy
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Expectation, FailureClass, Phase, RunStatus, RunTrigger
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import NEED_LENGTH, ActiveRun, QueuedRun, TableStatus
from paimon_operator.core import naming
from paimon_operator.core.commits import foreign_commits
from paimon_operator.core.decision import Create, EventNote
from paimon_operator.core.operations import drift_state, registry
from paimon_operator.core.operations.base import DueRun, RunOutcome, cancelled, ended_by, why
from paimon_operator.core.operations.need import Need
from paimon_operator.core.operations.operation import Role
from paimon_operator.core.operations.verification import DOUBTFUL, put_in_doubt, require_verification
from paimon_operator.core.ports import Kind
from paimon_operator.core.spec.place import place_of
from paimon_operator.core.table.measures import record_measures
from paimon_operator.core.table.observed import TableObserved
from paimon_operator.core.table.usage import record_usage

BLOCKED_AFTER: Final = timedelta(minutes=10)
"""A run that only a human gets on keeps its place for so long: a Secret that follows its catalog costs nothing."""


@dataclass(frozen=True, kw_only=True)
class ActiveRunState:
    """The state of the active run."""

    status: TableStatus
    """With the run's UID, or with its result and without the run. Without a place in the queue."""
    run: PaimonRun | None = None
    """The active run, until it has ended; None if it does not exist."""
    missing: bool = False
    """The status names it and it does not exist yet: create it."""
    taken: bool = False
    """The status names it and it cannot be created: another run has its name."""
    queued: QueuedRun | None = None
    """The table's place in the queue until now. `status` has none: the next decision to wait sets it again."""
    events: tuple[EventNote, ...] = ()
    ended: RunOutcome | None = None
    """How it has ended, if `status` has got its result."""


def observe_active_run(table: PaimonTable, observed: TableObserved, now: datetime) -> ActiveRunState:
    """Finds the active run among the observed ones."""
    queued = table.status.queued_run
    table = table.model_copy(update={"status": table.status.model_copy(update={"queued_run": None})})
    followed = _followed(table, observed, now)
    active = followed.status.active_run
    if active is None:
        return replace(followed, queued=queued)
    blocked = followed.taken or (followed.missing and observed.refusal is not None) or _is_stalled(followed.run, now)
    active = active.model_copy(update={"blocked": blocked or None})
    return replace(followed, status=followed.status.model_copy(update={"active_run": active}))


def _followed(table: PaimonTable, observed: TableObserved, now: datetime) -> ActiveRunState:
    """The active run, or its result."""
    status, active = table.status, table.status.active_run
    if active is None:
        return ActiveRunState(status=status)
    run = find_run(table, active, observed.runs)
    if run is None and active.uid is None and active.trigger is not RunTrigger.USER:
        taken = active.name in observed.names_of_runs
        return ActiveRunState(status=status, missing=not taken, taken=taken)
    unknown = bool(active.result_unknown)
    ended = cancelled(active, now, unknown=unknown) if run is None else ended_by(active, run, now)
    if ended is not None:
        return ActiveRunState(status=apply_result(table, ended), events=(_end_note(ended),), ended=ended)
    found = {} if run is None else {"uid": run.metadata.uid, "result_unknown": _is_unknown(run)}
    named = active.model_copy(update=found)
    return ActiveRunState(status=status.model_copy(update={"active_run": named}), run=run)


def find_run(table: PaimonTable, named: ActiveRun, runs: Iterable[PaimonRun]) -> PaimonRun | None:
    """The run that the table's status names so; None if it is not among `runs`."""
    return next((each for each in runs if _is(each, named, table)), None)


def apply_result(table: PaimonTable, ended: RunOutcome) -> TableStatus:
    """The status with the result of its active run, and without the run."""
    operation = registry.OPERATIONS.of(ended.active.type)
    status = table.status if operation.role is Role.REMOVES_TABLE else record_measures(table, ended)
    status = operation.record_result(status.model_copy(update={"active_run": None}), ended, table.metadata.uid)
    if operation.role is Role.REMOVES_TABLE:
        return status
    status = drift_state.record_measured_schema(record_usage(status, ended), ended)
    status = foreign_commits.record_result(status, ended.active, ended.result, table.spec.external_writers)
    if ended.reason not in DOUBTFUL:
        return status
    verified = operation.role is Role.ESTABLISHES_TABLE
    return require_verification(status) if verified else put_in_doubt(status, ended.at)


def given_up(table: PaimonTable, reason: Reason, why_not: str, now: datetime) -> TableStatus:
    """The status without its active run, which was never created, so it never had a Pod.

    Its tick counts as answered and is due again, as after a failure of the environment.
    """
    active = table.status.active_run
    if active is None or active.due_time is None:
        return table.status.model_copy(update={"active_run": None})
    ended = RunOutcome(
        active=active,
        at=now,
        result=RunStatus(),
        failure_class=FailureClass.ENVIRONMENT,
        reason=reason,
        message=f"it was never made: {why_not}",
    )
    return apply_result(table, ended)


def new_active_run(
    table: PaimonTable,
    work: DueRun,
    catalog: PaimonCatalog,
    need: Need | None = None,
    expected: Expectation | None = None,
) -> ActiveRun:
    """The status.activeRun of `work` before its run exists. `need`: why it is needed."""
    if work.run is not None:
        return _of_a_user(work, work.run, catalog, table)
    return ActiveRun(
        name=name_of(table, work),
        type=work.type_,
        subject=work.subject,
        trigger=work.trigger,
        due_time=work.due_time,
        spec_hash=work.spec_hash,
        place=place_of(table, catalog),
        need=truncated(need.message, NEED_LENGTH) or None if need is not None else None,
        note=work.note or None,
        expected=expected,
    )


def _of_a_user(work: DueRun, run: PaimonRun, catalog: PaimonCatalog, table: PaimonTable) -> ActiveRun:
    return ActiveRun(
        name=run.metadata.name,
        uid=run.metadata.uid,
        type=work.type_,
        subject=work.subject,
        partial=work.partial or None,
        trigger=work.trigger,
        place=place_of(table, catalog),
    )


def name_of(table: PaimonTable, work: DueRun) -> str:
    """The name of the run that does the work."""
    return naming.run_name(
        table=table.metadata.name,
        table_uid=table.metadata.uid,
        action=work.type_,
        subject=work.subject or "",
        # Everything that the run depends on: after an edit and its reversal, the name must be another one.
        trigger=f"{work.identity}@{table.metadata.generation}>{work.after or ''}",
    )


def create_action(table: PaimonTable, active: ActiveRun, policy: RunPolicy) -> Create:
    """Creates the PaimonRun that `active` names: always the same body for the same name."""
    trigger: dict[str, Any] = {"type": active.trigger.value, "message": why(active)}
    if active.due_time is not None:
        trigger["dueTime"] = rfc3339(active.due_time)
    if active.spec_hash is not None:
        trigger["specHash"] = active.spec_hash
    if active.expected is not None:
        trigger["expected"] = active.expected.to_json()
    spec: dict[str, Any] = {"tableRef": {"name": table.metadata.name}, "type": active.type, "trigger": trigger}
    member = registry.OPERATIONS.of(active.type).member
    if member is not None:
        spec[member.field] = member.of_subject(active.subject or "")
    limits = {"activeDeadline": policy.active_deadline, "backoffLimit": policy.backoff_limit}
    spec |= {field: value for field, value in limits.items() if value is not None}
    metadata = {
        "name": active.name,
        "namespace": table.metadata.namespace,
        "labels": naming.run_labels(table.metadata.name),
        "finalizers": [naming.FINALIZER],
        "ownerReferences": [naming.owner_reference(Kind.TABLE, table.metadata.name, table.metadata.uid)],
    }
    body = {"apiVersion": API_VERSION, "kind": Kind.RUN.value, "metadata": metadata, "spec": spec}
    return Create(kind=Kind.RUN, body=body, owner_uid=table.metadata.uid)


def _end_note(ended: RunOutcome) -> EventNote:
    active = ended.active
    note = f"{_action(active)}: {ended.message} (run {active.name}: {why(active)})"
    return EventNote(type_="Normal" if ended.succeeded else "Warning", reason=ended.reason, note=note)


def _action(active: ActiveRun) -> str:
    return f"{active.type} {active.subject}" if active.subject else active.type


def _is(run: PaimonRun, active: ActiveRun, table: PaimonTable) -> bool:
    """Whether `run` is the one that `active` names.

    Every user can compute the name. Before the UID is known, a run therefore counts as the table's own only if the
    table controls it and its spec equals the status. Otherwise the operator could launch a run that a user created.
    """
    if run.metadata.name != active.name:
        return False
    if active.uid is not None:
        return active.uid == run.metadata.uid
    return run.metadata.controller_uid == table.metadata.uid and _asks_for(run, active)


def _is_stalled(run: PaimonRun | None, now: datetime) -> bool:
    """Whether only a human gets the run on, and has not for some time."""
    found = None if run is None else find(run.status.conditions, ConditionType.STALLED)
    if found is None or found.status is not ConditionStatus.TRUE or found.reason == Reason.INTERNAL_ERROR:
        return False  # (a bug tells nothing of the run: its Pod may be active)
    return now - found.last_transition_time >= BLOCKED_AFTER


def _is_unknown(run: PaimonRun) -> bool | None:
    """True for a run that ended without a result; None, and so absent from the status, for every other."""
    return True if run.status.phase is Phase.UNKNOWN else None


def _asks_for(run: PaimonRun, active: ActiveRun) -> bool:
    spec = run.spec
    if spec.trigger is None or spec.type != active.type:
        return False
    if registry.OPERATIONS.of(spec.type).target(run).subject != active.subject:
        return False
    asked = (spec.trigger.type, spec.trigger.due_time, spec.trigger.spec_hash)
    return asked == (active.trigger, active.due_time, active.spec_hash)
