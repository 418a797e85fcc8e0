"""Reports a bug that stopped a reconcile in the conditions of the object, which would otherwise keep its last state.

A Pod has no condition of the operator, and the next reconcile of its run would overwrite one there: it gets an Event.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from paimon_operator.api.conditions import Condition, ConditionStatus, ConditionType, find
from paimon_operator.api.reasons import Reason
from paimon_operator.core.conditions import GOOD_WHEN_TRUE, ConditionReport, report, stalled, unknown
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.core.run.completion import ENDED
from paimon_operator.errors import KubernetesError
from paimon_operator.runtime.cache import KEPT
from paimon_operator.runtime.dependencies import Dependencies
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.logs import fields
from paimon_operator.runtime.unreadable import readable_conditions

_VERIFIED: Final = "verifiedGeneration"
_OWN_CODE: Final = "/paimon_"
"""Part of the path of every file of the operator's packages."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class BugReports:
    """Reports bugs. `on_bug(kind)` is called for each bug that was caught."""

    dependencies: Dependencies
    on_bug: Callable[[Kind], None]

    async def record(self, key: Key, error: Exception) -> None:
        """Reports `error` on the object of `key`. Never raises: the reconcile is retried, and with it the report."""
        self.on_bug(key.kind)
        try:
            await (self._store(key, error) if key.kind in KEPT else self._announce(key, error))
        except KubernetesError as refused:
            _log.warning("%s: the bug cannot be reported on the object now: %s", key, refused, extra=fields(*key))
        except Exception:  # noqa: BLE001  the worker logs the first bug, and retries
            _log.exception("%s: the bug cannot be reported on the object", key, extra=fields(*key))

    async def _store(self, key: Key, error: Exception) -> None:
        world = self.dependencies
        if key.kind is Kind.TABLE:
            world.router.on_not_stored(key)
        body = await world.store.get(key.kind, key.namespace, key.name)
        if body is None or _is_final(key.kind, body):
            return
        reported = bug_report(key, body, error, world.clock.now())
        stored: Mapping[str, Any] = body.get("status") or {}
        # Not observedGeneration: an edit that met a bug was not handled. The next reconcile must see that it is new.
        status = {
            **_with_verified(key.kind, stored),
            "conditions": [condition.to_json() for condition in reported.conditions],
        }
        if status == stored:
            return
        changed = await world.store.apply_status(key.kind, body, status)
        world.router.on_stored(key.kind, changed)
        for note in reported.events:
            await world.events.post(changed, type_=note.type_, reason=note.reason, note=note.note)

    async def _announce(self, key: Key, error: Exception) -> None:
        """Posts an Event for an object whose status is not the operator's. A repetition counts the Event up."""
        world = self.dependencies
        body = await world.reads.own(key, live=False)
        if body is not None:
            message = _message(key, error)
            await world.events.post(body, type_="Warning", reason=Reason.INTERNAL_ERROR, note=message)


def bug_report(key: Key, body: Manifest, error: Exception, now: datetime) -> ConditionReport:
    """The conditions of an object whose reconcile raised `error`, and the Events for them."""
    message = _message(key, error)
    type_ = ConditionType.SUCCEEDED if key.kind is Kind.RUN else ConditionType.READY
    before = readable_conditions(body.get("status") or {})
    claims = {condition.type for condition in before if _claims_order(condition)} - {type_}
    found = (
        unknown(type_, Reason.INTERNAL_ERROR, message),
        *(unknown(claim, Reason.INTERNAL_ERROR, message) for claim in claims),
        *stalled(Reason.INTERNAL_ERROR, message),
    )
    reported = report(before, found, generation=body["metadata"].get("generation", 0), now=now)
    replaced = {finding.type_ for finding in found}
    others = tuple(condition for condition in before if condition.type not in replaced)
    return replace(reported, conditions=(*reported.conditions, *others))


def _claims_order(condition: Condition) -> bool:
    """Whether the condition claims that the object is in order, or did so until a bug. Others are the last known."""
    claims = condition.status is ConditionStatus.TRUE or condition.reason == Reason.INTERNAL_ERROR
    return claims and condition.type in GOOD_WHEN_TRUE


def _with_verified(kind: Kind, stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """The status with the generation for which a table was Ready until the bug hid it: `table_conditions.refused`."""
    ready = find(readable_conditions(stored), ConditionType.READY)
    if kind is not Kind.TABLE or ready is None or ready.reason == Reason.INTERNAL_ERROR:
        return stored
    others = {name: value for name, value in stored.items() if name != _VERIFIED}
    was_ready = ready.status is ConditionStatus.TRUE and ready.observed_generation is not None
    return others | ({_VERIFIED: ready.observed_generation} if was_ready else {})


def _message(key: Key, error: Exception) -> str:
    """What is wrong and what to do. Without the text of `error`, which may hold values and differ each time."""
    return (
        f"a bug in the operator stopped the reconcile: {type(error).__name__} at {_place(error)}. It is retried. "
        f"Search the operator's log for '{key}: a bug in the operator', and report the lines that follow"
    )


def _place(error: Exception) -> str:
    """File and line of the operator's code that raised, or called what raised."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if _OWN_CODE in frame.filename] or list(frames)
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "an unknown place"


def _is_final(kind: Kind, body: Manifest) -> bool:
    """Whether a run has ended: its outcome is known and never changes again."""
    phase = (body.get("status") or {}).get("phase")
    return kind is Kind.RUN and phase in ENDED
