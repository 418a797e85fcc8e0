"""The three controllers behind one function: each kind to its own reconciler."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from paimon_operator.core.claims import ClaimBook
from paimon_operator.core.ports import Clock, EventSink, Kind, ObjectStore
from paimon_operator.runtime.cache import Cache
from paimon_operator.runtime.catalogs import Catalogs
from paimon_operator.runtime.execute import Executor
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.launch import Launches
from paimon_operator.runtime.notices import Notices
from paimon_operator.runtime.runs import Runs
from paimon_operator.runtime.tables import Tables
from paimon_operator.runtime.workers import Reconcile


def controllers(
    *,
    store: ObjectStore,
    events: EventSink,
    cache: Cache,
    claims: ClaimBook,
    notices: Notices,
    launches: Launches,
    clock: Clock,
    on_finished: Callable[[str, str], None],
) -> Reconcile:
    """One look at the object of a key. `on_finished(type, phase)` is called once for each run that ends."""
    terminating: set[str] = set()
    executor, operator = Executor(store, events, notices), launches.operator
    catalogs = Catalogs(
        store=store,
        executor=executor,
        cache=cache,
        notices=notices,
        operator=operator,
        clock=clock,
        terminating=terminating,
    )
    tables = Tables(
        store=store,
        events=events,
        executor=executor,
        cache=cache,
        claims=claims,
        notices=notices,
        operator=operator,
        clock=clock,
        terminating=terminating,
    )
    runs = Runs(
        store=store,
        executor=executor,
        notices=notices,
        launches=launches,
        clock=clock,
        on_finished=on_finished,
    )
    by_kind = {Kind.CATALOG: catalogs.reconcile, Kind.TABLE: tables.reconcile, Kind.RUN: runs.reconcile}

    async def reconcile(key: Key) -> timedelta | None:
        return await by_kind[key.kind](key)

    return reconcile
