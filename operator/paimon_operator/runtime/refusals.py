"""Requests that the API server rejected: reported on the object that needs them, and retried with backoff."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, TypeVar

from paimon_operator.core.backoff import Backoff
from paimon_operator.core.decision import Action, Create, Decision, Refusal
from paimon_operator.core.ports import Clock, Kind
from paimon_operator.runtime.adoption import RefusedError
from paimon_operator.runtime.decision_applier import AT_ONCE
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.logs import fields

StatusT = TypeVar("StatusT")

PAUSES: Final = Backoff(first=timedelta(seconds=5), last=timedelta(minutes=5))
"""A quota may be raised, a right may be given, a name may become free."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _ActionKey:
    """Identity of one action. A refusal of one run says nothing about the next run."""

    verb: type[Action]
    kind: Kind
    name: str

    @classmethod
    def of_one(cls, action: Action) -> _ActionKey:
        return cls(type(action), action.kind, action.name)

    @classmethod
    def of(cls, actions: Iterable[Action]) -> set[_ActionKey]:
        return {cls.of_one(action) for action in actions}


@dataclass(frozen=True, kw_only=True)
class _KnownRefusal:
    """Last refusal of an action, the number of consecutive refusals, and the time of the next attempt."""

    refusal: Refusal
    uid: str
    count: int
    not_before: datetime


class Refusals:
    """Refusals for the objects of one kind. They are in memory only: a restart costs one more attempt."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[Key, dict[_ActionKey, _KnownRefusal]] = {}

    def of(self, key: Key, uid: str, names: Collection[str | None]) -> Refusal | None:
        """Last refusal for this object that concerns a child of one of these names and is not resolved."""
        known = [each.refusal for what, each in self._of(key, uid).items() if what.name in names]
        return known[-1] if known else None

    def without_refused(self, key: Key, uid: str, decision: Decision[StatusT]) -> Decision[StatusT] | None:
        """The decision without recently refused actions; None if no action has to wait.

        A timer alone is not enough: the status that reports a refusal is a change and enqueues the object.
        """
        now, asked = self._clock.now(), _ActionKey.of(decision.actions)
        refused = self._waiting(key, uid, asked, now)
        if not refused:
            return None
        postponed = refused.keys() | _creates_behind(refused, asked)
        allowed = tuple(action for action in decision.actions if _ActionKey.of_one(action) not in postponed)
        return replace(decision, actions=allowed, requeue_after=min(refused.values()) - now)

    def _waiting(self, key: Key, uid: str, asked: set[_ActionKey], now: datetime) -> dict[_ActionKey, datetime]:
        """The actions of `asked` that were refused and must wait, each with the time of its next attempt."""
        refused = self._of(key, uid)
        return {what: each.not_before for what, each in refused.items() if what in asked and now < each.not_before}

    def record(self, key: Key, uid: str, error: RefusedError) -> timedelta:
        """Records the refusal and returns when to reconcile again: at once to report it, then with backoff.

        The message does not matter: quotas put counters into it, and admission webhooks put request ids into it.
        """
        what = _ActionKey.of_one(error.action)
        known = dict(self._of(key, uid))
        before = known.pop(what, None)  # the newest refusal is the last entry
        count = before.count if before is not None else 0
        wait = PAUSES.delay(count, uid) if count else AT_ONCE
        refusal = Refusal(reason=error.reason, message=str(error))
        known[what] = _KnownRefusal(refusal=refusal, uid=uid, count=count + 1, not_before=self._clock.now() + wait)
        self._known[key] = known
        _log.warning("%s: %s", key, error, extra=fields(*key))
        return wait

    def record_done(self, key: Key, decision: Decision[StatusT], reduced: Decision[StatusT] | None) -> None:
        """Records that nothing was rejected: only the postponed actions remain."""
        left = _ActionKey.of(decision.actions) - _ActionKey.of(reduced.actions) if reduced is not None else set()
        known = {what: each for what, each in self._known.get(key, {}).items() if what in left}
        self.forget(key)
        if known:
            self._known[key] = known

    def forget(self, key: Key) -> None:
        """The object is gone."""
        self._known.pop(key, None)

    def _of(self, key: Key, uid: str) -> Mapping[_ActionKey, _KnownRefusal]:
        return {what: each for what, each in self._known.get(key, {}).items() if each.uid == uid}


def _creates_behind(refused: Collection[_ActionKey], asked: set[_ActionKey]) -> set[_ActionKey]:
    """The creates of `asked`, if one of them was rejected: a Pod cannot start without what is created before it."""
    if not any(what.verb is Create for what in refused):
        return set()
    return {what for what in asked if what.verb is Create}
