"""What metrics show of an object: its conditions, and figures of a table. Found once per version of the object.

The cache keeps it beside the fields that decisions read. Objects in the same state share their conditions, so a table
takes some hundred bytes here, and a scrape reads no JSON.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from paimon_operator.api.conditions import ConditionStatus, ConditionType
from paimon_operator.api.reasons import Reason
from paimon_operator.core.operations import registry
from paimon_operator.core.ports import Kind, Manifest

OTHER: Final = "Other"
"""Stands for a reason that this release does not know."""
RECURRING: Final = tuple(each for each in registry.OPERATIONS.recurring if each.memory is not None)
"""The operations whose ticks and successes a table's status remembers."""
_FACTS: Final = "paimon-operator.dev/facts"
"""Key of the facts in a listed object of which only a part was kept."""
_POSTPONED: Final = frozenset({Reason.WAITING_FOR_WINDOW, Reason.BUDGET_SPENT})
"""Reasons of due work that waits as configured."""
_TYPES: Final = {each.value: each.value for each in ConditionType}
_STATUSES: Final = {each.value: each.value for each in ConditionStatus}
_REASONS: Final = {each.value: each.value for each in Reason}
"""Each word by itself, so that all objects share one text of it."""


@dataclass(frozen=True, eq=False, slots=True)
class Conditions:
    """Type, status and reason of each condition. Compared and hashed by identity: equal ones are one object."""

    all: tuple[tuple[str, str, str], ...]

    def has(self, *types: ConditionType) -> bool:
        """Whether one of these conditions is True."""
        return any(type_ in types and status == ConditionStatus.TRUE for type_, status, _ in self.all)


@dataclass(frozen=True, slots=True)
class TableFigures:
    """Figures of one table. Times are seconds since 1970."""

    pod_seconds: float
    sorted_runs: int | None
    overdue_since: float | None
    """First tick without an answer that waits for nothing that was configured. None: there is none."""
    skipped_since: float | None
    """The same of schedules whose last tick was skipped as not needed: a process before may have skipped this one too.
    None: there is none."""
    last_successes: array[float]
    """Time of the last success of each of `RECURRING`, NaN without one. An array, to save memory."""


@dataclass(frozen=True, slots=True)
class ObjectFacts:
    """What metrics show of one object."""

    conditions: Conditions
    table: TableFigures | None


def facts_of(kind: Kind, body: Manifest) -> ObjectFacts:
    """The facts of an object, or those in what is kept of it. Values that do not fit their model count as absent."""
    found = body.get(_FACTS)
    if isinstance(found, ObjectFacts):
        return found
    status = _mapping(body.get("status"))
    conditions = _shared(tuple(_conditions(status)))
    return ObjectFacts(conditions, _figures(status, conditions) if kind is Kind.TABLE else None)


def with_facts(kept: Manifest, facts: ObjectFacts) -> Manifest:
    """The kept part of a listed object, with the facts of the whole."""
    return {**kept, _FACTS: facts}


@lru_cache(maxsize=4096)
def _shared(conditions: tuple[tuple[str, str, str], ...]) -> Conditions:
    return Conditions(conditions)


def _conditions(status: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    found = status.get("conditions")
    for condition in found if isinstance(found, list) else ():
        type_, value, reason = (str(_mapping(condition).get(name)) for name in ("type", "status", "reason"))
        if type_ in _TYPES and value in _STATUSES:
            yield _TYPES[type_], _STATUSES[value], _REASONS.get(reason, OTHER)


def _figures(status: Mapping[str, Any], conditions: Conditions) -> TableFigures:
    stopped = conditions.has(ConditionType.SUSPENDED, ConditionType.STALLED)
    memories = [list(_states(status.get(each.memory or ""))) for each in RECURRING]
    states = [state for each in memories for state in each]
    return TableFigures(
        pod_seconds=_number(_mapping(status.get("usage")).get("podSeconds")) or 0,
        sorted_runs=_number(_mapping(status.get("health")).get("sortedRunsMax")),
        overdue_since=None if stopped else _first_tick(states, skipped=False),
        skipped_since=None if stopped else _first_tick(states, skipped=True),
        last_successes=array("d", map(_last_success, memories)),
    )


def _states(memory: object) -> Iterator[Mapping[str, Any]]:
    """The states of all schedules of one operation: those of its writes, or of its strategies."""
    for state in memory if isinstance(memory, list) else [memory]:
        whole = _mapping(state)
        yield whole
        yield from (inner for inner in map(_mapping, whole.values()) if "next" in inner)


def _last_success(states: Iterable[Mapping[str, Any]]) -> float:
    times = (_seconds(state.get("lastTime")) for state in states)
    return max((time for time in times if time is not None), default=math.nan)


def _first_tick(states: Iterable[Mapping[str, Any]], *, skipped: bool) -> float | None:
    """The first tick without an answer, of the schedules whose last one was skipped, or of the others."""
    reasons = ((_mapping(state.get("decision")).get("reason"), _seconds(state.get("next"))) for state in states)
    found = (
        tick
        for reason, tick in reasons
        if tick is not None and reason not in _POSTPONED and (reason == Reason.NOT_NEEDED) is skipped
    )
    return min(found, default=None)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _seconds(value: object) -> float | None:
    try:
        return datetime.fromisoformat(value).timestamp() if isinstance(value, str) else None
    except (ValueError, OverflowError):
        return None
