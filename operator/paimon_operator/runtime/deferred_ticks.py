"""Ticks that a process has skipped without storing them, per table: what brings a stored status up to date.

Every version of the object that the cache gets is given them, also one that somebody else has changed: an edit or a
late event starts no run for a tick that was skipped.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from paimon_operator.api.reasons import Reason
from paimon_operator.core.ports import Manifest
from paimon_operator.runtime.keys import Key

Place = tuple[str, ...]
"""Fields of the status that lead to the state of a schedule."""


class _Tick(NamedTuple):
    """The last tick that was skipped, as in the status."""

    schedule: str
    last_due: str
    next: str


class DeferredTicks:
    """The skipped ticks of each table whose status does not have them."""

    def __init__(self) -> None:
        self._ticks: dict[Key, tuple[str, Mapping[Place, _Tick]]] = {}
        """With the table's UID."""

    def note(self, key: Key, body: Manifest) -> None:
        """Remembers the ticks in the status of `body`, which is not stored."""
        self._ticks[key] = str(body["metadata"].get("uid", "")), dict(_ticks(_mapping(body.get("status")), ()))

    def forget(self, key: Key) -> None:
        """The table is gone."""
        self._ticks.pop(key, None)

    def has(self, key: Key) -> bool:
        """Whether any is remembered."""
        return key in self._ticks

    def added_to(self, key: Key, body: Manifest) -> Manifest:
        """The body with the ticks that its status does not have. They are forgotten once it has them all."""
        uid, ticks = self._ticks.get(key, ("", {}))
        if not ticks:
            return body
        status = _mapping(body.get("status"))
        found = status if uid != body["metadata"].get("uid") else _with(status, (), ticks)
        if found is status:
            self.forget(key)
            return body
        return {**body, "status": found}


def _ticks(state: Mapping[str, Any], place: Place) -> Any:
    """Place and tick of each state within that was skipped as not needed."""
    if _is_skipped(state) and {"schedule", "lastDue", "next"} <= state.keys():
        yield place, _Tick(state["schedule"], state["lastDue"], state["next"])
    for name, inner in state.items():
        if isinstance(inner, Mapping):
            yield from _ticks(inner, (*place, name))


def _with(state: Mapping[str, Any], place: Place, ticks: Mapping[Place, _Tick]) -> Mapping[str, Any]:
    """The state with the ticks of the states within; itself if it has them."""
    tick = ticks.get(place)
    if tick is not None and _is_skipped(state) and state.get("schedule") == tick.schedule:
        is_newer = str(state.get("lastDue", "")) < tick.last_due
        return {**state, "lastDue": tick.last_due, "next": tick.next} if is_newer else state
    inner = {name: value for name, value in state.items() if isinstance(value, Mapping)}
    found = {name: _with(value, (*place, name), ticks) for name, value in inner.items()}
    changed = {name: value for name, value in found.items() if value is not inner[name]}
    if not changed:
        return state
    return {**state, **changed, **(_summary(found) if place else {})}


def _summary(parts: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The ticks of a state that sums up those within: the newest answered one, and the first one ahead."""
    last_due = [part["lastDue"] for part in parts.values() if "lastDue" in part]
    ahead = [part["next"] for part in parts.values() if "next" in part]
    return {"lastDue": max(last_due), **({"next": min(ahead)} if ahead else {})}


def _is_skipped(state: Mapping[str, Any]) -> bool:
    return _mapping(state.get("decision")).get("reason") == Reason.NOT_NEEDED


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
