"""Stored times of the past that lie in the future: a clock was wrong. They count as now, and an Event reports them."""

from __future__ import annotations

from datetime import datetime
from typing import Final, TypeVar

from pydantic import BaseModel

from paimon_operator.api.base import rfc3339, to_the_second
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import OutsideCommit
from paimon_operator.core import backoff
from paimon_operator.core.decision import EventNote

ModelT = TypeVar("ModelT", bound=BaseModel)
_PAST: Final = frozenset(
    {
        "changed_at",
        "completion_time",
        "last_time",
        "launched",
        "lost_at",
        "observed_at",
        "observed_time",
        "pending_since",
        "since",
        "start_time",
        "time",
    }
)
"""Fields of a status with the time of something that has happened, by the operator's clock.

Ticks and retries are compared where they count. `started` and `finished` of an attempt are times of the Pod's node.
"""


def with_trusted_times(status: ModelT, now: datetime) -> tuple[ModelT, tuple[EventNote, ...]]:
    """The status with its past times not after now, and an Event for the first one that a wrong clock has stored."""
    found: list[tuple[str, datetime]] = []
    trusted = _trusted(status, "status", to_the_second(now), found)
    return trusted, tuple(clock_differs(path, time) for path, time in found[:1])


def clock_differs(what: str, time: datetime) -> EventNote:
    """The Event that reports the stored time of `what`."""
    note = f"{what}: the stored time {rfc3339(time)} lies in the future and counts as now"
    return EventNote(type_="Warning", reason=Reason.CLOCK_DIFFERS, note=note)


def _trusted(model: ModelT, path: str, now: datetime, found: list[tuple[str, datetime]]) -> ModelT:
    """The model with `now` in place of each past time that lies in the future, which it adds to `found`."""
    update: dict[str, object] = {}
    before = len(found)
    for name, value in model.__dict__.items():
        if isinstance(value, BaseModel | tuple):
            update[name] = _trusted_part(value, _path(model, path, name), now, found)
        elif name in _PAST and isinstance(value, datetime) and backoff.is_ahead(value, now):
            update[name] = now
            found.append((_path(model, path, name), value))
    return model if len(found) == before else model.model_copy(update=update)


def _trusted_part(
    part: BaseModel | tuple[object, ...], path: str, now: datetime, found: list[tuple[str, datetime]]
) -> object:
    if isinstance(part, OutsideCommit):
        return part  # its time is by the clock of the foreign writer, and nothing is compared with it
    if isinstance(part, BaseModel):
        return _trusted(part, path, now, found)
    return tuple(_trusted(each, path, now, found) if isinstance(each, BaseModel) else each for each in part)


def _path(model: BaseModel, path: str, name: str) -> str:
    return f"{path}.{type(model).model_fields[name].alias or name}"
