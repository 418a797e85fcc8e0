"""Creates and deletes the Pods of observers. A failure harms nothing: it is reported once, and tried again later."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.reasons import Reason
from paimon_operator.core import naming
from paimon_operator.core.catalog.observer import ObserverPlan, plan_observer, wanted_pod
from paimon_operator.core.catalog.plan import CatalogObserved
from paimon_operator.core.launch.builder import LaunchBuilder
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.errors import KubernetesError, RetryableError
from paimon_operator.runtime.dependencies import Dependencies
from paimon_operator.runtime.keys import Key

RETRY_AFTER: Final = timedelta(minutes=5)
AGAIN_AFTER: Final = timedelta(minutes=1)
"""The same Pod is not made again sooner: a node may refuse it as soon as it is there."""
_NOTE_LENGTH: Final = 1_000
_log = logging.getLogger(__name__)


@dataclass
class _Known:
    """What is known of the observer of one catalog."""

    uid: str
    """Of the catalog."""
    is_without: bool = False
    """It is known that the catalog has no observer, and shall have none."""
    failure: str = ""
    """The failure that was reported last."""
    made: tuple[str, datetime] | None = None
    """The name of the Pod that was made last, and when."""


class ObserverPods:
    """The observers of all catalogs."""

    def __init__(self, dependencies: Dependencies, launches: LaunchBuilder) -> None:
        self._dependencies, self._launches = dependencies, launches
        self._known: dict[Key, _Known] = {}

    def forget(self, catalog: Key) -> None:
        """The catalog is gone. The garbage collector deletes its Pod."""
        self._known.pop(catalog, None)
        self._dependencies.looks.expect(catalog, {})

    async def reconcile(self, catalog: PaimonCatalog, observed: CatalogObserved, body: Manifest) -> timedelta | None:
        """Makes the catalog have the observer that it shall have. Returns when to try again; None: not needed."""
        key = Key(Kind.CATALOG, catalog.metadata.namespace, catalog.metadata.name)
        known = self._known.get(key)
        if known is None or known.uid != catalog.metadata.uid:
            known = self._known[key] = _Known(catalog.metadata.uid)
        wanted = wanted_pod(catalog, observed, self._launches)
        if wanted is None and known.is_without:
            return None
        known.is_without = False  # also where the outcome stays unknown: a Pod may be there
        try:
            pods, wait = await self._carry_out(catalog, wanted, known)
        except KubernetesError as error:
            await self._report(body, known, error)
            return RETRY_AFTER
        known.failure, known.is_without = "", wanted is None
        self._dependencies.looks.expect(key, {each["metadata"]["uid"]: each["metadata"]["name"] for each in pods})
        return wait

    async def _carry_out(
        self, catalog: PaimonCatalog, wanted: Manifest | None, known: _Known
    ) -> tuple[tuple[Manifest, ...], timedelta | None]:
        """The Pods of the observer after all is done, and how long one that is missing has to wait."""
        store, namespace = self._dependencies.store, catalog.metadata.namespace
        labels = naming.observer_labels(catalog.metadata.name)
        plan: ObserverPlan = plan_observer(catalog, wanted, await store.list(Kind.POD, namespace, labels))
        for each in plan.delete:
            await store.delete(each.kind, namespace, each.name, uid=each.uid)
        wait = None if plan.create is None else self._wait(known, plan.create.name)
        if plan.create is None or wait is not None:
            return plan.expected, wait
        made = await store.create(Kind.POD, namespace, plan.create.body)
        known.made = (plan.create.name, self._dependencies.clock.now())
        return (*plan.expected, made), None

    def _wait(self, known: _Known, pod: str) -> timedelta | None:
        """How long the Pod has to wait, because it was made a moment ago; None: it may be made."""
        if known.made is None or known.made[0] != pod:
            return None
        passed = self._dependencies.clock.now() - known.made[1]
        return AGAIN_AFTER - passed if timedelta(0) <= passed < AGAIN_AFTER else None

    async def _report(self, body: Manifest, known: _Known, error: KubernetesError) -> None:
        """A line in the log, and an Event for what only an administrator can change: once while it stays the same."""
        problem = str(error)
        if known.failure == problem:
            return
        _log.warning("the observer of %s/%s: %s", body["metadata"]["namespace"], body["metadata"]["name"], error)
        if isinstance(error, RetryableError):
            return
        known.failure = problem
        note = f"the catalog has no observer, and maintenance runs by its schedules alone: {problem}"[:_NOTE_LENGTH]
        await self._dependencies.events.post(body, type_="Warning", reason=Reason.NOT_PERMITTED, note=note)
