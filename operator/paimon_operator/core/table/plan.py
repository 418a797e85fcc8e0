"""The one decision of the table controller. Pure: the same arguments decide the same.

The first step that applies decides, in this order: deletion, result of the active run, an invalid manifest, and then
the steps of `steps.py`. A step that does not act states the reason in the conditions. A decision starts at most one
run, and none while `status.activeRun` is set. A missing finalizer comes with it, and before any start.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from paimon_operator.api.reasons import Reason, known_reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.commits import commit_safety, foreign_commits
from paimon_operator.core.commits.table_claims import is_busy
from paimon_operator.core.conditions import Finding, report
from paimon_operator.core.decision import Decision, Delete, EventNote
from paimon_operator.core.naming import FINALIZER
from paimon_operator.core.operations import registry, row_checks
from paimon_operator.core.operations.operation import Role
from paimon_operator.core.ports import Kind
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.effective import run_policy
from paimon_operator.core.table import (
    active_run,
    clocks,
    deletion,
    holds,
    pruning,
    starts_nothing,
    steps,
    table_conditions,
)
from paimon_operator.core.table.active_run import ActiveRunState
from paimon_operator.core.table.bucket_advice import bucket_advice
from paimon_operator.core.table.companions import named_runs, without_leftovers
from paimon_operator.core.table.decision_events import decision_events
from paimon_operator.core.table.drift_report import drift_events, drifted
from paimon_operator.core.table.observed import TableObserved, Wanted
from paimon_operator.core.table.outcome import REQUEUE_WHILE_ACTIVE, Outcome
from paimon_operator.core.table.repeated_skips import deferred, with_skipped_ticks
from paimon_operator.core.table.table_conditions import Blocker
from paimon_operator.core.table.usage import without_old_sizes
from paimon_operator.core.trusted_times import with_trusted_times
from paimon_operator.core.validation.blocks import with_valid_blocks
from paimon_operator.core.validation.catalog import blocking_problems, summarise


def plan(wanted: Wanted, observed: TableObserved, now: datetime) -> Decision[TableStatus]:
    """The decision about one table, from its manifest, the operator's facts and what was observed."""
    stored = wanted.table.status
    status, untrusted = with_trusted_times(stored, now)
    table = wanted.table.model_copy(update={"status": status})
    wanted = replace(wanted, table=table)
    if table.metadata.deletion_timestamp is not None:
        return deletion.plan_deletion(wanted, observed, now)
    if observed.namespace_terminating:
        # Nothing can be created any more, and the table's own deletion follows.
        return Decision(status=None, requeue_after=REQUEUE_WHILE_ACTIVE)
    table = table.model_copy(update={"status": with_skipped_ticks(status, observed.decided_until, now)})
    wanted = replace(wanted, table=table)
    decision = _of_living(wanted, observed, untrusted, now)
    if FINALIZER in table.metadata.finalizers or observed.catalog is None:  # (without it nothing is started)
        return deferred(decision, stored, table.metadata.uid) if observed.may_defer else decision
    # A start, also that of a run which exists, comes in the next pass: the answer to the finalizer, without the run,
    # would end the reservation of its place before the run is stored.
    starts = bool(decision.actions) or (decision.status is not None and decision.status.active_run is not None)
    return Decision(status=None, finalizer="add") if starts else replace(decision, finalizer="add")


def _of_living(
    wanted: Wanted, observed: TableObserved, untrusted: tuple[EventNote, ...], now: datetime
) -> Decision[TableStatus]:
    """The decision about a table that is not being deleted. `untrusted` tells of times that were corrected."""
    table = wanted.table
    followed = active_run.observe_active_run(table, observed, now)
    if observed.claimant is not None and followed.run is not None and not is_busy(table.status.active_run):
        return _withdrawn(followed.run)
    current = without_old_sizes(_after_edit(followed.status, table, now), now)
    seen = table.model_copy(update={"status": current})
    resolved = _resolve(replace(wanted, table=seen), observed, now)
    outcome = (
        starts_nothing.without_context(seen, followed, resolved, now)
        if isinstance(resolved, Blocker)
        else steps.with_context(resolved, observed, followed)
    )
    wrong = (*clocks.untrusted_ticks(table.status, outcome.status, now), *untrusted)
    return _decided(wanted, observed, followed, replace(outcome, events=(*outcome.events, *wrong)), now)


def _after_edit(status: TableStatus, table: PaimonTable, now: datetime) -> TableStatus:
    """The status after an edit of the manifest, if there was one."""
    for operation in registry.OPERATIONS.operations:
        status = operation.on_spec_change(status, table, now)
    return foreign_commits.on_spec_change(status, table.spec.external_writers, now)


def _withdrawn(run: PaimonRun) -> Decision[TableStatus]:
    """Deletes a run that could be created at last, and whose table another object has meanwhile: it has no Pod yet."""
    deleted = run.metadata.deletion_timestamp is not None
    actions = () if deleted else (Delete(kind=Kind.RUN, name=run.metadata.name, uid=run.metadata.uid),)
    return Decision(status=None, actions=actions, requeue_after=REQUEUE_WHILE_ACTIVE)


def _resolve(wanted: Wanted, observed: TableObserved, now: datetime) -> TableContext | Blocker:
    """The context of the table's manifest, or what makes it invalid."""
    table, catalog, claimant = wanted.table, observed.catalog, observed.claimant
    if claimant is not None:
        other = claimant.name_for(table.metadata.namespace)
        return Blocker(Reason.TABLE_CLAIMED, f"{other} manages the same table: {Reason.TABLE_CLAIMED.remedy}")
    if catalog is None:
        name = table.spec.catalog_ref.name
        message = f"there is no PaimonCatalog {name!r} that can be read: {Reason.CATALOG_NOT_FOUND.remedy}"
        return Blocker(Reason.CATALOG_NOT_FOUND, message)
    problems = blocking_problems(catalog, wanted.operator)
    if problems:
        return Blocker(Reason.CATALOG_INVALID, f"PaimonCatalog {catalog.metadata.name}: {summarise(problems)}")
    if observed.overlap is not None:
        other = observed.overlap.name_for(table.metadata.namespace)
        message = f"{other} has a warehouse in or around that of PaimonCatalog {catalog.metadata.name}: "
        return Blocker(Reason.WAREHOUSE_OVERLAPS, message + Reason.WAREHOUSE_OVERLAPS.remedy)
    built = TableContext.build(table, catalog, wanted.operator, now)
    context, fatal = with_valid_blocks(built, wanted.operator)
    if fatal:
        return Blocker(known_reason(fatal[0].reason, Reason.INVALID_SPEC), summarise(fatal))
    return replace(context, look=observed.look, spent=observed.spent(table.status.usage))


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
        events=(
            *followed.events,
            *drift_events(table.status, outcome.status),
            *decision_events(table.status, outcome.status),
            *outcome.events,
        ),
        announced=Reason.TABLE_MATCHES_SPEC if _has_established(table.status, followed) else None,
    )
    status = without_leftovers(reported.into(outcome.status)).model_copy(update={"verified_generation": None})
    policy = run_policy(table, observed.catalog, wanted.operator.defaults)
    return Decision(
        status=status,
        actions=(*outcome.actions, *pruning.outlived(observed.runs, observed.finished, _names(status), policy)),
        events=reported.events,
        requeue_after=outcome.requeue_after,
    )


def _names(status: TableStatus) -> set[str]:
    """Names of the runs that may begin one day."""
    return {each.name for each in named_runs(status)}


def _has_established(before: TableStatus, followed: ActiveRunState) -> bool:
    """Whether the run that makes the table, or verifies it, has just succeeded: its Event says so."""
    active = before.active_run
    ends = any(note.reason == Reason.RUN_SUCCEEDED for note in followed.events)
    return ends and active is not None and registry.OPERATIONS.has_role(active.type, Role.ESTABLISHES_TABLE)


def _everywhere(wanted: Wanted, observed: TableObserved, status: TableStatus) -> list[Finding]:
    """Conditions that every step reports."""
    table, catalog, operator = wanted.table, observed.catalog, wanted.operator
    suspension = table_conditions.suspension(table, catalog, table.status.conditions)
    paused = holds.writes_paused(status, table_conditions.suspended_by(table, catalog))
    held = row_checks.maintenance_held(table, status)
    always = [*paused, *held, *bucket_advice(status.table), *drifted(status), *suspension]
    if catalog is None:
        return always
    engine = operator.engines.get(operator.engine_of(catalog))
    of_catalog = commit_safety.protection_of(catalog, engine)
    kept = commit_safety.protection_from(of_catalog, table.spec, status.effective, engine)
    return [commit_safety.commit_safe(table.spec, status, kept), *always]
