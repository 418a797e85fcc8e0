"""Creates and deletes the Pods of observers. A failure harms nothing: it is reported once, and tried again later."""

from __future__ import annotations

import logging
from datetime import timedelta
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
_NOTE_LENGTH: Final = 1_000
_log = logging.getLogger(__name__)


class ObserverPods:
    """The observers of all catalogs."""

    def __init__(self, dependencies: Dependencies, launches: LaunchBuilder) -> None:
        self._dependencies, self._launches = dependencies, launches
        self._without: set[str] = set()
        """UIDs of catalogs of which it is known that they have no observer, and shall have none."""
        self._failed: dict[str, str] = {}
        """UID of a catalog -> the failure that was reported last."""

    def forget(self, catalog: Key) -> None:
        """The catalog is gone. The garbage collector deletes its Pod."""
        self._dependencies.looks.expect(catalog, {})

    async def reconcile(self, catalog: PaimonCatalog, observed: CatalogObserved, body: Manifest) -> timedelta | None:
        """Makes the catalog have the observer that it shall have. Returns when to try again; None: not needed."""
        key, uid = Key(Kind.CATALOG, catalog.metadata.namespace, catalog.metadata.name), catalog.metadata.uid
        wanted = wanted_pod(catalog, observed, self._launches)
        if wanted is None and uid in self._without:
            return None
        try:
            pods = await self._carry_out(catalog, wanted)
        except KubernetesError as error:
            await self._report(body, uid, error)
            return RETRY_AFTER
        self._failed.pop(uid, None)
        self._dependencies.looks.expect(key, {each["metadata"]["uid"]: each["metadata"]["name"] for each in pods})
        if wanted is None:
            self._without.add(uid)
        else:
            self._without.discard(uid)
        return None

    async def _carry_out(self, catalog: PaimonCatalog, wanted: Manifest | None) -> tuple[Manifest, ...]:
        """The Pods of the observer after all is done."""
        store, namespace = self._dependencies.store, catalog.metadata.namespace
        labels = naming.observer_labels(catalog.metadata.name)
        plan: ObserverPlan = plan_observer(catalog, wanted, await store.list(Kind.POD, namespace, labels))
        for each in plan.delete:
            await store.delete(each.kind, namespace, each.name, uid=each.uid)
        if plan.create is None:
            return plan.expected
        return (*plan.expected, await store.create(Kind.POD, namespace, plan.create.body))

    async def _report(self, body: Manifest, uid: str, error: KubernetesError) -> None:
        """An Event for what only an administrator can change, once as long as it stays the same."""
        _log.warning("the observer of %s/%s: %s", body["metadata"]["namespace"], body["metadata"]["name"], error)
        problem = str(error)
        if isinstance(error, RetryableError) or self._failed.get(uid) == problem:
            return
        self._failed[uid] = problem
        note = f"the catalog has no observer, and maintenance runs by its schedules alone: {problem}"[:_NOTE_LENGTH]
        await self._dependencies.events.post(body, type_="Warning", reason=Reason.NOT_PERMITTED, note=note)
