"""The table controller's hands: read a table and its runs, let `plan` decide, carry the decision out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from pydantic import ValidationError

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run import PaimonRun
from paimon_operator.api.table import PaimonTable
from paimon_operator.api.table_status import TableStatus
from paimon_operator.core import naming
from paimon_operator.core.claims import ClaimBook
from paimon_operator.core.decision import Decision
from paimon_operator.core.observed import OperatorFacts, TableObserved, Wanted
from paimon_operator.core.plan import plan
from paimon_operator.core.ports import Clock, EventSink, Kind, Manifest, ObjectStore
from paimon_operator.errors import NamespaceTerminatingError, StaleError
from paimon_operator.runtime.cache import Cache
from paimon_operator.runtime.execute import AT_ONCE, CreateRefusedError, Executor
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.notices import Notices
from paimon_operator.runtime.unreadable import problem_of

_WARNING: Final = "Warning"


class Tables:
    """Reconciles PaimonTables."""

    def __init__(
        self,
        *,
        store: ObjectStore,
        events: EventSink,
        executor: Executor,
        cache: Cache,
        claims: ClaimBook,
        notices: Notices,
        operator: OperatorFacts,
        clock: Clock,
        terminating: set[str],
    ) -> None:
        """`terminating` collects the namespaces that are found to go away."""
        self._store, self._events, self._executor = store, events, executor
        self._cache, self._claims, self._notices = cache, claims, notices
        self._operator, self._clock = operator, clock
        self._terminating = terminating

    async def reconcile(self, key: Key) -> timedelta | None:
        """One look at one table. Raises the KubernetesError tree; the look is then repeated."""
        body = await self._store.get(Kind.TABLE, key.namespace, key.name)
        if body is None:
            return None
        self._notices.stored(Kind.TABLE, body)
        try:
            table = PaimonTable.model_validate(body)
        except ValidationError as error:
            await self._executor.stall(Kind.TABLE, body, problem_of(error), self._clock.now())
            return None
        try:
            runs = tuple(PaimonRun.model_validate(run) for run in await self._runs_of(table))
        except ValidationError as error:
            # never guess about runs: the one that cannot be read may be the one that is changing the table
            problem = f"a PaimonRun of this table cannot be read: {problem_of(error)}"
            await self._executor.stall(Kind.TABLE, body, problem, self._clock.now())
            return None
        decision = self._decide(table, runs)
        self._claim(table, decision)
        return await self._carry_out(body, table.status, decision)

    def _decide(self, table: PaimonTable, runs: tuple[PaimonRun, ...]) -> Decision[TableStatus]:
        catalog = self._notices.catalog_of(table)
        observed = TableObserved(
            catalog=catalog,
            claimant=self._claims.holder(table, catalog),
            runs=runs,
            namespace_terminating=table.metadata.namespace in self._terminating,
        )
        return plan(Wanted(table=table, operator=self._operator), observed, self._clock.now())

    async def _runs_of(self, table: PaimonTable) -> Sequence[Manifest]:
        """All runs of the table: a live list of the labelled ones, and those that users made without the label."""
        namespace, name = table.metadata.namespace, table.metadata.name
        labels = {naming.TABLE_LABEL: naming.label_value(name)}
        labelled = await self._store.list(Kind.RUN, namespace, labels)
        found = {run["metadata"]["name"]: run for run in labelled if _table_of(run) == name}
        for key in self._cache.runs_of(Key(Kind.TABLE, namespace, name)):
            if key.name not in found and (run := await self._store.get(Kind.RUN, namespace, key.name)):
                found[key.name] = run
        return [found[run] for run in sorted(found)]

    def _claim(self, table: PaimonTable, decision: Decision[TableStatus]) -> None:
        """Enters a newly decided run into the book before anything is awaited, so that no other table can slip in.

        Raises StaleError when another table did between the look and the decision.
        """
        starts = decision.status is not None and decision.status.active_run is not None
        if not starts or table.status.active_run is not None:
            return
        catalog = self._notices.catalog_of(table)
        if (holder := self._claims.holder(table, catalog)) is not None:
            raise StaleError(f"the physical table was claimed by {holder.namespace}/{holder.name} meanwhile")
        self._claims.put(table.model_copy(update={"status": decision.status}), catalog)

    async def _carry_out(
        self, body: Manifest, stored: TableStatus, decision: Decision[TableStatus]
    ) -> timedelta | None:
        try:
            return await self._executor.carry_out(Kind.TABLE, body, stored, decision)
        except NamespaceTerminatingError:
            self._terminating.add(body["metadata"]["namespace"])
            return AT_ONCE
        except CreateRefusedError as error:
            await self._events.post(body, type_=_WARNING, reason=Reason.NOT_PERMITTED, note=str(error))
            raise


def _table_of(run: Manifest) -> str:
    return str(((run.get("spec") or {}).get("tableRef") or {}).get("name", ""))
