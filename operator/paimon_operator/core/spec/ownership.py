"""What proves that a PaimonTable owns its physical table, as `status.ownership` records it.

A run that establishes the table reads, or writes, the owner mark in the table itself. Its success is the proof.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from paimon_operator.api.table.ownership import Ownership
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.spec.capabilities import ever_ready
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.place import place_of
from paimon_operator.core.spec.table_head import AnyTableStatus

RECREATE: Final = "paimon-operator.dev/recreate"
"""Annotation with metadata.generation: a table that is missing is recreated, once."""


def has_existed(status: TableStatus) -> bool:
    """Whether a run has ever seen the table, at this place or at another one."""
    return status.ownership is not None or ever_ready(status)


def has_proof(status: AnyTableStatus) -> bool:
    """Whether a run has read the owner mark, at any place, and none has read the mark of another owner since."""
    if status.ownership is not None:
        return status.ownership.lost_at is None
    return status.provision is not None and status.provision.last_time is not None


def proven_since(status: AnyTableStatus, place: str) -> datetime | None:
    """When a run proved that the object owns the table at `place`; None without such a run.

    Release 0.1 stored no place: what it verified counts at the present one.
    """
    owned = status.ownership
    if owned is not None:
        return owned.since if owned.place == place and owned.lost_at is None else None
    return status.provision.last_time if status.provision is not None else None


def was_moved(context: TableContext, status: TableStatus) -> bool:
    """Whether there is no proof any more: it belongs to another place, or another owner has taken the table over."""
    return has_existed(status) and proven_since(status, place_of(context.table, context.catalog)) is None


def with_known_place(context: TableContext, status: TableStatus) -> TableStatus:
    """The status of release 0.1 with the present place; every other status as it is."""
    if status.ownership is not None or status.provision is None or status.provision.last_time is None:
        return status
    since = status.provision.last_time
    known = Ownership(place=place_of(context.table, context.catalog), since=since)
    return status.model_copy(update={"ownership": known})


def with_proof(status: TableStatus, place: str | None, at: datetime) -> TableStatus:
    """The status after a run at `place` has read the owner mark. The first one at a place counts, until it is lost."""
    before = status.ownership
    if place is None or (before is not None and before.place == place and before.lost_at is None):
        return status
    recreated = None if before is None else before.recreated
    return status.model_copy(update={"ownership": Ownership(place=place, since=at, recreated=recreated)})


def without_proof(status: TableStatus, at: datetime) -> TableStatus:
    """The status after a run has read the mark of another owner. That the table has existed stays recorded."""
    lost = status.ownership is not None and status.ownership.lost_at is not None
    return status if lost else _with_ownership(status, lost_at=at)


def recreation_wanted(context: TableContext, status: TableStatus) -> int | None:
    """The generation for which the missing table is to be recreated; None when nobody asks, or it was done."""
    generation, owned = context.table.metadata.generation, status.ownership
    asked = context.table.metadata.annotations.get(RECREATE) == str(generation)
    return generation if asked and owned is not None and owned.recreated != generation else None


def with_recreation(status: TableStatus, run: str) -> TableStatus:
    """The status of a table that `run` is about to recreate. The first run of a recreation counts."""
    owned = status.ownership
    return status if owned is None or owned.recreating is not None else _with_ownership(status, recreating=run)


def with_answer(status: TableStatus, generation: int | None) -> TableStatus:
    """The status that remembers the generation for which the annotation was answered; None changes nothing."""
    return status if generation is None else _with_ownership(status, recreated=generation)


def without_recreation(status: TableStatus) -> TableStatus:
    """The status once it is known whether a run has recreated the table."""
    return _with_ownership(status, recreating=None)


def without_annotation(context: TableContext, status: TableStatus) -> TableStatus:
    """The status that forgets the answer once the annotation was removed: with the same value it then counts again."""
    return status if RECREATE in context.table.metadata.annotations else _with_ownership(status, recreated=None)


def _with_ownership(status: TableStatus, **values: object) -> TableStatus:
    owned = status.ownership
    return status if owned is None else status.model_copy(update={"ownership": owned.model_copy(update=values)})


def last_observed(status: TableStatus) -> datetime | None:
    """When a run last saw the table; None for a table that no run has seen."""
    if not has_existed(status):
        return None
    seen = (
        status.health.observed_at if status.health else None,
        status.provision.last_time if status.provision else None,
        status.ownership.since if status.ownership else None,
    )
    return max((each for each in seen if each is not None), default=None)
