"""Selects the next scheduled or requested run of a table, and records what blocks the others."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from paimon_operator.api.base import rfc3339
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Phase, RunTrigger
from paimon_operator.api.table.schedule_state import LastDecision
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core import backoff
from paimon_operator.core.operations import edits, registry
from paimon_operator.core.operations.base import DueRun
from paimon_operator.core.operations.causes import Cause, cause_of_hold
from paimon_operator.core.operations.need import HOLDS_FOR, Need, Verdict, only_operator_writes
from paimon_operator.core.operations.operation import OperationSpec, Scheduled
from paimon_operator.core.operations.row_checks import why_held
from paimon_operator.core.operations.verification import is_established, is_verified, state_of
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.table import holds, maintenance_start
from paimon_operator.core.table.observed import TableObserved

_OF_THE_EDIT: Final = (Cause.DIFFERENT_TABLE, Cause.UNAPPROVED_EDIT)


def next_work(
    context: TableContext, observed: TableObserved, status: TableStatus, *, only_reads: bool = False
) -> DueRun | None:
    """The first of `works`."""
    return next(iter(works(context, observed, status, only_reads=only_reads)), None)


def works(
    context: TableContext, observed: TableObserved, status: TableStatus, *, only_reads: bool = False
) -> list[DueRun]:
    """The work that may start, what has waited longest first. Of equal times, scheduled work precedes users' runs.

    Work that yields comes after all other. With `only_reads`, only work that reads counts.
    Maintenance continues while the table differs from the manifest, because the object still owns it. Writes wait,
    because they follow the manifest. While the ownership is in doubt, all work waits. Outside the catalog's windows,
    maintenance waits. After a compaction that has changed rows, all maintenance is held.
    """
    if not is_established(context, status):
        return []
    held = holds.holding(context, status)
    found = [each for each in (*_scheduled(context, status), *_requested(observed)) if _reads(each) or not only_reads]
    found = [work for work in found if held is None or held.allows(work)]
    if why_held(context.table, status) is not None:
        found = [work for work in found if not _is_maintenance(work)]
    if held is not None or not is_verified(context, status):
        found = [work for work in found if not registry.OPERATIONS.of(work.type_).needs_matching_table]
    return sorted(maintenance_start.allowed(context, found), key=lambda work: (work.yields, work.due))


def _is_maintenance(work: DueRun) -> bool:
    return registry.OPERATIONS.of(work.type_).is_held_with_maintenance


def _reads(work: DueRun) -> bool:
    return registry.OPERATIONS.of(work.type_).only_reads


def skip_not_needed(context: TableContext, status: TableStatus) -> TableStatus:
    """The status with the due ticks of maintenance skipped that the table does not need.

    Maintenance that has failed is not skipped as not needed: only a successful run clears the failure.
    """
    if not is_established(context, status):
        return status
    for operation, scheduled in _recurring():
        failing = {memory.subject for memory in scheduled.memories(status) if memory.failure is not None}
        for work in list(scheduled.due(context, status)):
            decision = _not_needed(operation, context, status, work)
            repeated = work.subject in failing and decision is not None and decision.reason == Reason.NOT_NEEDED
            if decision is not None and not repeated:
                status = scheduled.with_next_ticks(context, scheduled.record_decision(status, work, decision))
    return status


def need_of(context: TableContext, status: TableStatus, work: DueRun) -> Need | None:
    """What the last measurement says about the work; None for work that never depends on it."""
    need = registry.OPERATIONS.of(work.type_).need
    return None if need is None else need(context, status, work)


def _not_needed(
    operation: OperationSpec, context: TableContext, status: TableStatus, work: DueRun
) -> LastDecision | None:
    """The decision to skip the work; None for work that is needed, or of which that is not certain."""
    seen = status.health.observed_at if status.health else None
    if operation.skips_empty_table and seen is not None and _is_empty(context, status, seen):
        message = (
            f"nothing was written to the table yet: it had no snapshot at {rfc3339(seen)}. "
            "A run starts at the first tick after the first commit"
        )
        return Cause.NOTHING_WRITTEN.decision(message)
    need = need_of(context, status, work)
    return need.skipped() if need is not None and need.verdict is Verdict.NOT_NEEDED else None


def _is_empty(context: TableContext, status: TableStatus, seen: datetime) -> bool:
    """Whether the table, measured at `seen`, still has no snapshot."""
    had_no_snapshot = status.table is not None and status.table.snapshot_id is None
    is_recent = context.now - seen < HOLDS_FOR and not backoff.is_ahead(seen, context.now)
    # A run that had nothing to load saw a snapshot and did not measure.
    seen_since = status.outside_writers.seen_snapshot if status.outside_writers is not None else None
    return had_no_snapshot and is_recent and not seen_since and only_operator_writes(context, seen)


def mark_blocked(context: TableContext, status: TableStatus) -> TableStatus:
    """The status with the reason why due work waits for the table: all of it until the table is established."""
    held = holds.holding(context, status)
    if held is not None and held.hold.excludes:
        others = [work for work in _others(context, status) if not held.allows(work)]
        cause = cause_of_hold(held.hold.reason)
        has_remedy = held.hold.is_stalled and cause is not Cause.RESCALE_FAILED
        message = held.hold.message if has_remedy else f"{held.hold.message}. {cause.reason.remedy}"
        return _with_decision(context, status, others, cause, message)
    if held is None and is_verified(context, status):
        return status
    failure, established = state_of(status).failure, is_established(context, status)
    edit = edits.blocker(context, status)
    found = edit.reason if edit is not None else failure.reason if failure is not None else None
    known = next((each for each in _OF_THE_EDIT if each.reason == found), Cause.NOT_VERIFIED)
    cause = known if held is None else cause_of_hold(held.hold.reason)
    others = _others(context, status)
    blocked = [work for work in others if not established or registry.OPERATIONS.of(work.type_).needs_matching_table]
    return _with_decision(context, status, blocked, cause, _explained(cause.reason))


def mark_held(context: TableContext, status: TableStatus) -> TableStatus:
    """The status with the reason why due maintenance is held, if it is."""
    said = why_held(context.table, status)
    works = [] if said is None else [work for work in _others(context, status) if _is_maintenance(work)]
    return _with_decision(context, status, works, Cause.CHANGED_ROWS, said or "")


def mark_postponed(context: TableContext, status: TableStatus) -> TableStatus:
    """The status with the reason why due maintenance waits for a window or a budget, and when it starts."""
    for work in _others(context, status):
        start = maintenance_start.start_of(context, work)
        if not start.has_come(context.now):
            status = _with_decision(context, status, [work], start.cause, start.message)
    return status


def window_changes(context: TableContext, status: TableStatus) -> Iterator[datetime]:
    """When due maintenance may start, or may not start any more."""
    changes = (maintenance_start.start_of(context, work).next_change(context.now) for work in _others(context, status))
    yield from (each for each in changes if each is not None)


def waiting(context: TableContext, status: TableStatus, cause: Cause, message: str = "") -> TableStatus:
    """The status in which all due work waits for one cause, except the work of the active run."""
    message = f"{message}. {cause.reason.remedy}" if message else _explained(cause.reason)
    if cause is Cause.ANOTHER_RUN and status.active_run is not None:
        message = f"it is due, and waits until run {status.active_run.name} has ended"
    return _with_decision(context, status, _others(context, status), cause, message)


def waiting_without_context(status: TableStatus, now: datetime, cause: Cause, message: str) -> TableStatus:
    """The same for a table without a valid manifest or catalog. What is due is known by the last valid ones."""
    at_work = _at_work(status)
    for operation, scheduled in _recurring():
        for memory in list(scheduled.memories(status)):
            due = min(memory.wakeups(), default=None)
            if due is not None and due <= now and (operation.type, memory.subject) != at_work:
                work = DueRun(type_=operation.type, subject=memory.subject, trigger=RunTrigger.SCHEDULE, due=due)
                status = scheduled.record_decision(status, work, cause.decision(message))
    return status


def wakeups(scheduled: Scheduled, status: TableStatus) -> Iterator[datetime]:
    """The ticks and retries of an operation."""
    for memory in scheduled.memories(status):
        yield from memory.wakeups()


def ticks(status: TableStatus) -> Iterator[datetime]:
    """The ticks and retries of all work with a schedule."""
    for _, scheduled in _recurring():
        yield from wakeups(scheduled, status)


def _explained(reason: Reason) -> str:
    """What the reason means, and what ends it."""
    return f"{reason.means} {reason.remedy}"


def _others(context: TableContext, status: TableStatus) -> list[DueRun]:
    """The due work, without that of the active run."""
    at_work = _at_work(status)
    return [work for work in _scheduled(context, status) if (work.type_, work.subject) != at_work]


def _at_work(status: TableStatus) -> tuple[str, str | None] | None:
    """Type and subject of the active run."""
    active = status.active_run
    return None if active is None else (active.type, active.subject)


def _recurring() -> Iterator[tuple[OperationSpec, Scheduled]]:
    for operation in registry.OPERATIONS.recurring:
        if operation.scheduled is not None:
            yield operation, operation.scheduled


def _scheduled(context: TableContext, status: TableStatus) -> Iterator[DueRun]:
    for _, scheduled in _recurring():
        yield from scheduled.due(context, status)


def _requested(observed: TableObserved) -> Iterator[DueRun]:
    for run in observed.runs:
        on_demand, created = registry.OPERATIONS.of(run.spec.type).on_demand, run.metadata.creation_timestamp
        if on_demand is not None and created is not None and _is_waiting(run):
            yield on_demand.requested(run, created)


def _is_waiting(run: PaimonRun) -> bool:
    untouched = run.status.phase in (None, Phase.PENDING) and run.metadata.deletion_timestamp is None
    return run.spec.trigger is None and untouched


def _with_decision(
    context: TableContext, status: TableStatus, works: list[DueRun], cause: Cause, message: str
) -> TableStatus:
    """The status in which `works` wait, with the numbers by which they are needed."""
    for work in works:
        scheduled, need = registry.OPERATIONS.of(work.type_).scheduled, need_of(context, status, work)
        if scheduled is not None:
            checks, seen = ((), None) if need is None else (need.checks, need.observed_at)
            status = scheduled.record_decision(status, work, cause.decision(message, checks, seen))
    return status
