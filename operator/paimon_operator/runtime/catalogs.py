"""The catalog controller's hands: no Spark, only what is known of a catalog without touching its storage."""

from __future__ import annotations

from collections.abc import Set
from datetime import timedelta

from pydantic import ValidationError

from paimon_operator.api.catalog import PaimonCatalog
from paimon_operator.core.catalogs import CatalogObserved, plan_catalog
from paimon_operator.core.observed import OperatorFacts
from paimon_operator.core.ports import Clock, Kind, ObjectStore
from paimon_operator.runtime.cache import Cache
from paimon_operator.runtime.execute import Executor
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.notices import Notices
from paimon_operator.runtime.unreadable import problem_of


class Catalogs:
    """Reconciles PaimonCatalogs."""

    def __init__(
        self,
        *,
        store: ObjectStore,
        executor: Executor,
        cache: Cache,
        notices: Notices,
        operator: OperatorFacts,
        clock: Clock,
        terminating: Set[str],
    ) -> None:
        """`terminating` are the namespaces that were found to go away."""
        self._store, self._executor, self._cache, self._notices = store, executor, cache, notices
        self._operator, self._clock, self._terminating = operator, clock, terminating

    async def reconcile(self, key: Key) -> timedelta | None:
        """One look at one catalog. Raises the KubernetesError tree; the look is then repeated."""
        body = await self._store.get(Kind.CATALOG, key.namespace, key.name)
        if body is None:
            return None
        self._notices.stored(Kind.CATALOG, body)
        try:
            catalog = PaimonCatalog.model_validate(body)
        except ValidationError as error:
            await self._executor.stall(Kind.CATALOG, body, problem_of(error), self._clock.now())
            return None
        tables = (self._cache.get(*table) for table in self._cache.tables_of(key))
        observed = CatalogObserved.of(
            (table for table in tables if table is not None), namespace_terminating=key.namespace in self._terminating
        )
        decision = plan_catalog(catalog, observed, self._operator, self._clock.now())
        return await self._executor.carry_out(Kind.CATALOG, body, catalog.status, decision)
