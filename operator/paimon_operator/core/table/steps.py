"""The steps of a table: what to do about its active run, and which run to start next.

The first step that applies decides, in this order: a run whose result is unknown, the active run, commits that are
unsafe, suspension, establishing the table, what is due, nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from paimon_operator.api.policies import RunPolicy
from paimon_operator.api.reasons import Reason, known_reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import RunTrigger
from paimon_operator.api.table.status import ActiveRun, QueuedRun, TableStatus
from paimon_operator.core.commits import commit_safety
from paimon_operator.core.decision import Action
from paimon_operator.core.operations import drift_policy, drift_state, edits, registry
from paimon_operator.core.operations.base import DueRun, started
from paimon_operator.core.operations.causes import Cause
from paimon_operator.core.operations.operation import Role, Scheduled
from paimon_operator.core.operations.verification import is_verified, state_of, with_effective
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.ownership import (
    recreation_wanted,
    with_answer,
    with_known_place,
    with_recreation,
    without_annotation,
)
from paimon_operator.core.table import (
    active_run,
    after_success,
    companions,
    giving_way,
    holds,
    looks,
    rank,
    run_queue,
    selection,
    starts_nothing,
    table_conditions,
)
from paimon_operator.core.table.active_run import ActiveRunState
from paimon_operator.core.table.observed import TableObserved
from paimon_operator.core.table.outcome import REQUEUE_WHILE_ACTIVE, Outcome, until_next
from paimon_operator.core.table.table_conditions import Blocker, Findings
from paimon_operator.errors import SpecError


def with_context(context: TableContext, observed: TableObserved, followed: ActiveRunState) -> Outcome:
    """Follows the active run of a table whose manifest is valid, or starts what is due."""
    status = with_known_place(context, with_effective(context, context.table.status))
    status = looks.with_look(context, without_annotation(context, status))
    if is_verified(context, status):  # nothing is missing now: the annotation shall not count later
        status = with_answer(status, recreation_wanted(context, status))
    for scheduled in _all_scheduled():
        status = scheduled.with_next_ticks(context, status)
    status = after_success.with_numbers(context, status, followed.ended)
    status = drift_state.with_accepted(context, edits.with_edit(context, status))
    stuck = starts_nothing.by_its_run(context, followed, status)
    if stuck is not None:
        return stuck
    blocker = _stopped(context, status) if followed.missing else None
    if blocker is not None:
        table = context.table.model_copy(update={"status": status})
        status = active_run.given_up(table, blocker.reason, blocker.message, context.now)
    if giving_way.has_given_way(status, followed.run):
        return _after_giving_way(context, observed, giving_way.deferred(status))
    if status.active_run is not None:
        return _wait_for_run(context, observed, followed, status)
    return _without_active_run(context, observed, status, followed.queued)


def _after_giving_way(context: TableContext, observed: TableObserved, status: TableStatus) -> Outcome:
    """Starts the work to which the active run has given way, unless it is not due any more."""
    work = _overtaking(context, observed, status)
    if work is None:
        return _without_active_run(context, observed, status, None)
    return _start_or_queue(context, observed, selection.mark_blocked(context, status), work, None)


def _overtaking(context: TableContext, observed: TableObserved, status: TableStatus) -> DueRun | None:
    """The due work to which waiting maintenance gives way."""
    if _is_suspended(context) or not commit_safety.may_commit(context, status):
        return None
    return _due_edit(context, status) or next(
        filter(giving_way.overtakes, selection.works(context, observed, status)), None
    )


def _due_edit(context: TableContext, status: TableStatus) -> DueRun | None:
    """The due run that brings the table to its spec, unless something holds the table."""
    held = holds.holding(context, status)
    return None if held is not None else next(iter(_establishing().due(context, status)), None)


def _without_active_run(
    context: TableContext, observed: TableObserved, status: TableStatus, queued: QueuedRun | None
) -> Outcome:
    """Starts the work that comes first, unless commits are unsafe, the table is suspended or nothing is due.

    Establishing the table may start where other commits may not: `may_verify`.
    """
    suspended = _is_suspended(context)
    held = holds.holding(context, status)
    if held is None and not suspended and commit_safety.may_verify(context, status):
        status = drift_policy.with_correction(context, status)
    establishing = _due_edit(context, status)
    verifies = establishing is not None and not suspended and commit_safety.may_verify(context, status)
    if not verifies and not commit_safety.may_commit(context, status):
        reads = None if suspended else selection.next_work(context, observed, status, only_reads=True)
        return _unsafe(context, status) if reads is None else _start_or_queue(context, observed, status, reads, queued)
    if suspended:
        status = selection.waiting(context, status, Cause.SUSPENDED)
        late = until_next(_becomes_late(context, status), context.now)
        return Outcome(status=status, findings=table_conditions.suspended(context, status), requeue_after=late)
    return _next_or_settle(context, observed, selection.skip_not_needed(context, status), establishing, queued)


def _next_or_settle(
    context: TableContext,
    observed: TableObserved,
    status: TableStatus,
    establishing: DueRun | None,
    queued: QueuedRun | None,
) -> Outcome:
    """Resumes the run that has given way, starts the work that comes first, or waits for the next moment."""
    held = holds.holding(context, status)
    resumed = giving_way.resumable(context, status) if establishing is None and held is None else None
    if resumed is not None:
        return _resume_or_queue(context, observed, status, resumed, queued)
    work = establishing or selection.next_work(context, observed, status)
    status = selection.mark_held(context, selection.mark_postponed(context, status))
    status = selection.mark_blocked(context, status)
    if work is None:
        return _settle(context, status)
    return _start_or_queue(context, observed, status, work, queued)


def _start_or_queue(
    context: TableContext, observed: TableObserved, status: TableStatus, work: DueRun, queued: QueuedRun | None
) -> Outcome:
    place = run_queue.wait_for_place(work, queued, observed, context.now, rank.head_start(context, status, work))
    return _start(context, observed, status, work) if place is None else _queue(context, status, place)


def _resume_or_queue(
    context: TableContext, observed: TableObserved, status: TableStatus, work: DueRun, queued: QueuedRun | None
) -> Outcome:
    """Names the run that has given way as the active one again. It exists."""
    place = run_queue.wait_for_place(work, queued, observed, context.now, rank.head_start(context, status, work))
    if place is not None:
        return _queue(context, status, place)
    status = selection.waiting(context, giving_way.resumed(status), Cause.ANOTHER_RUN)
    findings = _at_work(context, status, None)
    return Outcome(status=status, findings=findings, requeue_after=REQUEUE_WHILE_ACTIVE)


def _queue(context: TableContext, status: TableStatus, queued: QueuedRun) -> Outcome:
    """Waits for a free place. The table is reconciled as soon as one is free."""
    status = selection.waiting(context, status, Cause.RUN_LIMIT, queued.message)
    status = selection.mark_held(context, selection.mark_postponed(context, status))
    status = status.model_copy(update={"queued_run": queued})
    findings = table_conditions.steady_state(context, status, None)
    changes = (*selection.window_changes(context, status), *_becomes_late(context, status))
    return Outcome(status=status, findings=findings, requeue_after=until_next(changes, context.now))


def _establishing() -> Scheduled:
    """Decides when the table is to be established. Raises ValueError if its operation is never due."""
    scheduled = registry.OPERATIONS.with_role(Role.ESTABLISHES_TABLE).scheduled
    if scheduled is None:
        raise ValueError("the operation that establishes the table is never due")
    return scheduled


def _all_scheduled(*, only_reads: bool = False) -> Iterator[Scheduled]:
    for operation in registry.OPERATIONS.operations:
        if operation.scheduled is not None and (operation.only_reads or not only_reads):
            yield operation.scheduled


def _stopped(context: TableContext, status: TableStatus) -> Blocker | None:
    """Why a run that the status names must not be created any more; None if it may be."""
    if _is_suspended(context):
        return Blocker(Reason.SUSPENDED, Reason.SUSPENDED.means)
    if (error := _broken_part(context, status)) is not None:
        return Blocker(known_reason(error.reason, Reason.INVALID_SPEC), str(error))
    if (
        commit_safety.may_commit(context, status)
        or _only_reads(status)
        or (_verifies(status) and commit_safety.may_verify(context, status))
    ):
        return None
    kept = commit_safety.protection_in(context)
    return Blocker(Reason.COMMIT_UNSAFE, commit_safety.describe_safety(context.spec, status, kept))


def _broken_part(context: TableContext, status: TableStatus) -> SpecError | None:
    """The error that stops the part of the manifest whose run the status names."""
    active = status.active_run
    scheduled = registry.OPERATIONS.of(active.type).scheduled if active is not None else None
    return None if active is None or scheduled is None else scheduled.stopped_by(context, active.subject)


def _is_suspended(context: TableContext) -> bool:
    return context.spec.suspend or context.catalog.spec.suspend


def _verifies(status: TableStatus) -> bool:
    return status.active_run is not None and registry.OPERATIONS.has_role(
        status.active_run.type, Role.ESTABLISHES_TABLE
    )


def _only_reads(status: TableStatus) -> bool:
    return status.active_run is not None and registry.OPERATIONS.of(status.active_run.type).only_reads


def _at_work(context: TableContext, status: TableStatus, run: PaimonRun | None) -> Findings:
    """The findings during a run. A verification that is retried leaves the table unsafe to commit."""
    if (
        commit_safety.may_commit(context, status)
        or not (_verifies(status) or _only_reads(status))
        or table_conditions.blocker_of(run) is not None
    ):
        return table_conditions.steady_state(context, status, run)
    return table_conditions.unsafe(context, status)


def _unsafe(context: TableContext, status: TableStatus) -> Outcome:
    """Starts no run that commits. A failed verification is still retried at its time."""
    status = selection.waiting(context, status, Cause.UNSAFE_COMMITS)
    retries = [*selection.wakeups(_establishing(), status)] if commit_safety.may_verify(context, status) else []
    looks = (moment for each in _all_scheduled(only_reads=True) for moment in selection.wakeups(each, status))
    findings = table_conditions.unsafe(context, status)
    moments = (*retries, *looks, *_becomes_late(context, status))
    return Outcome(status=status, findings=findings, requeue_after=until_next(moments, context.now))


def _wait_for_run(
    context: TableContext, observed: TableObserved, followed: ActiveRunState, status: TableStatus
) -> Outcome:
    """Waits for the active run. Creates it and its companions if the status names them and they do not exist."""
    status = _beside_active(context, observed, status, followed.run)
    named = status.active_run
    status = selection.waiting(context, status, Cause.ANOTHER_RUN)
    status = selection.mark_held(context, selection.mark_postponed(context, status))
    status = selection.mark_blocked(context, status)
    findings = _at_work(context, status, followed.run)
    missing = named if followed.missing else None
    if missing is not None and observed.refusal is not None:
        findings = table_conditions.refused_run(context, status, missing, observed.refusal)
    actions = _creations(context, status, missing)
    return Outcome(status=status, findings=findings, actions=actions, requeue_after=REQUEUE_WHILE_ACTIVE)


def _beside_active(
    context: TableContext, observed: TableObserved, status: TableStatus, run: PaimonRun | None
) -> TableStatus:
    """The status with the companions of the active `run`, which is asked to give way to work that overtakes it."""
    if status.following_runs:
        due = selection.works(context, observed, status)
        status = companions.while_active(context, status, observed.runs, run, due)
    if not giving_way.may_give_way(status, run):
        return status
    work = _overtaking(context, observed, status)
    if work is None:
        return status
    if run_queue.wait_for_place(work, None, observed, context.now, rank.head_start(context, status, work)):
        return status
    return giving_way.asked(status)


def _start(context: TableContext, observed: TableObserved, status: TableStatus, work: DueRun) -> Outcome:
    """Names the run and its companions in the status. They are created once the status is stored."""
    need = selection.need_of(context, status, work) if work.trigger is RunTrigger.SCHEDULE else None
    expected = rank.expectation(context, status, work)
    named = active_run.new_active_run(context.table, work, context.catalog, need, expected)
    named = companions.known_as(status, named)
    shares = observed.shares_drivers and _policy(context).backoff_limit != 0  # (a run with one attempt has its own Pod)
    due = selection.works(context, observed, status) if shares and commit_safety.may_commit(context, status) else ()
    status = companions.at_start(context, status, work, due)
    if registry.OPERATIONS.has_role(work.type_, Role.ESTABLISHES_TABLE):
        recreates = _recreates(context, status)
        named = named.model_copy(update={"recreates": recreates})
        status = status if recreates is None else with_recreation(status, named.name)
        status = drift_policy.record_start(context, status)
    scheduled = registry.OPERATIONS.of(work.type_).scheduled
    if scheduled is not None:
        status = scheduled.record_decision(status, work, started(work, named.name, need))
        status = scheduled.with_next_ticks(context, status)
    status = status.model_copy(update={"active_run": named})
    return Outcome(
        status=status,
        findings=_at_work(context, status, None),
        actions=_creations(context, status, None if work.run is not None else named),
        requeue_after=REQUEUE_WHILE_ACTIVE,
    )


def _creations(context: TableContext, status: TableStatus, missing: ActiveRun | None) -> tuple[Action, ...]:
    """Creates the active run if it is `missing`, and the companions that the status names."""
    policy = _policy(context)
    first = () if missing is None else (active_run.create_action(context.table, missing, policy),)
    return (*first, *companions.creations(context.table, status, policy))


def _recreates(context: TableContext, status: TableStatus) -> int | None:
    """The generation for which a run recreates the missing table: it is known to be missing, or a run was started.

    The result of that run may be lost: then the next one recognises the table that it has created.
    """
    failure, owned = state_of(status).failure, status.ownership
    missing = failure is not None and failure.reason == Reason.TABLE_MISSING
    started = owned is not None and owned.recreating is not None
    return recreation_wanted(context, status) if missing or started else None


def _settle(context: TableContext, status: TableStatus) -> Outcome:
    """Waits for the next tick or retry, or for the window of maintenance that is due."""
    ticks = (moment for scheduled in _all_scheduled() for moment in selection.wakeups(scheduled, status))
    findings = table_conditions.steady_state(context, status, None)
    windows = (*selection.window_changes(context, status), *giving_way.window_changes(context, status))
    moments = (*ticks, *windows, *_becomes_late(context, status))
    return Outcome(status=status, findings=findings, requeue_after=until_next(moments, context.now))


def _becomes_late(context: TableContext, status: TableStatus) -> Iterator[datetime]:
    """When maintenance that does not start changes the condition Healthy."""
    for operation in registry.OPERATIONS.operations:
        if operation.late_from is not None:
            yield from operation.late_from(context, status)


def _policy(context: TableContext) -> RunPolicy:
    return context.effective.run_policy or RunPolicy()
