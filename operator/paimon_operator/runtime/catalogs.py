"""The catalog controller's hands: no Spark, only what is known of a catalog without touching its storage."""

from __future__ import annotations

from datetime import timedelta

from pydantic import ValidationError

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.core.catalog.plan import CatalogObserved, plan_catalog
from paimon_operator.core.ports import Kind
from paimon_operator.runtime.dependencies import Dependencies
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.unreadable import problem_of


class CatalogReconciler:
    """Reconciles PaimonCatalogs."""

    def __init__(self, world: Dependencies) -> None:
        self._world, self._executor = world, world.executor

    async def reconcile(self, key: Key) -> timedelta | None:
        """One look at one catalog. Raises the KubernetesError tree; the look is then repeated."""
        body = await self._world.store.get(Kind.CATALOG, key.namespace, key.name)
        if body is None:
            return None
        self._world.notices.stored(Kind.CATALOG, body)
        try:
            catalog = PaimonCatalog.model_validate(body)
        except ValidationError as error:
            await self._executor.stall(Kind.CATALOG, body, problem_of(error), self._world.clock.now())
            return None
        cache = self._world.cache
        tables = (cache.get(*table) for table in cache.tables_of(key))
        observed = CatalogObserved.of(table for table in tables if table is not None)
        decision = plan_catalog(catalog, observed, self._world.operator, self._world.clock.now())
        return await self._executor.carry_out(Kind.CATALOG, body, catalog.status, decision)
