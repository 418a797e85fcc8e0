"""What of the scheduled work, and of what users asked for, comes next; and what stands in the way of the rest."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from paimon_operator.api.base import rfc3339
from paimon_operator.api.conditions import ConditionStatus, ConditionType, find
from paimon_operator.api.policies import ExternalWriters
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import ON_DEMAND, PaimonRun
from paimon_operator.api.run.status import Phase, RunTrigger, RunType
from paimon_operator.api.table.status import DecisionResult, LastDecision, TableStatus
from paimon_operator.core.operations import OPERATIONS, SCHEDULED
from paimon_operator.core.operations.base import DueRun
from paimon_operator.core.operations.schema.provision import state_of
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.table.observed import TableObserved

BELIEVED_EMPTY: Final = timedelta(days=1)
"""How long a table that was found without a snapshot is taken to be without one."""


def next_work(context: TableContext, observed: TableObserved, status: TableStatus) -> DueRun | None:
    """The work that has waited longest. Ties go by the order of the list: scheduled work, users' runs.

    Maintenance goes on while the table differs from the manifest, because it is this object's table all the same;
    writes wait, because they go by the manifest. While nobody knows whether it still is, all of them wait.
    """
    if state_of(status).hash is None:
        return None
    works = [*_scheduled(context, status), *_asked_for(observed)]
    if state_of(status).hash != context.wanted_hash:
        works = [work for work in works if work.type_ is not RunType.WRITE]
    return min(works, key=lambda work: work.due, default=None)


def skip_empty_table(context: TableContext, status: TableStatus) -> TableStatus:
    """Upkeep of a table that nothing was written to yet: its ticks are answered without a run.

    Upkeep that has failed goes on all the same, or it would be called failing for ever.
    """
    seen = status.health.observed_at if status.health else None
    if state_of(status).hash is None or seen is None or not _is_empty(context, status, seen):
        return status
    message = f"nothing was written to the table yet: it had no snapshot at {rfc3339(seen)}"
    decision = LastDecision(result=DecisionResult.SKIPPED, reason=Reason.NOT_NEEDED, message=message)
    failing = {(each.type_, subject) for each in SCHEDULED for subject, _ in each.failures(status)}
    for work in list(_scheduled(context, status)):
        if work.type_ is not RunType.WRITE and (work.type_, work.subject) not in failing:
            operation = OPERATIONS[work.type_]
            status = operation.outlook(context, operation.noted(status, work, decision))
    return status


def _is_empty(context: TableContext, status: TableStatus, seen: datetime) -> bool:
    """Whether the table has no snapshot: the last run saw none, and since then nobody else may have written.

    A measure from before the end of outside writing (CommitSafe turned True then) says nothing, and no measure says it
    for long: only a run finds a writer whom nobody announced.
    """
    if status.table is None or status.table.snapshot_id is not None or context.now - seen >= BELIEVED_EMPTY:
        return False
    if status.outside_writers is not None and status.outside_writers.seen_snapshot:
        return False  # a run that had nothing to load saw a snapshot and did not measure
    safe = find(context.table.status.conditions, ConditionType.COMMIT_SAFE)
    if safe is None or safe.status is not ConditionStatus.TRUE or safe.last_transition_time > seen:
        return False
    return context.spec.external_writers is not ExternalWriters.ACTIVE


def mark_blocked_writes(context: TableContext, status: TableStatus) -> TableStatus:
    """Writes that are due and wait for the table say so; all work does until the table is verified."""
    state = state_of(status)
    if state.hash == context.wanted_hash:
        return status
    differs = state.failure is not None and state.failure.reason == Reason.TABLE_DIFFERS
    reason = Reason.TABLE_DIFFERS if differs else Reason.TABLE_NOT_READY
    works = [work for work in _others(context, status) if work.type_ is RunType.WRITE or state.hash is None]
    return _noted(status, works, reason, reason.means)


def waiting(context: TableContext, status: TableStatus, reason: Reason) -> TableStatus:
    """All that is due waits for the same reason; what the active run does is not waiting for itself."""
    message = reason.means
    if reason is Reason.ANOTHER_RUN_IS_ACTIVE and status.active_run is not None:
        message = f"it is due, and waits until run {status.active_run.name} has ended"
    return _noted(status, _others(context, status), reason, message)


def _others(context: TableContext, status: TableStatus) -> list[DueRun]:
    """What is due, but for the work of the active run."""
    active = status.active_run
    at_work = None if active is None else (active.type, active.subject)
    return [work for work in _scheduled(context, status) if (work.type_, work.subject) != at_work]


def _scheduled(context: TableContext, status: TableStatus) -> Iterator[DueRun]:
    for operation in SCHEDULED:
        yield from operation.due(context, status)


def _asked_for(observed: TableObserved) -> Iterator[DueRun]:
    for run in observed.runs:
        if _is_waiting(run):
            created = run.metadata.creation_timestamp
            if created is not None:
                yield _of_a_user(run, created)


def _of_a_user(run: PaimonRun, created: datetime) -> DueRun:
    compact = run.spec.compact
    return DueRun(
        type_=run.spec.type,
        subject=compact.strategy.value if compact else None,
        partial=compact is not None and compact.partitions is not None,
        trigger=RunTrigger.USER,
        due=created,
        run=run,
    )


def _is_waiting(run: PaimonRun) -> bool:
    made_by_user = run.spec.trigger is None and run.spec.type in ON_DEMAND
    untouched = run.status.phase in (None, Phase.PENDING) and run.metadata.deletion_timestamp is None
    return made_by_user and untouched


def _noted(status: TableStatus, works: list[DueRun], reason: Reason, message: str) -> TableStatus:
    decision = LastDecision(result=DecisionResult.WAITING, reason=reason, message=message)
    for work in works:
        status = OPERATIONS[work.type_].noted(status, work, decision)
    return status
