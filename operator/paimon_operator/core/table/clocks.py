"""Stored ticks and retries that a decision has replaced because they lie in the future: a clock was wrong."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from paimon_operator.api.table.status import TableStatus
from paimon_operator.core import backoff
from paimon_operator.core.decision import EventNote
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.operation import Memory
from paimon_operator.core.trusted_times import clock_differs


def untrusted_ticks(before: TableStatus, after: TableStatus, now: datetime) -> tuple[EventNote, ...]:
    """An Event for each stored tick or retry that a decision has replaced because it lies in the future."""
    known = dict(_memories(after))
    notes = []
    for (type_, subject), memory in _memories(before):
        time = _ahead(memory, known.get((type_, subject)), now)
        if time is not None:
            notes.append(clock_differs(f"{type_} {subject}" if subject else type_, time))
    return tuple(notes)


def _ahead(memory: Memory, after: Memory | None, now: datetime) -> datetime | None:
    """The time in the future that is no longer stored, or that has just started a retry."""
    if after is None:
        return None
    answered, failure = memory.answered, memory.failure
    if answered is not None and backoff.is_ahead(answered, now) and after.answered != answered:
        return answered
    retried = failure is not None and after.failure != failure
    next_try = failure.next_try if failure is not None and retried else None
    return next_try if next_try is not None and next_try - now > backoff.LONGEST else None


def _memories(status: TableStatus) -> Iterator[tuple[tuple[str, str | None], Memory]]:
    for operation in registry.OPERATIONS.operations:
        if operation.scheduled is not None:
            for memory in operation.scheduled.memories(status):
                yield (operation.type, memory.subject), memory
