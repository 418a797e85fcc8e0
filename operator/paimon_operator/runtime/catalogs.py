"""The catalog controller: reads a catalog and its tables, calls `plan_catalog`, applies the decision. No Spark."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from pydantic import ValidationError

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.core.catalog.plan import CatalogObserved, TablesFound, plan_catalog
from paimon_operator.core.launch.builder import LaunchBuilder
from paimon_operator.core.ports import Kind
from paimon_operator.runtime.dependencies import Dependencies
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.observers import ObserverPods
from paimon_operator.runtime.reads import Doubt
from paimon_operator.runtime.tables_in_turns import tables_in_turns
from paimon_operator.runtime.unreadable import problem_of


class CatalogReconciler:
    """Reconciles PaimonCatalogs."""

    def __init__(self, dependencies: Dependencies, launches: LaunchBuilder) -> None:
        self._dependencies, self._applier = dependencies, dependencies.applier
        self._observers = ObserverPods(dependencies, launches)

    async def reconcile(self, key: Key, doubt: Doubt) -> timedelta | None:
        """Reconciles one catalog. Raises KubernetesError; the worker then retries."""
        body = await self._dependencies.reads.own(key, live=doubt is Doubt.FAILED)
        if body is None:
            self._observers.forget(key)
            return None
        self._dependencies.router.on_stored(Kind.CATALOG, body)
        try:
            catalog = PaimonCatalog.model_validate(body)
        except ValidationError as error:
            await self._applier.record_unreadable(Kind.CATALOG, body, problem_of(error), self._dependencies.clock.now())
            return None
        observed = replace(await self._tables_of(key), overlap=self._dependencies.warehouses.overlap(catalog))
        decision = plan_catalog(catalog, observed, self._dependencies.operator, self._dependencies.clock.now())
        again = await self._applier.apply(Kind.CATALOG, body, catalog.status, decision)
        later = await self._observers.reconcile(catalog, observed, body)
        return min((each for each in (again, later) if each is not None), default=None)

    async def _tables_of(self, catalog: Key) -> CatalogObserved:
        """What its tables tell. One that changes meanwhile enqueues the catalog again."""
        found = TablesFound()
        async for _, table in tables_in_turns(self._dependencies.cache, catalog):
            found.add(table)
        return found.observed()
