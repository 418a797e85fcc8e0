"""What to do about a table: the one decision of the table controller. Pure; the same look decides the same.

The order is the rule; the first step that applies decides. Deletion - finalizer - the active run's result - is the
manifest possible - is it safe to commit - is a run under way - suspended - make the table - what is due - nothing.
Every step that does not act says why in the conditions. At most one run is started by a decision, and none while
`status.activeRun` stands.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from paimon_operator.api.policies import RunPolicy
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import RunType
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.commits import commit_safety, foreign_commits
from paimon_operator.core.conditions import Finding, replaced, told_once, transitions
from paimon_operator.core.decision import Action, Decision, EventNote
from paimon_operator.core.naming import FINALIZER
from paimon_operator.core.operations import OPERATIONS, PROVISION
from paimon_operator.core.operations.base import Work, started
from paimon_operator.core.operations.data import write
from paimon_operator.core.operations.schema import provision
from paimon_operator.core.spec.context import Look
from paimon_operator.core.spec.effective import run_policy
from paimon_operator.core.table import active_run, deletion, pruning, selection, table_conditions
from paimon_operator.core.table.active_run import Followed
from paimon_operator.core.table.observed import TableObserved, Wanted
from paimon_operator.core.table.table_conditions import Findings, Obstacle
from paimon_operator.core.validation.catalog import catalog_problems, reason_of, told
from paimon_operator.core.validation.table import broken_rules

WHILE_A_RUN_IS_ACTIVE: Final = timedelta(minutes=1)
"""Its end comes by a watch event; this is for the event that was missed."""
WHILE_CLAIMED: Final = timedelta(minutes=5)
"""The other object's end comes by an event too."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A status without its conditions, what is found about them, and what to do."""

    status: TableStatus
    findings: Findings
    actions: tuple[Action, ...] = ()
    events: tuple[EventNote, ...] = ()
    requeue_after: timedelta | None = None


def plan(wanted: Wanted, observed: TableObserved, now: datetime) -> Decision[TableStatus]:
    """The decision about one table: its manifest and the operator's facts, against the world around it."""
    table = wanted.table
    if table.metadata.deletion_timestamp is not None:
        return deletion.plan_deletion(wanted, observed, now)
    if observed.namespace_terminating:
        # Nothing can be created any more, and the table's own deletion follows.
        return Decision(status=None, requeue_after=WHILE_A_RUN_IS_ACTIVE)
    if FINALIZER not in table.metadata.finalizers:
        return Decision(status=None, finalizer="add")
    followed = active_run.follow(table, observed.runs, now)
    status = write.edited(provision.edited(followed.status, table, now), table, now)
    status = foreign_commits.edited(status, table.spec.external_writers)
    seen = wanted.table.model_copy(update={"status": status})
    resolved = _resolve(replace(wanted, table=seen), observed, now)
    outcome = (
        _without_a_look(seen, followed, resolved, now)
        if isinstance(resolved, Obstacle)
        else _with_a_look(resolved, observed, followed)
    )
    return _decided(wanted, observed, followed, outcome, now)


def _resolve(wanted: Wanted, observed: TableObserved, now: datetime) -> Look | Obstacle:
    """The look that everything else rests on, or why there is none."""
    table, catalog, claimant = wanted.table, observed.catalog, observed.claimant
    if claimant is not None:
        other = f"{claimant.namespace}/{claimant.name}"
        message = f"PaimonTable {other} manages the same table: {Reason.TABLE_CLAIMED.remedy}"
        return Obstacle(Reason.TABLE_CLAIMED, message)
    if catalog is None:
        message = f"there is no PaimonCatalog {table.spec.catalog_ref.name!r}: {Reason.CATALOG_NOT_FOUND.remedy}"
        return Obstacle(Reason.CATALOG_NOT_FOUND, message)
    problems = tuple(catalog_problems(catalog, wanted.operator))
    if problems:
        return Obstacle(Reason.CATALOG_INVALID, f"PaimonCatalog {catalog.metadata.name}: {told(problems)}")
    look = Look.at(table, catalog, wanted.operator, now)
    broken = broken_rules(look)
    return Obstacle(reason_of(broken[0]), told(broken)) if broken else look


def _without_a_look(table: PaimonTable, followed: Followed, obstacle: Obstacle, now: datetime) -> Outcome:
    """Nothing new starts; a run that is under way ends as it may."""
    status = table.status
    if followed.missing:
        status = active_run.given_up(table, obstacle.reason, obstacle.message, now)
    claimed = obstacle.reason is Reason.TABLE_CLAIMED
    return Outcome(
        status=status,
        findings=table_conditions.refused(status, obstacle),
        requeue_after=WHILE_CLAIMED if claimed else None,
    )


def _with_a_look(look: Look, observed: TableObserved, followed: Followed) -> Outcome:
    status = look.table.status.model_copy(update={"effective": look.holds})
    for operation in OPERATIONS.values():
        status = operation.outlook(look, status)
    if table_conditions.is_unknown(followed.run) and followed.run is not None:
        return Outcome(status=status, findings=table_conditions.unknown_result(look, status, followed.run))
    if status.active_run is not None and followed.taken:
        findings = table_conditions.name_taken(look, status, status.active_run)
        return Outcome(status=status, findings=findings, requeue_after=WHILE_A_RUN_IS_ACTIVE)
    if followed.missing and (stopped := _stopped(look, status)):
        table = look.table.model_copy(update={"status": status})
        status = active_run.given_up(table, stopped.reason, stopped.message, look.now)
    if status.active_run is not None:
        return _wait_for_run(look, observed, followed, status)
    suspended, making = _is_suspended(look), next(iter(PROVISION.due(look, status)), None)
    verifies = making is not None and not suspended and commit_safety.may_verify(look, status)
    if not verifies and not commit_safety.may_commit(look, status):
        return _unsafe(look, status)
    if suspended:
        status = selection.waiting(look, status, Reason.SUSPENDED)
        return Outcome(status=status, findings=table_conditions.suspended(look, status))
    status = selection.spared(look, status)
    work = making or selection.next_work(look, observed, status)
    status = selection.held_writes(look, status)
    return _settle(look, status) if work is None else _start(look, status, work)


def _stopped(look: Look, status: TableStatus) -> Obstacle | None:
    """Why a run that was named and not made yet must not be made any more."""
    if _is_suspended(look):
        return Obstacle(Reason.SUSPENDED, Reason.SUSPENDED.means)
    if commit_safety.may_commit(look, status) or (_verifies(status) and commit_safety.may_verify(look, status)):
        return None
    kept = commit_safety.protection_of(look.catalog, look.engine)
    return Obstacle(Reason.COMMIT_UNSAFE, commit_safety.told(look.spec, status, kept))


def _is_suspended(look: Look) -> bool:
    return look.spec.suspend or look.catalog.spec.suspend


def _verifies(status: TableStatus) -> bool:
    return status.active_run is not None and status.active_run.type is RunType.PROVISION


def _at_work(look: Look, status: TableStatus, run: PaimonRun | None) -> Findings:
    """The usual case, while a run is under way; but a verification that is tried again leaves it unsafe to commit."""
    if commit_safety.may_commit(look, status) or not _verifies(status) or table_conditions.held_up(run) is not None:
        return table_conditions.standing(look, status, run)
    return table_conditions.unsafe(look, status)


def _unsafe(look: Look, status: TableStatus) -> Outcome:
    """Nothing that commits is started. What may be: the verification, again, when its last run has failed."""
    status = selection.waiting(look, status, Reason.COMMIT_UNSAFE)
    retries = PROVISION.wakes(status) if commit_safety.may_verify(look, status) else ()
    findings = table_conditions.unsafe(look, status)
    return Outcome(status=status, findings=findings, requeue_after=_until_next(look, retries))


def _wait_for_run(look: Look, observed: TableObserved, followed: Followed, status: TableStatus) -> Outcome:
    """One run at a time. A run that is named and does not exist is made now: that is what the name is for."""
    named = status.active_run
    actions: tuple[Action, ...] = ()
    status = selection.held_writes(look, selection.waiting(look, status, Reason.ANOTHER_RUN_IS_ACTIVE))
    findings = _at_work(look, status, followed.run)
    if followed.missing and named is not None:
        actions = (active_run.creation(look.table, named, _policy(look)),)
        if observed.refusal is not None:
            findings = table_conditions.refused_run(look, status, named, observed.refusal)
    return Outcome(status=status, findings=findings, actions=actions, requeue_after=WHILE_A_RUN_IS_ACTIVE)


def _start(look: Look, status: TableStatus, work: Work) -> Outcome:
    """The status names the run first; it is made once the status is stored."""
    named = active_run.begun(look.table, work)
    status = OPERATIONS[work.type_].noted(status, work, started(work, named.name))
    status = OPERATIONS[work.type_].outlook(look, status).model_copy(update={"active_run": named})
    actions = () if work.run is not None else (active_run.creation(look.table, named, _policy(look)),)
    return Outcome(
        status=status,
        findings=_at_work(look, status, None),
        actions=actions,
        events=(active_run.start_note(named),),
        requeue_after=WHILE_A_RUN_IS_ACTIVE,
    )


def _settle(look: Look, status: TableStatus) -> Outcome:
    """Nothing to do before the next tick or retry."""
    moments = (moment for operation in OPERATIONS.values() for moment in operation.wakes(status))
    findings = table_conditions.standing(look, status, None)
    return Outcome(status=status, findings=findings, requeue_after=_until_next(look, moments))


def _until_next(look: Look, moments: Iterable[datetime]) -> timedelta | None:
    ahead = [moment for moment in moments if moment > look.now]
    return min(ahead) - look.now if ahead else None


def _policy(look: Look) -> RunPolicy:
    return look.holds.run_policy or RunPolicy()


def _decided(
    wanted: Wanted, observed: TableObserved, followed: Followed, outcome: Outcome, now: datetime
) -> Decision[TableStatus]:
    """Conditions with their times, Events for what changed, and the history cut to its limits."""
    table = wanted.table
    before, generation = table.status.conditions, table.metadata.generation
    findings = [*outcome.findings, *_everywhere(wanted, observed, outcome.status)]
    conditions = replaced(before, findings, generation=generation, now=now)
    status = outcome.status.model_copy(update={"observed_generation": generation, "conditions": conditions})
    named = status.active_run.name if status.active_run else None
    policy = run_policy(table, observed.catalog, wanted.operator.defaults)
    return Decision(
        status=status,
        actions=(*outcome.actions, *pruning.outlived(observed.runs, named, policy)),
        events=told_once((*followed.events, *outcome.events, *transitions(before, conditions))),
        requeue_after=outcome.requeue_after,
    )


def _everywhere(wanted: Wanted, observed: TableObserved, status: TableStatus) -> list[Finding]:
    """Conditions that every step shows."""
    table, catalog, operator = wanted.table, observed.catalog, wanted.operator
    suspension = table_conditions.suspension(table, catalog, table.status.conditions)
    if catalog is None:
        return list(suspension)
    kept = commit_safety.protection_of(catalog, operator.engines.get(operator.engine_of(catalog)))
    return [commit_safety.commit_safe(table.spec, status, kept), *suspension]
