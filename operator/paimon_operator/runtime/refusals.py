"""What the API server refuses to create: shown on the object that needs it, and tried again ever more rarely."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, TypeVar

from paimon_operator.api.reasons import Reason
from paimon_operator.core.backoff import Backoff
from paimon_operator.core.decision import Create, Decision
from paimon_operator.core.observed import Refusal
from paimon_operator.core.ports import Clock
from paimon_operator.runtime.execute import AT_ONCE
from paimon_operator.runtime.keys import Key

StatusT = TypeVar("StatusT")

PAUSES: Final = Backoff(first=timedelta(seconds=5), last=timedelta(minutes=5))
"""A quota may be raised, a right may be given, a name may become free."""
_log = logging.getLogger(__name__)


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
        self._known: dict[Key, _Known] = {}

    def of(self, key: Key, uid: str) -> Refusal | None:
        """What was refused to this very object last, if nothing was made for it since."""
        known = self._known.get(key)
        return known.refusal if known is not None and known.uid == uid else None

    def held_back(self, key: Key, uid: str, decision: Decision[StatusT]) -> Decision[StatusT] | None:
        """The decision without what was refused a moment ago; None when nothing has to wait.

        A timer alone would not hold it back: the status that shows a refusal is a change, and wakes the object.
        """
        known, now = self._known.get(key), self._clock.now()
        others = tuple(action for action in decision.actions if not isinstance(action, Create))
        if known is None or known.uid != uid or now >= known.not_before or others == decision.actions:
            return None
        return replace(decision, actions=others, requeue_after=known.not_before - now)

    def noted(self, key: Key, uid: str, reason: Reason, message: str) -> timedelta:
        """Remembers the refusal for the next look, which shows it; after that it is tried ever more rarely.

        Whatever the message says: quotas count in it, and admission webhooks put request ids there.
        """
        known = self._known.get(key)
        count = known.count if known is not None and known.uid == uid else 0
        wait = PAUSES.delay(count, uid) if count else AT_ONCE
        refusal = Refusal(reason=reason, message=message)
        self._known[key] = _Known(refusal=refusal, uid=uid, count=count + 1, not_before=self._clock.now() + wait)
        _log.warning("%s %s/%s: %s", key.kind, key.namespace, key.name, message)
        return wait

    def forget(self, key: Key) -> None:
        """Nothing is refused any more, or the object is gone."""
        self._known.pop(key, None)
