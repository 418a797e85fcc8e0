"""Deletion of a PaimonTable: its active run ends first, then the data is dropped or kept, then the object is released.

| deletionPolicy | was ever Ready | skip-drop | namespace terminating | then |
|---|---|---|---|---|
| any    | any | any | yes | as Retain: nothing can be created any more; the log states that the data stays |
| Retain | any | any | no  | active run cancelled and gone, then released; storage is never touched |
| Delete | no  | any | no  | as Retain: a table that this object never owned is never dropped |
| Delete | yes | yes | no  | as Retain: the annotation is the override |
| Delete | yes | no  | no  | active run cancelled and gone, then dropped (retried without limit), then released |

A drop keeps a table that existed before the object and was taken over without `adoptionPolicy: Adopt`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from paimon_operator.api.base import rfc3339
from paimon_operator.api.conditions import ConditionStatus, ConditionType
from paimon_operator.api.policies import DeletionPolicy
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import ActiveRun, QueuedRun, TableStatus
from paimon_operator.core.commits.table_claims import TableClaim
from paimon_operator.core.conditions import Finding, false, reconciling, report, stalled
from paimon_operator.core.decision import Action, Decision, Delete, EventNote, Refusal
from paimon_operator.core.naming import FINALIZER
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.operation import Removal, Role
from paimon_operator.core.ports import Kind
from paimon_operator.core.spec.capabilities import ever_ready
from paimon_operator.core.spec.effective import run_policy
from paimon_operator.core.spec.identity import table_name
from paimon_operator.core.table import active_run, rank, run_queue
from paimon_operator.core.table.active_run import ActiveRunState
from paimon_operator.core.table.observed import TableObserved, Wanted
from paimon_operator.core.table.table_conditions import Blocker, blocker_of, refused_creation, taken_name
from paimon_operator.core.validation.catalog import blocking_problems, summarise

SKIP_DROP: Final = "paimon-operator.dev/skip-drop"
"""Annotation that releases the object without dropping its table, when set to `true`."""
REQUEUE_WHILE_DELETING: Final = timedelta(minutes=1)
"""The end of the run that is waited for arrives as a watch event; this covers a missed one."""
_OVERRIDES: Final = (
    f"To let the object go and keep the data, set deletionPolicy to Retain or annotate {SKIP_DROP}=true."
)


def plan_deletion(wanted: Wanted, observed: TableObserved, now: datetime) -> Decision[TableStatus]:
    """The next step of a deletion. The last step removes the finalizer."""
    table = wanted.table
    if FINALIZER not in table.metadata.finalizers:
        return Decision(status=None)
    followed = active_run.observe_active_run(table, observed, now)
    terminating, run = observed.namespace_terminating, followed.run
    drops = must_drop(table, followed.status, observed) and not terminating
    if run is not None and not (drops and registry.OPERATIONS.has_role(run.spec.type, Role.REMOVES_TABLE)):
        return _cancelling(table, followed.status, run, observed.refusal, now)
    if terminating:
        return _released(f"its namespace is being deleted, so nothing can be started; {_kept(table)}")
    if not drops:
        return _released(_kept(table))
    if observed.claimant is not None:
        return _waiting_for(observed.claimant, table, followed.status, now)
    return _dropping(wanted, observed, followed, now)


def must_drop(table: PaimonTable, status: TableStatus, observed: TableObserved) -> bool:
    """Whether the table is dropped together with the object. `status` has the results of all runs that have ended."""
    other = observed.claimant
    mine = ever_ready(status) and (other is None or other.busy)
    skipped = table.metadata.annotations.get(SKIP_DROP) == "true"
    return table.spec.deletion_policy is DeletionPolicy.DELETE and mine and not skipped


def _waiting_for(claimant: TableClaim, table: PaimonTable, status: TableStatus, now: datetime) -> Decision[TableStatus]:
    """A run of another object works on the table: nothing is dropped under it."""
    other = claimant.name_for(table.metadata.namespace)
    findings = stalled(Reason.TABLE_CLAIMED, f"{other} has a run on the same table, and the drop follows it")
    return _decided(table, status, findings, now)


def _cancelling(
    table: PaimonTable, status: TableStatus, run: PaimonRun, refusal: Refusal | None, now: datetime
) -> Decision[TableStatus]:
    """Deletes the active run. Its own finalizer keeps it until its Pod is gone."""
    name, asked = run.metadata.name, run.metadata.deletion_timestamp is not None
    actions = () if asked else (Delete(kind=Kind.RUN, name=name, uid=run.metadata.uid),)
    findings = reconciling(Reason.WAITING_FOR_POD, f"run {name} is being stopped")
    if refusal is not None and not asked:
        message = f"run {name} cannot be deleted, and it is being tried again: {refusal.message}"
        findings = stalled(refusal.reason, message)
    elif (held := blocker_of(run)) is not None:
        findings = stalled(held.reason, held.message)
    return _decided(table, status, findings, now, actions=actions)


def _dropping(
    wanted: Wanted, observed: TableObserved, followed: ActiveRunState, now: datetime
) -> Decision[TableStatus]:
    """The next step of a drop: done, blocked until a time, started, or under way."""
    table, status = wanted.table, followed.status
    active = status.active_run
    if _removal().is_done(status):
        return _after_drop(table, followed, now)
    if active is not None and registry.OPERATIONS.has_role(active.type, Role.REMOVES_TABLE):
        return _wait_for_drop(wanted, observed, followed, active, now)
    catalog, blocked = observed.catalog, _no_catalog(wanted, observed)
    work = _removal().due(status, now) if blocked is None else None
    if work is None or catalog is None:
        return _failing(table, status, blocked, followed.events, now)
    if (queued := run_queue.wait_for_place(work, followed.queued, observed, now, rank.LONGEST)) is not None:
        return _queue_drop(table, status, queued, followed.events, now)
    return _start_drop(wanted, observed, followed, active_run.new_active_run(table, work, catalog), now)


def _after_drop(table: PaimonTable, followed: ActiveRunState, now: datetime) -> Decision[TableStatus]:
    """Releases the object. A table that is kept is reported by an Event first, while its object still exists."""
    if not _removal().kept(followed.status):
        return _released("its table was dropped", followed.events)
    if not followed.events:
        return _released(f"{_kept(table)}: it existed before this PaimonTable")
    kept = f"{_kept(table)}. {Reason.TABLE_KEPT.means} {Reason.TABLE_KEPT.remedy}"
    events = (*followed.events, EventNote(type_="Warning", reason=Reason.TABLE_KEPT, note=kept))
    findings = reconciling(Reason.DELETING, f"{_kept(table)}; the object is released")
    return _decided(table, followed.status, findings, now, events=events, requeue_after=timedelta(0))


def _queue_drop(
    table: PaimonTable, status: TableStatus, queued: QueuedRun, events: tuple[EventNote, ...], now: datetime
) -> Decision[TableStatus]:
    """Waits for a free place: the catalog's and the operator's limit hold for drops too."""
    status = status.model_copy(update={"queued_run": queued})
    findings = reconciling(Reason.RUN_LIMIT_REACHED, f"the drop waits for a free place: {queued.message}")
    return _decided(table, status, findings, now, events=events)


def _start_drop(
    wanted: Wanted, observed: TableObserved, followed: ActiveRunState, named: ActiveRun, now: datetime
) -> Decision[TableStatus]:
    """The status names the run first; it is created once the status is stored."""
    status = followed.status.model_copy(update={"active_run": named})
    held = blocker_of(followed.run)
    return _decided(
        wanted.table,
        status,
        _drop_under_way(status, held),
        now,
        actions=_create_unless_there(wanted, observed, followed, named),
        events=followed.events,
    )


def _wait_for_drop(
    wanted: Wanted, observed: TableObserved, followed: ActiveRunState, named: ActiveRun, now: datetime
) -> Decision[TableStatus]:
    """Waits for the run that the status names, or creates it."""
    table, status = wanted.table, followed.status
    if followed.taken:
        taken = stalled(Reason.NAME_TAKEN, f"{taken_name(named)} {_OVERRIDES}")
        return _decided(table, status, taken, now, events=followed.events)
    held = blocker_of(followed.run)
    if followed.missing and observed.refusal is not None:
        held = refused_creation(named, observed.refusal)
    actions = _create_unless_there(wanted, observed, followed, named)
    return _decided(table, status, _drop_under_way(status, held), now, actions=actions, events=followed.events)


def _create_unless_there(
    wanted: Wanted, observed: TableObserved, followed: ActiveRunState, named: ActiveRun
) -> tuple[Action, ...]:
    if followed.run is not None:
        return ()
    policy = run_policy(wanted.table, observed.catalog, wanted.operator.defaults)
    return (active_run.create_action(wanted.table, named, policy),)


def _removal() -> Removal:
    """What drops the table. Raises ValueError if the operation with that role states none."""
    removal = registry.OPERATIONS.with_role(Role.REMOVES_TABLE).removal
    if removal is None:
        raise ValueError("the operation that removes the table has no removal")
    return removal


def _drop_under_way(status: TableStatus, held: Blocker | None) -> tuple[Finding, ...]:
    failure = _removal().failure(status)
    if held is not None:
        return stalled(held.reason, f"{held.message} {_OVERRIDES}")
    if failure is not None:
        return stalled(Reason.DROP_FAILING, f"{failure.message} {_OVERRIDES}")
    return reconciling(Reason.DROPPING, Reason.DROPPING.means)


def _failing(
    table: PaimonTable, status: TableStatus, blocked: str | None, events: tuple[EventNote, ...], now: datetime
) -> Decision[TableStatus]:
    failure = _removal().failure(status)
    why, later = blocked or "", REQUEUE_WHILE_DELETING
    if failure is not None and failure.next_try is not None and not blocked:
        why = f"{failure.message} (tried again at {rfc3339(failure.next_try)})."
        later = max(failure.next_try - now, timedelta(0))
    status = status.model_copy(update={"active_run": None})
    findings = stalled(Reason.DROP_FAILING, f"{why} {_OVERRIDES}")
    return _decided(table, status, findings, now, events=events, requeue_after=later)


def _no_catalog(wanted: Wanted, observed: TableObserved) -> str | None:
    """Why the table cannot be reached: without a valid catalog, its storage is unknown. None with one."""
    name = wanted.table.spec.catalog_ref.name
    if observed.catalog is None:
        return f"there is no PaimonCatalog {name!r}, so the table cannot be reached."
    problems = blocking_problems(observed.catalog, wanted.operator)
    return f"PaimonCatalog {name}: {summarise(problems)}" if problems else None


def _released(why: str, events: tuple[EventNote, ...] = ()) -> Decision[TableStatus]:
    return Decision(status=None, finalizer="remove", events=events, log=(f"the finalizer is removed: {why}",))


def _kept(table: PaimonTable) -> str:
    return f"the data of {table.spec.database}.{table_name(table)} stays"


def _decided(
    table: PaimonTable,
    status: TableStatus,
    progress: tuple[Finding, ...],
    now: datetime,
    *,
    actions: tuple[Action, ...] = (),
    events: tuple[EventNote, ...] = (),
    requeue_after: timedelta = REQUEUE_WHILE_DELETING,
) -> Decision[TableStatus]:
    current = next(finding for finding in progress if finding.status is ConditionStatus.TRUE)
    findings = (false(ConditionType.READY, Reason.DELETING, current.message), *progress)
    reported = report(table.status.conditions, findings, generation=table.metadata.generation, now=now, events=events)
    return Decision(
        status=reported.into(status),
        actions=actions,
        events=reported.events,
        requeue_after=requeue_after,
    )
