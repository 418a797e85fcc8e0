"""Stored times that lie in the future: a clock was wrong. They count as now, and an Event reports them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final, TypeVar

from pydantic import BaseModel

from paimon_operator.api.base import rfc3339, to_the_second
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core import backoff
from paimon_operator.core.decision import EventNote
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.operation import Memory

ModelT = TypeVar("ModelT", bound=BaseModel)
_PAST: Final = frozenset({"since", "lost_at", "observed_at", "last_time", "time", "pending_since"})
"""Fields of a status with the time of something that has happened. Ticks and retries are compared where they count."""


def with_trusted_times(table: PaimonTable, now: datetime) -> tuple[PaimonTable, tuple[EventNote, ...]]:
    """The table with its past times not after now, and an Event for the first one that a wrong clock has stored."""
    found: list[tuple[str, datetime]] = []
    status = _trusted(table.status, "status", to_the_second(now), found)
    notes = tuple(
        EventNote(type_="Warning", reason=Reason.CLOCK_DIFFERS, note=_note(path, time)) for path, time in found[:1]
    )
    return (table.model_copy(update={"status": status}), notes) if found else (table, ())


def _trusted(model: ModelT, path: str, now: datetime, found: list[tuple[str, datetime]]) -> ModelT:
    """The model with `now` in place of each past time that lies in the future, which it adds to `found`."""
    update: dict[str, object] = {}
    before = len(found)
    for name, info in type(model).model_fields.items():
        value, field = getattr(model, name), f"{path}.{info.alias or name}"
        if isinstance(value, BaseModel):
            update[name] = _trusted(value, field, now, found)
        elif isinstance(value, tuple):
            update[name] = tuple(_trusted(e, field, now, found) if isinstance(e, BaseModel) else e for e in value)
        elif name in _PAST and isinstance(value, datetime) and backoff.is_ahead(value, now):
            update[name] = now
            found.append((field, value))
    return model if len(found) == before else model.model_copy(update=update)


def _note(what: str, time: datetime) -> str:
    return f"{what}: the stored time {rfc3339(time)} lies in the future and counts as now"


def untrusted_ticks(before: TableStatus, after: TableStatus, now: datetime) -> tuple[EventNote, ...]:
    """An Event for each stored tick or retry that a decision has replaced because it lies in the future."""
    known = dict(_memories(after))
    notes = []
    for (type_, subject), memory in _memories(before):
        time = _ahead(memory, known.get((type_, subject)), now)
        if time is not None:
            what = f"{type_} {subject}" if subject else type_
            notes.append(EventNote(type_="Warning", reason=Reason.CLOCK_DIFFERS, note=_note(what, time)))
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
