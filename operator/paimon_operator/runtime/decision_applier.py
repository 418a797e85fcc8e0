"""Applies a decision in a fixed order: finalizer, status, actions, events.

The status that names an action is stored before the action. A process that is killed in between repeats the same
actions with the same names, and a name that our own object has counts as done.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

from paimon_operator.api.base import ApiModel
from paimon_operator.core.decision import Action, Create, Decision, Delete, EventNote, Release
from paimon_operator.core.naming import FINALIZER
from paimon_operator.core.ports import EventSink, Kind, Manifest, ObjectStore
from paimon_operator.errors import (
    AlreadyExistsError,
    ForbiddenError,
    InvalidObjectError,
    NamespaceTerminatingError,
    NotFoundError,
    StaleError,
)
from paimon_operator.runtime import adoption
from paimon_operator.runtime.adoption import RefusedError
from paimon_operator.runtime.cache import DELIVERED
from paimon_operator.runtime.change_router import ChangeRouter
from paimon_operator.runtime.keys import key_of
from paimon_operator.runtime.logs import fields
from paimon_operator.runtime.unreadable import unreadable

StatusT = TypeVar("StatusT", bound=ApiModel)
AT_ONCE: Final = timedelta(0)
_log = logging.getLogger(__name__)


class DecisionApplier:
    """Turns decisions into requests."""

    def __init__(self, store: ObjectStore, events: EventSink, router: ChangeRouter) -> None:
        self._store, self._events, self._router = store, events, router

    async def apply(
        self,
        kind: Kind,
        body: Manifest,
        stored: StatusT,
        decision: Decision[StatusT],
        *,
        on_stored: Callable[[], None] = lambda: None,
    ) -> timedelta | None:
        """Returns when to requeue. `body` is the object as just read, `stored` its status as a model.

        `on_stored` is called once the decision's status is stored, before its actions.

        Raises a KubernetesError, which may be a RefusedError. The next reconcile decides the remaining steps again.
        """
        key = key_of(kind, body)
        for line in decision.log:
            _log.info("%s: %s", key, line, extra=fields(*key))
        step = await self._finalizer(kind, body, decision)
        if step is None:
            return None
        current = await self._status(kind, step, stored, decision)
        on_stored()
        try:
            for action in decision.actions:
                await self._perform(current, action)
        finally:  # the status has changed, so a later reconcile would not post the Events again
            await self._post_events(current, decision.events)
        is_first_step = decision.finalizer == "add" and decision.status is None
        return AT_ONCE if is_first_step else decision.requeue_after

    async def record_unreadable(self, kind: Kind, body: Manifest, problem: str, now: datetime) -> None:
        """Records in the status that the object, or one that it depends on, does not fit its model."""
        found = unreadable(kind, body, problem, now)
        if found.changed:
            self._router.on_stored(kind, await self._store.apply_status(kind, body, found.status))
            await self._post_events(body, found.events)

    async def _finalizer(self, kind: Kind, body: Manifest, decision: Decision[Any]) -> Manifest | None:
        """The object after the change of its finalizer; None when it is gone."""
        present: list[str] = list(body["metadata"].get("finalizers") or ())
        if decision.finalizer == "keep" or (decision.finalizer == "add") == (FINALIZER in present):
            return body
        others = [name for name in present if name != FINALIZER]
        wanted = [*others, FINALIZER] if decision.finalizer == "add" else others
        changed = await self._store.set_finalizers(kind, body, wanted)
        if changed is None or _is_gone(changed):
            return None
        self._router.on_stored(kind, changed)
        return changed

    async def _status(self, kind: Kind, body: Manifest, stored: StatusT, decision: Decision[StatusT]) -> Manifest:
        """Stores the status if it differs from the stored one as a model; another form of a value is no change."""
        if decision.status is None or decision.defers_status or decision.status == stored:
            return body
        changed = await self._store.apply_status(kind, body, decision.status.to_json())
        self._router.on_stored(kind, changed)
        return changed

    async def _perform(self, owner: Manifest, action: Action) -> None:
        try:
            await self._request(owner["metadata"]["namespace"], action)
        except (ForbiddenError, InvalidObjectError) as error:
            terminating = isinstance(error, NamespaceTerminatingError)
            raise RefusedError(str(error), status=error.status, action=action, terminating=terminating) from error
        except NotFoundError as error:
            if not isinstance(action, Create):
                raise
            why = f"no namespace or no kind for {action.kind} {action.name}: {error}. Apply the CRDs of this version"
            raise RefusedError(why, status=error.status, action=action) from error

    async def _request(self, namespace: str, action: Action) -> None:
        match action:
            case Create():
                await self._create(namespace, action)
            case Delete(kind=kind, name=name, uid=uid):
                await self._store.delete(kind, namespace, name, uid=uid)
            case Release(kind=kind, name=name, uid=uid, finalizers=finalizers):
                released = await self._store.release(kind, namespace, name, uid=uid, finalizers=finalizers)
                if released is not None and not _is_gone(released):
                    self._router.on_read(kind, released)

    async def _create(self, namespace: str, action: Create) -> None:
        if action.must_exist:
            adoption.check(action, await self._store.get(action.kind, namespace, action.name))
            return
        try:
            created = await self._store.create(action.kind, namespace, action.body)
        except AlreadyExistsError as error:
            found = await self._store.get(action.kind, namespace, action.name)
            if found is None:
                raise StaleError(f"{action.kind} {namespace}/{action.name} existed a moment ago and is gone") from error
            created = adoption.check(action, found)
        if action.kind in DELIVERED:
            self._router.on_created(action.kind, created)

    async def _post_events(self, body: Manifest, notes: tuple[EventNote, ...]) -> None:
        for note in notes:
            await self._events.post(body, type_=note.type_, reason=note.reason, note=note.note)


def _is_gone(answer: Manifest) -> bool:
    """Whether the API server has removed the object with this answer, because nothing held it any more."""
    return bool(answer["metadata"].get("deletionTimestamp")) and not answer["metadata"].get("finalizers")
