"""Actions that the API server refused: reported on the object that needs them, retried with a growing delay."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, TypeVar

from paimon_operator.core.backoff import Backoff
from paimon_operator.core.decision import Action, Create, Decision, Refusal
from paimon_operator.core.ports import Clock, Kind
from paimon_operator.runtime.decision_applier import AT_ONCE, RefusedError
from paimon_operator.runtime.keys import Key

StatusT = TypeVar("StatusT")

PAUSES: Final = Backoff(first=timedelta(seconds=5), last=timedelta(minutes=5))
"""Delay before a refused action is tried again: a quota may be raised, a right granted, a name become free."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _What:
    """Identity of one action. A refusal belongs to one action only: another run may well be created."""

    verb: type[Action]
    kind: Kind
    name: str

    @classmethod
    def of_one(cls, action: Action) -> _What:
        return cls(type(action), action.kind, action.name)

    @classmethod
    def of(cls, actions: Iterable[Action]) -> set[_What]:
        return {cls.of_one(action) for action in actions}


@dataclass(frozen=True, kw_only=True)
class _Known:
    """The last refusal of one action, how often in a row it was refused, and when it may be tried again."""

    refusal: Refusal
    uid: str
    count: int
    not_before: datetime


class Refusals:
    """Refused actions for the objects of one kind. Kept in memory: a restart costs one more try each."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[Key, dict[_What, _Known]] = {}

    def of(self, key: Key, uid: str, names: Collection[str | None]) -> Refusal | None:
        """The last refusal about a child of this object with one of these names, unless the action succeeded since."""
        known = [each.refusal for what, each in self._of(key, uid).items() if what.name in names]
        return known[-1] if known else None

    def without_refused(self, key: Key, uid: str, decision: Decision[StatusT]) -> Decision[StatusT] | None:
        """The decision without the actions that must wait after a refusal; None when none has to wait.

        A timer alone would not delay them: the status that reports a refusal is a change, and wakes the object.
        """
        now, asked = self._clock.now(), _What.of(decision.actions)
        refused = self._waiting(key, uid, asked, now)
        if not refused:
            return None
        waiting = refused.keys() | _creates_behind(refused, asked)
        allowed = tuple(action for action in decision.actions if _What.of_one(action) not in waiting)
        return replace(decision, actions=allowed, requeue_after=min(refused.values()) - now)

    def _waiting(self, key: Key, uid: str, asked: set[_What], now: datetime) -> dict[_What, datetime]:
        """What of `asked` was refused and is not due yet, with the time of its next try."""
        refused = self._of(key, uid)
        return {what: each.not_before for what, each in refused.items() if what in asked and now < each.not_before}

    def record(self, key: Key, uid: str, error: RefusedError) -> timedelta:
        """Records the refusal and returns the time until the next try: at once for the first, then growing.

        The next reconcile reports it. Messages are not compared: they contain quota counters and request ids.
        """
        what = _What.of_one(error.action)
        known = dict(self._of(key, uid))
        before = known.pop(what, None)  # the last one goes to the end
        count = before.count if before is not None else 0
        wait = PAUSES.delay(count, uid) if count else AT_ONCE
        refusal = Refusal(reason=error.reason, message=str(error))
        known[what] = _Known(refusal=refusal, uid=uid, count=count + 1, not_before=self._clock.now() + wait)
        self._known[key] = known
        _log.warning("%s %s/%s: %s", key.kind, key.namespace, key.name, error)
        return wait

    def carried_out(self, key: Key, decision: Decision[StatusT], allowed: Decision[StatusT] | None) -> None:
        """Forgets all refusals except those of actions that still wait; nothing else was refused."""
        left = _What.of(decision.actions) - _What.of(allowed.actions) if allowed is not None else set()
        known = {what: each for what, each in self._known.get(key, {}).items() if what in left}
        self.forget(key)
        if known:
            self._known[key] = known

    def forget(self, key: Key) -> None:
        """The object is gone."""
        self._known.pop(key, None)

    def _of(self, key: Key, uid: str) -> Mapping[_What, _Known]:
        return {what: each for what, each in self._known.get(key, {}).items() if each.uid == uid}


def _creates_behind(refused: Collection[_What], asked: set[_What]) -> set[_What]:
    """All creates of a decision wait if one of them was refused: a Pod cannot start without its ConfigMap."""
    if not any(what.verb is Create for what in refused):
        return set()
    return {what for what in asked if what.verb is Create}
