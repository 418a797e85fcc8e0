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
from paimon_operator.api.table.status import Decision, DecisionResult, TableStatus
from paimon_operator.core.operations import OPERATIONS, SCHEDULED
from paimon_operator.core.operations.base import Work
from paimon_operator.core.operations.schema.provision import memory
from paimon_operator.core.spec.context import Look
from paimon_operator.core.table.observed import TableObserved

BELIEVED_EMPTY: Final = timedelta(days=1)
"""How long a table that was found without a snapshot is taken to be without one."""


def next_work(look: Look, observed: TableObserved, status: TableStatus) -> Work | None:
    """The work that has waited longest. Ties go by the order of the list: scheduled work, users' runs.

    Maintenance goes on while the table differs from the manifest, because it is this object's table all the same;
    writes wait, because they go by the manifest. While nobody knows whether it still is, all of them wait.
    """
    if memory(status).hash is None:
        return None
    works = [*_scheduled(look, status), *_asked_for(observed)]
    if memory(status).hash != look.wanted_hash:
        works = [work for work in works if work.type_ is not RunType.WRITE]
    return min(works, key=lambda work: work.due, default=None)


def spared(look: Look, status: TableStatus) -> TableStatus:
    """Upkeep of a table that nothing was written to yet: its ticks are answered without a run.

    Upkeep that has failed goes on all the same, or it would be called failing for ever.
    """
    seen = status.health.observed_at if status.health else None
    if memory(status).hash is None or seen is None or not _is_empty(look, status, seen):
        return status
    message = f"nothing was written to the table yet: it had no snapshot at {rfc3339(seen)}"
    decision = Decision(result=DecisionResult.SKIPPED, reason=Reason.NOT_NEEDED, message=message)
    failing = {(each.type_, subject) for each in SCHEDULED for subject, _ in each.failures(status)}
    for work in list(_scheduled(look, status)):
        if work.type_ is not RunType.WRITE and (work.type_, work.subject) not in failing:
            operation = OPERATIONS[work.type_]
            status = operation.outlook(look, operation.noted(status, work, decision))
    return status


def _is_empty(look: Look, status: TableStatus, seen: datetime) -> bool:
    """Whether the table has no snapshot: the last run saw none, and since then nobody else may have written.

    A measure from before the end of outside writing (CommitSafe turned True then) says nothing, and no measure says it
    for long: only a run finds a writer whom nobody announced.
    """
    if status.table is None or status.table.snapshot_id is not None or look.now - seen >= BELIEVED_EMPTY:
        return False
    if status.outside_writers is not None and status.outside_writers.seen_snapshot:
        return False  # a run that had nothing to load saw a snapshot and did not measure
    safe = find(look.table.status.conditions, ConditionType.COMMIT_SAFE)
    if safe is None or safe.status is not ConditionStatus.TRUE or safe.last_transition_time > seen:
        return False
    return look.spec.external_writers is not ExternalWriters.ACTIVE


def held_writes(look: Look, status: TableStatus) -> TableStatus:
    """Writes that are due and wait for the table say so; all work does until the table is verified."""
    state = memory(status)
    if state.hash == look.wanted_hash:
        return status
    differs = state.failure is not None and state.failure.reason == Reason.TABLE_DIFFERS
    reason = Reason.TABLE_DIFFERS if differs else Reason.TABLE_NOT_READY
    works = [work for work in _others(look, status) if work.type_ is RunType.WRITE or state.hash is None]
    return _noted(status, works, reason, reason.means)


def waiting(look: Look, status: TableStatus, reason: Reason) -> TableStatus:
    """All that is due waits for the same reason; what the active run does is not waiting for itself."""
    message = reason.means
    if reason is Reason.ANOTHER_RUN_IS_ACTIVE and status.active_run is not None:
        message = f"it is due, and waits until run {status.active_run.name} has ended"
    return _noted(status, _others(look, status), reason, message)


def _others(look: Look, status: TableStatus) -> list[Work]:
    """What is due, but for the work of the active run."""
    active = status.active_run
    at_work = None if active is None else (active.type, active.subject)
    return [work for work in _scheduled(look, status) if (work.type_, work.subject) != at_work]


def _scheduled(look: Look, status: TableStatus) -> Iterator[Work]:
    for operation in SCHEDULED:
        yield from operation.due(look, status)


def _asked_for(observed: TableObserved) -> Iterator[Work]:
    for run in observed.runs:
        if _is_waiting(run):
            created = run.metadata.creation_timestamp
            if created is not None:
                yield _of_a_user(run, created)


def _of_a_user(run: PaimonRun, created: datetime) -> Work:
    compact = run.spec.compact
    return Work(
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


def _noted(status: TableStatus, works: list[Work], reason: Reason, message: str) -> TableStatus:
    decision = Decision(result=DecisionResult.WAITING, reason=reason, message=message)
    for work in works:
        status = OPERATIONS[work.type_].noted(status, work, decision)
    return status
