"""The conditions of a table: what is found true of it, and in which words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from paimon_operator.api.base import rfc3339
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.conditions import Condition, ConditionStatus, ConditionType, find
from paimon_operator.api.reasons import Reason, known_reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import FailureClass, Phase
from paimon_operator.api.table.spec import MergeEngineType, PaimonTable
from paimon_operator.api.table.status import ActiveRun, TableStatus
from paimon_operator.core.commits import commit_safety
from paimon_operator.core.conditions import Finding, false, idle, reconciling, stalled, true, unknown
from paimon_operator.core.decision import Refusal
from paimon_operator.core.operations import edits, registry
from paimon_operator.core.operations.operation import Hold, Memory, Role
from paimon_operator.core.operations.row_checks import why_held
from paimon_operator.core.operations.verification import is_verified, state_of
from paimon_operator.core.spec.capabilities import ever_ready
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.effective import WRITE_ONLY_MODES
from paimon_operator.core.table import holds
from paimon_operator.core.validation.catalog import summarise

Findings = tuple[Finding, ...]

FOR_AN_EDIT: Final = frozenset({FailureClass.SPEC, FailureClass.RESULT_UNKNOWN})
"""Failures of making the table that only a human ends."""
OF_THE_CATALOG: Final = frozenset({Reason.CATALOG_NOT_FOUND, Reason.CATALOG_INVALID, Reason.WAREHOUSE_OVERLAPS})
"""Obstacles that say nothing about the table: it stands as it was verified, and no run can start."""


@dataclass(frozen=True)
class Blocker:
    """Why nothing more happens, or why the active run does not get on."""

    reason: Reason
    message: str


def refused(table: PaimonTable, status: TableStatus, obstacle: Blocker) -> Findings:
    """The manifest cannot be realised as it is. A table that was verified for it stays Ready without its catalog."""
    ready = _still_verified(table) if obstacle.reason in OF_THE_CATALOG else None
    return (
        ready or false(ConditionType.READY, obstacle.reason, obstacle.message),
        *stalled(obstacle.reason, obstacle.message),
        *healthy(status, obstacle if ready else None),
    )


def _still_verified(table: PaimonTable) -> Finding | None:
    """Ready as it stands, if it was found True for this generation of the manifest, also if a bug has hidden that."""
    ready, current = find(table.status.conditions, ConditionType.READY), table.metadata.generation
    if ready is None:
        return None
    if ready.reason == Reason.INTERNAL_ERROR and table.status.verified_generation == current:
        return true(ConditionType.READY, Reason.TABLE_MATCHES_SPEC, Reason.TABLE_MATCHES_SPEC.means)
    if ready.status is not ConditionStatus.TRUE or ready.observed_generation != current:
        return None
    return true(ConditionType.READY, known_reason(ready.reason, Reason.TABLE_MATCHES_SPEC), ready.message)


def unsafe(context: TableContext, status: TableStatus) -> Findings:
    """Commits could get lost, and that is not to be risked."""
    kept = commit_safety.protection_in(context)
    message = commit_safety.describe_safety(context.spec, status, kept)
    ready = _verified(context, status) or false(ConditionType.READY, Reason.COMMIT_UNSAFE, message)
    return (ready, *stalled(Reason.COMMIT_UNSAFE, message), *_health(context, status, None))


def unknown_result(context: TableContext, status: TableStatus, run: PaimonRun) -> Findings:
    """The findings after the active run ended without a known result."""
    condition = find(run.status.conditions, ConditionType.STALLED)
    message = f"run {run.metadata.name}: {condition.message if condition else Reason.RESULT_UNKNOWN.means}"
    return _stuck(context, status, Blocker(Reason.RESULT_UNKNOWN, message))


def name_taken(context: TableContext, status: TableStatus, active: ActiveRun) -> Findings:
    """The run that is due cannot be made, because something else has its name."""
    return _stuck(context, status, Blocker(Reason.NAME_TAKEN, taken_name(active)))


def taken_name(active: ActiveRun) -> str:
    """Whose name is taken, and what to do."""
    return f"{whose_name(active)}. {Reason.NAME_TAKEN.remedy}"


def whose_name(active: ActiveRun) -> str:
    """Whose name is taken, without a full stop."""
    return f"PaimonRun {active.name} exists and was not made by the operator"


def refused_run(context: TableContext, status: TableStatus, active: ActiveRun, refusal: Refusal) -> Findings:
    """The API server does not let the active run be made. A name becomes free by a human only."""
    held = refused_creation(active, refusal)
    return (
        _stuck(context, status, held) if held.reason is Reason.NAME_TAKEN else steady_state(context, status, None, held)
    )


def refused_creation(active: ActiveRun, refusal: Refusal) -> Blocker:
    """Which run cannot be made, and why."""
    message = f"run {active.name} cannot be made, and is being tried again: {refusal.message}"
    return Blocker(refusal.reason, message)


def suspended(context: TableContext, status: TableStatus) -> Findings:
    """Nothing new starts."""
    verified = _verified(context, status) if edits.plan_ahead(context, status) is None else None
    ready = verified or unknown(ConditionType.READY, Reason.SUSPENDED, _suspended_edit(context, status))
    return (ready, *idle(Reason.SUSPENDED, "nothing new starts"), *_health(context, status, None))


def _suspended_edit(context: TableContext, status: TableStatus) -> str:
    """That nothing starts, and what the edit would do."""
    held, plan = edits.blocker(context, status), edits.plan_ahead(context, status)
    stopped = edits.foreseen_refusal(context, status) or (held.message if held is not None else None)
    if stopped is not None:
        return f"{Reason.SUSPENDED.means} The edit: {stopped}"
    if plan is None or not plan.steps:
        return Reason.SUSPENDED.means
    return f"{Reason.SUSPENDED.means} The edit would: {'; '.join(step.sentence for step in plan.steps)}"


def steady_state(
    context: TableContext, status: TableStatus, run: PaimonRun | None, held: Blocker | None = None
) -> Findings:
    """The usual case: the table is verified, or about to be, or the last try failed. `run` is the active one."""
    held = held or blocker_of(run) or _broken_block(context)
    verified, waits = _verified(context, status), holds.holding(context, status)
    if waits is not None:
        return _held(waits.hold, _health(context, status, held))
    if verified is not None:
        return (verified, *_repair_needed(context, status), *_health(context, status, held))
    edit = edits.blocker(context, status)
    if edit is not None:
        ready = false(ConditionType.READY, edit.reason, edit.message)
        return (ready, *stalled(edit.reason, edit.message), *_health(context, status, held))
    if held is not None and not ever_ready(status):
        return (false(ConditionType.READY, held.reason, held.message), *stalled(held.reason, held.message))
    if state_of(status).failure is not None:
        return _not_made(context, status, held)
    reason, message = _progress(status)
    step = reconciling(reason, message) if not context.broken else _repair_needed(context, status)
    return (unknown(ConditionType.READY, reason, message), *step, *_health(context, status, held))


def _held(hold: Hold, health: Findings) -> Findings:
    """An operation has to make the table what the manifest states. A hash of the manifest does not cover that."""
    if hold.is_stalled:
        ready = false(ConditionType.READY, hold.reason, hold.message)
        return (ready, *stalled(hold.reason, hold.message), *health)
    ready = unknown(ConditionType.READY, hold.reason, hold.message)
    return (ready, *reconciling(hold.reason, hold.message), *health)


def _repair_needed(context: TableContext, status: TableStatus) -> Findings:
    """Whether a human has to fix a part of the manifest or of the table. Everything else goes on."""
    left = chain(_changed_rows(context, status), _problems(status, for_a_human=True))
    broken = _broken_block(context) or next(left, None)
    return idle(Reason.NO_ACTION_NEEDED) if broken is None else stalled(broken.reason, broken.message)


def _broken_block(context: TableContext) -> Blocker | None:
    if not context.broken:
        return None
    message = f"{summarise(context.broken)} Everything that this does not affect goes on."
    return Blocker(known_reason(context.broken[0].reason, Reason.INVALID_SPEC), message)


def _progress(status: TableStatus) -> tuple[Reason, str]:
    """How far a table is that is not verified and has not failed to be."""
    active, queued = status.active_run, status.queued_run
    if queued is not None:
        return Reason.RUN_LIMIT_REACHED, f"the run that makes the table waits for a free place: {queued.message}"
    if active is None:
        return Reason.PENDING, Reason.PENDING.means
    if registry.OPERATIONS.has_role(active.type, Role.ESTABLISHES_TABLE):
        return Reason.PROVISIONING, f"run {active.name} makes the table what the manifest says"
    return Reason.ANOTHER_RUN_IS_ACTIVE, f"the manifest is realised as soon as run {active.name} has ended"


def suspended_by(table: PaimonTable, catalog: PaimonCatalog | None) -> str | None:
    """What suspends the table; None if nothing does."""
    if table.spec.suspend:
        return "spec.suspend is true"
    return "spec.suspend of the catalog is true" if catalog is not None and catalog.spec.suspend else None


def suspension(table: PaimonTable, catalog: PaimonCatalog | None, before: tuple[Condition, ...]) -> Findings:
    """Suspended, when it is, and its end for those who saw it."""
    whose = suspended_by(table, catalog)
    if whose is not None:
        return (true(ConditionType.SUSPENDED, Reason.SUSPENDED, f"{whose}: nothing new starts"),)
    if find(before, ConditionType.SUSPENDED) is not None:
        return (false(ConditionType.SUSPENDED, Reason.NOT_SUSPENDED, Reason.NOT_SUSPENDED.means),)
    return ()


def _health(context: TableContext, status: TableStatus, held: Blocker | None) -> Findings:
    return healthy(status, held, _exceeded(context, status), _changed_rows(context, status))


def _changed_rows(context: TableContext, status: TableStatus) -> Iterator[Blocker]:
    """That a compaction has changed rows, until a human has accepted or repaired them."""
    said = why_held(context.table, status)
    if said is not None:
        yield Blocker(Reason.VERIFICATION_FAILED, said)


def _exceeded(context: TableContext, status: TableStatus) -> Iterator[Blocker]:
    """Measurements beyond a threshold that no run has brought back for longer than an interval of its schedule."""
    for operation in registry.OPERATIONS.operations:
        if operation.exceeded is not None:
            yield from (Blocker(Reason.THRESHOLD_EXCEEDED, message) for message in operation.exceeded(context, status))


def healthy(
    status: TableStatus, held: Blocker | None, exceeded: Iterable[Blocker] = (), changed: Iterable[Blocker] = ()
) -> Findings:
    """Whether scheduled work and writes succeed; nothing is said of a table that never came up."""
    if not ever_ready(status):
        return ()
    problems = [
        *changed,
        *([held] if held else []),
        *_problems(status, cancelled=False),
        *exceeded,
    ]  # nothing else starts before the active run goes on
    if problems:
        more = f" ({len(problems) - 1} more in status)" if len(problems) > 1 else ""
        return (false(ConditionType.HEALTHY, problems[0].reason, problems[0].message + more),)
    if status.health is None:
        return (unknown(ConditionType.HEALTHY, Reason.NOT_MEASURED, Reason.NOT_MEASURED.means),)
    runs = status.health.sorted_runs_max
    measured = "no run fails" if runs is None else f"at most {runs} sorted runs in a bucket, no run fails"
    return (true(ConditionType.HEALTHY, Reason.RUNS_SUCCEEDING, measured),)


def blocker_of(run: PaimonRun | None) -> Blocker | None:
    """Returns what blocks the active run until a user fixes it: a missing Secret, image or permission."""
    condition = find(run.status.conditions, ConditionType.STALLED) if run else None
    if run is None or condition is None or condition.status is not ConditionStatus.TRUE:
        return None
    return Blocker(known_reason(condition.reason, Reason.RUN_FAILING), f"run {run.metadata.name}: {condition.message}")


def is_unknown(run: PaimonRun | None) -> bool:
    """Whether the active run has ended without anyone knowing how."""
    return run is not None and run.status.phase is Phase.UNKNOWN


def _stuck(context: TableContext, status: TableStatus, held: Blocker) -> Findings:
    """A human has to act before any other run may start."""
    ready = _verified(context, status) or false(ConditionType.READY, held.reason, held.message)
    return (ready, *stalled(held.reason, held.message), *_health(context, status, held))


def _verified(context: TableContext, status: TableStatus) -> Finding | None:
    if not is_verified(context, status):
        return None
    schema = status.table.schema_id if status.table else None
    message = "the table is as the manifest says" + (f", schema {schema}" if schema is not None else "")
    return true(ConditionType.READY, Reason.TABLE_MATCHES_SPEC, message + _visibility(context))


def _visibility(context: TableContext) -> str:
    """FirstRow readers skip level 0, so without compacting writers new rows wait for a compaction."""
    engine = context.spec.merge_engine
    if (
        engine is None
        or engine.type is not MergeEngineType.FIRST_ROW
        or context.compaction.mode not in WRITE_ONLY_MODES
    ):
        return ""
    return "; new rows of a FirstRow table become visible when it is compacted"


def _not_made(context: TableContext, status: TableStatus, held: Blocker | None) -> Findings:
    failure, problem = state_of(status).failure, next(_problems(status))
    gone = failure is not None and failure.reason == Reason.TABLE_MISSING
    if gone or (failure and failure.failure_class in FOR_AN_EDIT) or not ever_ready(status):
        ready = false(ConditionType.READY, problem.reason, problem.message)
        return (ready, *stalled(problem.reason, problem.message), *_health(context, status, held))
    # The table stands as it was; only the edit waits, and it is tried again by itself.
    ready = unknown(ConditionType.READY, problem.reason, problem.message)
    return (ready, *reconciling(problem.reason, problem.message), *_health(context, status, held))


def _problems(status: TableStatus, *, cancelled: bool = True, for_a_human: bool = False) -> Iterator[Blocker]:
    """What failed, of making the table first, and when it is tried again.

    Without `cancelled`, a run that somebody deleted does not count: that says nothing about the table. With
    `for_a_human`, only what a human has to end counts.
    """
    active = status.active_run
    at_work = None if active is None else (active.type, active.subject)
    for type_, memory in _memories(status):
        failure = memory.failure
        if failure is None or (failure.failure_class is FailureClass.CANCELLED and not cancelled):
            continue
        if for_a_human and failure.reason not in registry.OPERATIONS.of(type_).for_a_human:
            continue
        again = ""
        if active is not None and at_work == (type_, memory.subject):
            again = f" (being tried again by run {active.name})"
        elif memory.is_postponed:
            again = " (its retry is postponed, see its decision)"
        elif failure.next_try is not None:
            again = f" (tried again at {rfc3339(failure.next_try)})"
        message = f"run {failure.run}: {failure.message}{again}"
        yield Blocker(known_reason(failure.reason, Reason.RUN_FAILING), message)


def _memories(status: TableStatus) -> Iterator[tuple[str, Memory]]:
    for operation in registry.OPERATIONS.operations:
        if operation.scheduled is not None:
            yield from ((operation.type, memory) for memory in operation.scheduled.memories(status))
