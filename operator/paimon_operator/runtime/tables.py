"""The table controller: reads a table and its runs, calls `plan`, applies the decision."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from pydantic import ValidationError

from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.commits.table_claims import is_busy
from paimon_operator.core.decision import Decision
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.core.table.observed import TableObserved, Wanted
from paimon_operator.core.table.plan import plan
from paimon_operator.errors import KubernetesError, StaleError
from paimon_operator.runtime.adoption import RefusedError
from paimon_operator.runtime.decision_applier import AT_ONCE
from paimon_operator.runtime.dependencies import Dependencies
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.reads import Doubt
from paimon_operator.runtime.refusals import Refusals
from paimon_operator.runtime.table_runs import RunsOfTable, known_runs, live_runs
from paimon_operator.runtime.unreadable import may_release, problem_of


@dataclass(frozen=True)
class _Decided:
    """What was read of one table, and the decision about it."""

    body: Manifest
    table: PaimonTable | None = None
    """None: it cannot be read."""
    decision: Decision[TableStatus] | None = None
    """None: it, or one of its runs, cannot be read."""
    problem: str = ""
    """Why there is no decision."""

    @property
    def is_guarded(self) -> bool:
        """Whether a write at the resourceVersion that was read comes before everything else. See `reads`."""
        if self.table is None or self.decision is None:
            return self.table is not None or not may_release(self.body)
        is_stored = self.decision.status is None or self.decision.status == self.table.status
        return self.decision.finalizer != "remove" and not (self.decision.actions and is_stored)


class TableReconciler:
    """Reconciles PaimonTables."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies, self._applier = dependencies, dependencies.applier
        self._terminating: dict[Key, str] = {}
        """Tables in terminating namespaces, with their UIDs: a namespace of the same name can be created again."""
        self._refusals = Refusals(dependencies.clock)
        self._taken_over: set[Key] = set()
        """Tables about which this process has decided: what the one before has left counts no more for them."""

    async def reconcile(self, key: Key, doubt: Doubt) -> timedelta | None:
        """Reconciles one table, a new one in its turn. Raises KubernetesError; the worker then retries."""
        new_tables = self._dependencies.new_tables
        if doubt is Doubt.NONE and (wait := new_tables.wait(key)):
            self._dependencies.router.enqueue_after(key, wait)
            return None
        again = await self._reconcile_now(key, doubt)
        new_tables.reconciled(key)
        return again

    async def _reconcile_now(self, key: Key, doubt: Doubt) -> timedelta | None:
        decided = await self._decide(key, doubt)
        if decided is not None and doubt is not Doubt.FAILED and not decided.is_guarded:
            decided = await self._decide(key, Doubt.FAILED)
        if decided is None:
            self._refusals.forget(key)
            self._terminating.pop(key, None)
            self._taken_over.discard(key)
            self._dependencies.deferred.forget(key)
            return None
        if decided.table is None:
            return await self._unreadable(key, decided.body, decided.problem)
        if decided.decision is None:
            await self._record_unreadable(key, decided.body, decided.problem)
            return None
        self._claim(decided.table, decided.decision)
        stored = self._stored(key, decided.body, decided.table)
        try:
            again = await self._apply(key, decided.body, stored, decided.decision)
        except KubernetesError:
            self._dependencies.router.on_not_stored(key)
            raise
        self._note_decided(key, decided.table.metadata.uid, stored, decided.decision)
        return again

    def _with_deferred(self, key: Key, table: PaimonTable) -> PaimonTable:
        """The table with the ticks that were skipped without being stored."""
        world = self._dependencies
        status = world.deferred.added_to(key, table.metadata.uid, table.status, world.clock.now())
        return table if status is table.status else table.model_copy(update={"status": status})

    def _stored(self, key: Key, body: Manifest, table: PaimonTable) -> TableStatus:
        """The status from which a decision has to differ to be stored: remembered ticks do, once all are to be."""
        world = self._dependencies
        if not world.deferred.has(key) or world.decided.is_recent():
            return table.status
        return TableStatus.model_validate(body.get("status") or {})

    def _note_decided(self, key: Key, uid: str, stored: TableStatus, decision: Decision[TableStatus]) -> None:
        """Remembers what this process has decided, and not stored."""
        if decision.status is None:
            return
        self._taken_over.add(key)
        if decision.defers_status:
            self._dependencies.deferred.note(key, uid, decision.status)
        elif decision.status != stored:
            self._dependencies.deferred.forget(key)

    async def _decide(self, key: Key, doubt: Doubt) -> _Decided | None:
        """Reads the table and its runs as `doubt` permits, and decides. None: there is no such table."""
        body = await self._dependencies.reads.own(key, live=doubt is Doubt.FAILED)
        if body is None:
            return None
        self._dependencies.router.on_stored(Kind.TABLE, body)
        try:
            table = self._with_deferred(key, PaimonTable.model_validate(body))
        except ValidationError as error:
            return _Decided(body, problem=problem_of(error))
        try:
            found = await self._runs_of(table, doubt)
        except ValidationError as error:
            # a run that cannot be read may be the one that is changing the table
            return _Decided(body, table, problem=f"a PaimonRun of this table cannot be read: {problem_of(error)}")
        return _Decided(body, table, self._plan(key, table, found))

    async def _runs_of(self, table: PaimonTable, doubt: Doubt) -> RunsOfTable:
        world = self._dependencies
        if doubt is Doubt.FAILED:
            return await live_runs(table, world.store, world.cache)
        return await known_runs(table, world.cache, world.reads, late=doubt is Doubt.LATE)

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

    def _plan(self, key: Key, table: PaimonTable, found: RunsOfTable) -> Decision[TableStatus]:
        catalog, named = self._dependencies.router.catalog_of(table), table.status.active_run
        now = self._dependencies.clock.now()
        observed = TableObserved(
            catalog=catalog,
            claimant=self._dependencies.claims.holder(table, catalog),
            overlap=self._dependencies.warehouses.overlap(catalog),
            runs=found.runs,
            finished=found.finished,
            stopped_by=lambda rank: self._dependencies.slots.stopped_by(table, catalog, rank) if catalog else None,
            refusal=self._refusals.of(key, table.metadata.uid, {named.name}) if named is not None else None,
            look=self._dependencies.looks.of(
                Key(Kind.CATALOG, key.namespace, table.spec.catalog_ref.name), table.metadata.uid
            ),
            spent=lambda usage: self._dependencies.budgets.spent(table, catalog, usage, now) if catalog else None,
            shares_drivers=self._dependencies.batches.is_enabled,
            decided_until=None if key in self._taken_over else self._dependencies.decided.left,
            may_defer=self._dependencies.decided.is_recent(),
            namespace_terminating=self._terminating.get(key) == table.metadata.uid,
        )
        return plan(Wanted(table=table, operator=self._dependencies.operator), observed, now)

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
            self._terminating[key] = uid
            return AT_ONCE
        self._refusals.record_done(key, decision, reduced)
        return again
