"""What the API server refuses to do: shown on the object that needs it, and tried again ever more rarely."""

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
"""A quota may be raised, a right may be given, a name may become free."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _What:
    """One thing to be done for an object: that the last run could not be made is no news of the next one."""

    verb: type[Action]
    kind: Kind
    name: str

    @classmethod
    def of(cls, actions: Iterable[Action]) -> set[_What]:
        return {cls(type(action), action.kind, action.name) for action in actions}


@dataclass(frozen=True, kw_only=True)
class _Known:
    """The last refusal, how often in a row, and how long to wait."""

    refusal: Refusal
    uid: str
    count: int
    not_before: datetime


class Refusals:
    """Of the objects of one kind. Lost with the process, which costs one more try."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[Key, dict[_What, _Known]] = {}

    def of(self, key: Key, uid: str, names: Collection[str | None]) -> Refusal | None:
        """What was refused to this very object last about a child of one of these names, if it was not done since."""
        known = [each.refusal for what, each in self._of(key, uid).items() if what.name in names]
        return known[-1] if known else None

    def held_back(self, key: Key, uid: str, decision: Decision[StatusT]) -> Decision[StatusT] | None:
        """The decision without what was refused a moment ago; None when nothing has to wait.

        A timer alone would not hold it back: the status that shows a refusal is a change, and wakes the object.
        """
        now, asked = self._clock.now(), _What.of(decision.actions)
        waiting = {what: each.not_before for what, each in self._of(key, uid).items() if now < each.not_before}
        waiting = {what: waiting[what] for what in waiting.keys() & asked}
        if not waiting:
            return None
        if any(what.verb is Create for what in waiting):  # a Pod is of no use without its ConfigMap
            waiting |= {what: min(waiting.values()) for what in asked - waiting.keys() if what.verb is Create}
        others = tuple(action for action in decision.actions if not _What.of([action]) & waiting.keys())
        return replace(decision, actions=others, requeue_after=min(waiting.values()) - now)

    def noted(self, key: Key, uid: str, error: RefusedError) -> timedelta:
        """Remembers the refusal for the next look, which shows it; after that it is tried ever more rarely.

        Whatever the message says: quotas count in it, and admission webhooks put request ids there.
        """
        (what,) = _What.of([error.action])
        known = dict(self._of(key, uid))
        before = known.pop(what, None)  # the last one goes to the end
        count = before.count if before is not None else 0
        wait = PAUSES.delay(count, uid) if count else AT_ONCE
        refusal = Refusal(reason=error.reason, message=str(error))
        known[what] = _Known(refusal=refusal, uid=uid, count=count + 1, not_before=self._clock.now() + wait)
        self._known[key] = known
        _log.warning("%s %s/%s: %s", key.kind, key.namespace, key.name, error)
        return wait

    def carried_out(self, key: Key, decision: Decision[StatusT], held_back: Decision[StatusT] | None) -> None:
        """Nothing was refused: only what was held back is still to be done."""
        left = _What.of(decision.actions) - _What.of(held_back.actions) if held_back is not None else set()
        known = {what: each for what, each in self._known.get(key, {}).items() if what in left}
        self.forget(key)
        if known:
            self._known[key] = known

    def forget(self, key: Key) -> None:
        """The object is gone."""
        self._known.pop(key, None)

    def _of(self, key: Key, uid: str) -> Mapping[_What, _Known]:
        return {what: each for what, each in self._known.get(key, {}).items() if each.uid == uid}
