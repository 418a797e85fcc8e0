"""The table controller's hands: read a table and its runs, let `plan` decide, carry the decision out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from pydantic import ValidationError

from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core import naming
from paimon_operator.core.decision import Decision
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.core.table.observed import TableObserved, Wanted
from paimon_operator.core.table.plan import plan
from paimon_operator.errors import StaleError
from paimon_operator.runtime.change_router import over, table_of
from paimon_operator.runtime.decision_applier import AT_ONCE, RefusedError
from paimon_operator.runtime.dependencies import Dependencies
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.refusals import Refusals
from paimon_operator.runtime.unreadable import may_go, problem_of


class TableReconciler:
    """Reconciles PaimonTables."""

    def __init__(self, world: Dependencies) -> None:
        self._world, self._executor = world, world.executor
        self._terminating: set[str] = set()
        """UIDs of tables in namespaces that go away. Not the namespaces: one of the same name may come again."""
        self._refusals = Refusals(world.clock)

    async def reconcile(self, key: Key) -> timedelta | None:
        """One look at one table. Raises the KubernetesError tree; the look is then repeated."""
        body = await self._world.store.get(Kind.TABLE, key.namespace, key.name)
        if body is None:
            self._refusals.forget(key)
            return None
        self._world.notices.stored(Kind.TABLE, body)
        try:
            table = PaimonTable.model_validate(body)
        except ValidationError as error:
            return await self._unreadable(body, problem_of(error))
        try:
            runs = tuple(PaimonRun.model_validate(run) for run in await self._runs_of(table))
        except ValidationError as error:
            # never guess about runs: the one that cannot be read may be the one that is changing the table
            problem = f"a PaimonRun of this table cannot be read: {problem_of(error)}"
            await self._executor.stall(Kind.TABLE, body, problem, self._world.clock.now())
            return None
        decision = self._decide(key, table, runs)
        self._claim(table, decision)
        return await self._carry_out(key, body, table.status, decision)

    async def _unreadable(self, body: Manifest, problem: str) -> timedelta | None:
        if may_go(body):
            log = (f"the object is let go without being read, its data stays: {problem}",)
            released = Decision[TableStatus](status=None, finalizer="remove", log=log)
            return await self._executor.carry_out(Kind.TABLE, body, TableStatus(), released)
        await self._executor.stall(Kind.TABLE, body, problem, self._world.clock.now())
        return None

    def _decide(self, key: Key, table: PaimonTable, runs: tuple[PaimonRun, ...]) -> Decision[TableStatus]:
        catalog, named = self._world.notices.catalog_of(table), table.status.active_run
        observed = TableObserved(
            catalog=catalog,
            claimant=self._world.claims.holder(table, catalog),
            runs=runs,
            refusal=self._refusals.of(key, table.metadata.uid, {named.name}) if named is not None else None,
            namespace_terminating=table.metadata.uid in self._terminating,
        )
        return plan(Wanted(table=table, operator=self._world.operator), observed, self._world.clock.now())

    async def _runs_of(self, table: PaimonTable) -> Sequence[Manifest]:
        """All runs of the table: a live list of the labelled ones, and a live look at each that has no label.

        The active run is asked for by its name in any case: that a run is gone never comes from the cache.
        """
        namespace, name = table.metadata.namespace, table.metadata.name
        labels = {naming.TABLE_LABEL: naming.label_value(name)}
        listed = await self._world.store.list(Kind.RUN, namespace, labels)
        found = {run["metadata"]["name"]: run for run in listed}
        for unlabelled in sorted(self._others(table) - found.keys()):
            run = await self._world.store.get(Kind.RUN, namespace, unlabelled)
            found |= {unlabelled: run} if run is not None else {}
        return [found[run] for run in sorted(found) if table_of(found[run]) == name]

    def _others(self, table: PaimonTable) -> set[str]:
        """Runs that users made without the label, but those that have ended and were noted; and the active run."""
        cache, key = self._world.cache, Key(Kind.TABLE, table.metadata.namespace, table.metadata.name)
        known = {run.name: cache.get(*run) for run in cache.runs_of(key)}
        going_on = {name for name, body in known.items() if body is not None and not over(body)}
        return going_on | ({table.status.active_run.name} if table.status.active_run else set())

    def _claim(self, table: PaimonTable, decision: Decision[TableStatus]) -> None:
        """Enters a newly decided run into the book before anything is awaited, so that no other table can slip in.

        Raises StaleError when another table did between the look and the decision.
        """
        starts = decision.status is not None and decision.status.active_run is not None
        if not starts or table.status.active_run is not None:
            return
        catalog = self._world.notices.catalog_of(table)
        if (holder := self._world.claims.holder(table, catalog)) is not None:
            raise StaleError(f"the physical table was claimed by {holder.namespace}/{holder.name} meanwhile")
        self._world.claims.reserve(table.model_copy(update={"status": decision.status}), catalog)

    async def _carry_out(
        self, key: Key, body: Manifest, stored: TableStatus, decision: Decision[TableStatus]
    ) -> timedelta | None:
        uid = body["metadata"]["uid"]
        allowed = self._refusals.without_refused(key, uid, decision)
        try:
            again = await self._executor.carry_out(Kind.TABLE, body, stored, allowed or decision)
        except RefusedError as error:
            if not error.terminating:
                return self._refusals.record(key, uid, error)
            self._terminating.add(uid)
            return AT_ONCE
        self._refusals.carried_out(key, decision, allowed)
        return again
