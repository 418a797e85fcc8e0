"""The table controller: reads a table and its runs, calls `plan`, applies the decision."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from pydantic import ValidationError

from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core import naming
from paimon_operator.core.commits.table_claims import is_busy
from paimon_operator.core.decision import Decision
from paimon_operator.core.operations import registry
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.core.table.observed import TableObserved, Wanted
from paimon_operator.core.table.plan import plan
from paimon_operator.errors import KubernetesError, StaleError
from paimon_operator.runtime.adoption import RefusedError
from paimon_operator.runtime.change_router import is_over, table_of
from paimon_operator.runtime.decision_applier import AT_ONCE
from paimon_operator.runtime.dependencies import Dependencies
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.refusals import Refusals
from paimon_operator.runtime.unreadable import may_release, problem_of


class TableReconciler:
    """Reconciles PaimonTables."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies, self._applier = dependencies, dependencies.applier
        self._terminating: set[str] = set()
        """UIDs of tables in terminating namespaces. Not names of namespaces: they can be created again."""
        self._refusals = Refusals(dependencies.clock)

    async def reconcile(self, key: Key) -> timedelta | None:
        """Reconciles one table. Raises KubernetesError; the worker then retries."""
        body = await self._dependencies.store.get(Kind.TABLE, key.namespace, key.name)
        if body is None:
            self._refusals.forget(key)
            return None
        self._dependencies.router.on_stored(Kind.TABLE, body)
        try:
            table = PaimonTable.model_validate(body)
        except ValidationError as error:
            return await self._unreadable(key, body, problem_of(error))
        try:
            runs = tuple(registry.OPERATIONS.read_run(run) for run in await self._runs_of(table))
        except ValidationError as error:
            # a run that cannot be read may be the one that is changing the table
            await self._record_unreadable(key, body, f"a PaimonRun of this table cannot be read: {problem_of(error)}")
            return None
        decision = self._decide(key, table, runs)
        self._claim(table, decision)
        try:
            return await self._apply(key, body, table.status, decision)
        except KubernetesError:
            self._dependencies.router.on_not_stored(key)
            raise

    async def _record_unreadable(self, key: Key, body: Manifest, problem: str) -> None:
        self._dependencies.router.on_not_stored(key)
        await self._applier.record_unreadable(Kind.TABLE, body, problem, self._dependencies.clock.now())

    async def _unreadable(self, key: Key, body: Manifest, problem: str) -> timedelta | None:
        if may_release(body):
            log = (f"the object is released without being read, its data stays: {problem}",)
            released = Decision[TableStatus](status=None, finalizer="remove", log=log)
            return await self._applier.apply(Kind.TABLE, body, TableStatus(), released)
        await self._record_unreadable(key, body, problem)
        return None

    def _decide(self, key: Key, table: PaimonTable, runs: tuple[PaimonRun, ...]) -> Decision[TableStatus]:
        catalog, named = self._dependencies.router.catalog_of(table), table.status.active_run
        now = self._dependencies.clock.now()
        observed = TableObserved(
            catalog=catalog,
            claimant=self._dependencies.claims.holder(table, catalog),
            overlap=self._dependencies.warehouses.overlap(catalog),
            runs=runs,
            stopped_by=lambda rank: self._dependencies.slots.stopped_by(table, catalog, rank) if catalog else None,
            refusal=self._refusals.of(key, table.metadata.uid, {named.name}) if named is not None else None,
            look=self._dependencies.looks.of(
                Key(Kind.CATALOG, key.namespace, table.spec.catalog_ref.name), table.metadata.uid
            ),
            spent=lambda usage: self._dependencies.budgets.spent(table, catalog, usage, now) if catalog else None,
            shares_drivers=self._dependencies.batches.is_enabled,
            namespace_terminating=table.metadata.uid in self._terminating,
        )
        return plan(Wanted(table=table, operator=self._dependencies.operator), observed, now)

    async def _runs_of(self, table: PaimonTable) -> Sequence[Manifest]:
        """All runs of the table: a live list of the labelled ones, and a live read of each one without the label.

        The active run is always read by its name: the cache never proves that a run is gone.
        """
        namespace, name = table.metadata.namespace, table.metadata.name
        labels = {naming.TABLE_LABEL: naming.label_value(name)}
        listed = await self._dependencies.store.list(Kind.RUN, namespace, labels)
        found = {run["metadata"]["name"]: run for run in listed}
        for unlabelled in sorted(self._names_to_read(table) - found.keys()):
            run = await self._dependencies.store.get(Kind.RUN, namespace, unlabelled)
            found |= {unlabelled: run} if run is not None else {}
        return [found[run] for run in sorted(found) if table_of(found[run]) == name]

    def _names_to_read(self, table: PaimonTable) -> set[str]:
        """Names of unfinished runs in the cache, which may lack the label, and of the active run."""
        cache, key = self._dependencies.cache, Key(Kind.TABLE, table.metadata.namespace, table.metadata.name)
        known = {run.name: cache.get(*run) for run in cache.runs_of(key)}
        going_on = {name for name, body in known.items() if body is not None and not is_over(body)}
        return going_on | ({table.status.active_run.name} if table.status.active_run else set())

    def _claim(self, table: PaimonTable, decision: Decision[TableStatus]) -> None:
        """Reserves the table claim and the place of a newly decided run before anything is awaited.

        The same for a run whose creation was refused until now, because it had no claim.

        Raises StaleError if another table took the claim since it was read.
        """
        named = decision.status.active_run if decision.status is not None else None
        before = table.status.active_run
        is_known = named is not None and before is not None and before.name == named.name
        if named is None or (is_known and (is_busy(before) or not is_busy(named))):
            return
        if not is_busy(before):
            catalog = self._dependencies.router.catalog_of(table)
            if (holder := self._dependencies.claims.holder(table, catalog)) is not None:
                raise StaleError(f"the physical table was claimed by {holder.namespace}/{holder.name} meanwhile")
            self._dependencies.claims.reserve(table.model_copy(update={"status": decision.status}), catalog)
        if not is_known:
            self._dependencies.slots.reserve(table)

    async def _apply(
        self, key: Key, body: Manifest, stored: TableStatus, decision: Decision[TableStatus]
    ) -> timedelta | None:
        uid = body["metadata"]["uid"]
        reduced = self._refusals.without_refused(key, uid, decision)
        try:
            again = await self._applier.apply(Kind.TABLE, body, stored, reduced or decision)
        except RefusedError as error:
            if not error.terminating:
                return self._refusals.record(key, uid, error)
            self._terminating.add(uid)
            return AT_ONCE
        self._refusals.record_done(key, decision, reduced)
        return again
