"""What to do about a table: the one decision of the table controller. Pure; the same look decides the same.

The order is the rule; the first step that applies decides. Deletion - finalizer - the active run's result - is the
manifest possible - is it safe to commit - is a run under way - suspended - make the table - what is due - nothing.
Every step that does not act says why in the conditions. At most one run is started by a decision, and none while
`status.activeRun` stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from paimon_operator.api.policies import RunPolicy
from paimon_operator.api.reasons import Reason, known_reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.commits import commit_safety, foreign_commits
from paimon_operator.core.conditions import Finding, report
from paimon_operator.core.decision import Action, Decision, EventNote
from paimon_operator.core.naming import FINALIZER
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.base import DueRun, started
from paimon_operator.core.operations.operation import Role, Scheduled
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.effective import run_policy
from paimon_operator.core.table import active_run, deletion, pruning, selection, table_conditions
from paimon_operator.core.table.active_run import ActiveRunState
from paimon_operator.core.table.observed import TableObserved, Wanted
from paimon_operator.core.table.table_conditions import Blocker, Findings
from paimon_operator.core.validation.catalog import catalog_problems, summarise
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
    followed = active_run.observe_active_run(table, observed.runs, now)
    status = followed.status
    for operation in registry.OPERATIONS.operations:
        status = operation.on_spec_change(status, table, now)
    status = foreign_commits.on_spec_change(status, table.spec.external_writers)
    seen = wanted.table.model_copy(update={"status": status})
    resolved = _resolve(replace(wanted, table=seen), observed, now)
    outcome = (
        _without_context(seen, followed, resolved, now)
        if isinstance(resolved, Blocker)
        else _with_context(resolved, observed, followed)
    )
    return _decided(wanted, observed, followed, outcome, now)


def _resolve(wanted: Wanted, observed: TableObserved, now: datetime) -> TableContext | Blocker:
    """The look that everything else rests on, or why there is none."""
    table, catalog, claimant = wanted.table, observed.catalog, observed.claimant
    if claimant is not None:
        other = f"{claimant.namespace}/{claimant.name}"
        message = f"PaimonTable {other} manages the same table: {Reason.TABLE_CLAIMED.remedy}"
        return Blocker(Reason.TABLE_CLAIMED, message)
    if catalog is None:
        message = f"there is no PaimonCatalog {table.spec.catalog_ref.name!r}: {Reason.CATALOG_NOT_FOUND.remedy}"
        return Blocker(Reason.CATALOG_NOT_FOUND, message)
    problems = tuple(catalog_problems(catalog, wanted.operator))
    if problems:
        return Blocker(Reason.CATALOG_INVALID, f"PaimonCatalog {catalog.metadata.name}: {summarise(problems)}")
    context = TableContext.build(table, catalog, wanted.operator, now)
    broken = broken_rules(context)
    if broken:
        return Blocker(known_reason(broken[0].reason, Reason.INVALID_SPEC), summarise(broken))
    return context


def _without_context(table: PaimonTable, followed: ActiveRunState, obstacle: Blocker, now: datetime) -> Outcome:
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


def _with_context(context: TableContext, observed: TableObserved, followed: ActiveRunState) -> Outcome:
    """The manifest can be realised: the active run first, then what is due."""
    status = context.table.status.model_copy(update={"effective": context.effective})
    for scheduled in _all_scheduled():
        status = scheduled.with_next_ticks(context, status)
    if followed.run is not None and table_conditions.is_unknown(followed.run):
        return Outcome(status=status, findings=table_conditions.unknown_result(context, status, followed.run))
    if status.active_run is not None and followed.taken:
        findings = table_conditions.name_taken(context, status, status.active_run)
        return Outcome(status=status, findings=findings, requeue_after=WHILE_A_RUN_IS_ACTIVE)
    stopped = _stopped(context, status) if followed.missing else None
    if stopped is not None:
        table = context.table.model_copy(update={"status": status})
        status = active_run.given_up(table, stopped.reason, stopped.message, context.now)
    if status.active_run is not None:
        return _wait_for_run(context, observed, followed, status)
    return _without_active_run(context, observed, status)


def _without_active_run(context: TableContext, observed: TableObserved, status: TableStatus) -> Outcome:
    """Starts the work that comes first, unless commits are unsafe, the table is suspended or nothing is due.

    Establishing the table may start where other commits may not: `may_verify`.
    """
    suspended = _is_suspended(context)
    establishing = next(iter(_establishing().due(context, status)), None)
    verifies = establishing is not None and not suspended and commit_safety.may_verify(context, status)
    if not verifies and not commit_safety.may_commit(context, status):
        return _unsafe(context, status)
    if suspended:
        status = selection.waiting(context, status, Reason.SUSPENDED)
        return Outcome(status=status, findings=table_conditions.suspended(context, status))
    status = selection.skip_empty_table(context, status)
    work = establishing or selection.next_work(context, observed, status)
    status = selection.mark_blocked(context, status)
    return _settle(context, status) if work is None else _start(context, status, work)


def _establishing() -> Scheduled:
    """What makes the table due. Raises ValueError for an operation with that role and nothing that makes it due."""
    scheduled = registry.OPERATIONS.with_role(Role.ESTABLISHES_TABLE).scheduled
    if scheduled is None:
        raise ValueError("the operation that establishes the table is never due")
    return scheduled


def _all_scheduled() -> Iterator[Scheduled]:
    for operation in registry.OPERATIONS.operations:
        if operation.scheduled is not None:
            yield operation.scheduled


def _stopped(context: TableContext, status: TableStatus) -> Blocker | None:
    """Why a run that was named and not made yet must not be made any more."""
    if _is_suspended(context):
        return Blocker(Reason.SUSPENDED, Reason.SUSPENDED.means)
    if commit_safety.may_commit(context, status) or (_verifies(status) and commit_safety.may_verify(context, status)):
        return None
    kept = commit_safety.protection_of(context.catalog, context.engine)
    return Blocker(Reason.COMMIT_UNSAFE, commit_safety.describe_safety(context.spec, status, kept))


def _is_suspended(context: TableContext) -> bool:
    return context.spec.suspend or context.catalog.spec.suspend


def _verifies(status: TableStatus) -> bool:
    return status.active_run is not None and registry.OPERATIONS.has_role(
        status.active_run.type, Role.ESTABLISHES_TABLE
    )


def _at_work(context: TableContext, status: TableStatus, run: PaimonRun | None) -> Findings:
    """The usual case, while a run is under way; but a verification that is tried again leaves it unsafe to commit."""
    if (
        commit_safety.may_commit(context, status)
        or not _verifies(status)
        or table_conditions.blocker_of(run) is not None
    ):
        return table_conditions.steady_state(context, status, run)
    return table_conditions.unsafe(context, status)


def _unsafe(context: TableContext, status: TableStatus) -> Outcome:
    """Nothing that commits is started. What may be: the verification, again, when its last run has failed."""
    status = selection.waiting(context, status, Reason.COMMIT_UNSAFE)
    retries = _wakeups(_establishing(), status) if commit_safety.may_verify(context, status) else ()
    findings = table_conditions.unsafe(context, status)
    return Outcome(status=status, findings=findings, requeue_after=_until_next(context, retries))


def _wait_for_run(
    context: TableContext, observed: TableObserved, followed: ActiveRunState, status: TableStatus
) -> Outcome:
    """One run at a time. A run that is named and does not exist is made now: that is what the name is for."""
    named = status.active_run
    actions: tuple[Action, ...] = ()
    status = selection.mark_blocked(context, selection.waiting(context, status, Reason.ANOTHER_RUN_IS_ACTIVE))
    findings = _at_work(context, status, followed.run)
    if followed.missing and named is not None:
        actions = (active_run.create_action(context.table, named, _policy(context)),)
        if observed.refusal is not None:
            findings = table_conditions.refused_run(context, status, named, observed.refusal)
    return Outcome(status=status, findings=findings, actions=actions, requeue_after=WHILE_A_RUN_IS_ACTIVE)


def _start(context: TableContext, status: TableStatus, work: DueRun) -> Outcome:
    """The status names the run first; it is made once the status is stored."""
    named = active_run.new_active_run(context.table, work)
    scheduled = registry.OPERATIONS.of(work.type_).scheduled
    if scheduled is not None:
        status = scheduled.record_decision(status, work, started(work, named.name))
        status = scheduled.with_next_ticks(context, status)
    status = status.model_copy(update={"active_run": named})
    actions = () if work.run is not None else (active_run.create_action(context.table, named, _policy(context)),)
    return Outcome(
        status=status,
        findings=_at_work(context, status, None),
        actions=actions,
        events=(active_run.start_note(named),),
        requeue_after=WHILE_A_RUN_IS_ACTIVE,
    )


def _settle(context: TableContext, status: TableStatus) -> Outcome:
    """Nothing to do before the next tick or retry."""
    moments = (moment for scheduled in _all_scheduled() for moment in _wakeups(scheduled, status))
    findings = table_conditions.steady_state(context, status, None)
    return Outcome(status=status, findings=findings, requeue_after=_until_next(context, moments))


def _wakeups(scheduled: Scheduled, status: TableStatus) -> Iterator[datetime]:
    for memory in scheduled.memories(status):
        yield from memory.wakeups()


def _until_next(context: TableContext, moments: Iterable[datetime]) -> timedelta | None:
    ahead = [moment for moment in moments if moment > context.now]
    return min(ahead) - context.now if ahead else None


def _policy(context: TableContext) -> RunPolicy:
    return context.effective.run_policy or RunPolicy()


def _decided(
    wanted: Wanted, observed: TableObserved, followed: ActiveRunState, outcome: Outcome, now: datetime
) -> Decision[TableStatus]:
    """Conditions with their times, Events for what changed, and the history cut to its limits."""
    table = wanted.table
    reported = report(
        table.status.conditions,
        [*outcome.findings, *_everywhere(wanted, observed, outcome.status)],
        generation=table.metadata.generation,
        now=now,
        events=(*followed.events, *outcome.events),
    )
    status = reported.into(outcome.status)
    named = status.active_run.name if status.active_run else None
    policy = run_policy(table, observed.catalog, wanted.operator.defaults)
    return Decision(
        status=status,
        actions=(*outcome.actions, *pruning.outlived(observed.runs, named, policy)),
        events=reported.events,
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
