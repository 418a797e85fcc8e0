"""Routes changes: which objects must be reconciled after a change. Input: watch events and the lists of the resync.

Nothing here calls the API server or raises. An object that does not fit its model is reconciled too, and its reconciler
reports the error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from paimon_operator.api.base import ApiModel
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.core.commits.table_claims import TableClaimIndex
from paimon_operator.core.commits.warehouses import WarehouseIndex
from paimon_operator.core.naming import (
    FINALIZER,
    RUN_LABEL,
    ObjectKey,
    controller_uid,
    controlling_run,
    is_batch,
    is_executor,
    observed_catalog,
)
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.core.spec.place import reached_elsewhere
from paimon_operator.core.spec.table_head import AnyTable, TableHead
from paimon_operator.core.table.budgets import Budgets
from paimon_operator.core.table.run_slots import RunSlots
from paimon_operator.runtime.cache import Cache, Revision, revision_of
from paimon_operator.runtime.keys import Key, key_of
from paimon_operator.runtime.queue import WorkQueue
from paimon_operator.runtime.rest import is_at_rest
from paimon_operator.runtime.table_news import TableSummary

Listed = Mapping[Key, Revision]
"""The objects of a full LIST of one kind."""
_DELETED: Final = "DELETED"
_NONE: Final = Revision(-1, "")
_TOGETHER: Final = 5.0
"""Seconds in which changes of the tables of one catalog are collected."""
_COUNTED: Final = 60.0
"""Seconds in which ended runs of its tables are collected before a catalog counts them, with one request for all."""
_RESTLESS_PACE: Final = 20.0
"""Runs that are not at rest to reconcile per second after a list. Each reads its Pod live."""
ModelT = TypeVar("ModelT", bound=ApiModel)


class ChangeRouter:
    """Updates cache and table claims, and enqueues keys. Calls `on_heartbeat` for each heartbeat.

    `on_shared_pod` answers what an event of a Pod that several runs share affects.
    """

    def __init__(
        self,
        cache: Cache,
        claims: TableClaimIndex,
        warehouses: WarehouseIndex,
        slots: RunSlots,
        queue: WorkQueue[Key],
        *,
        budgets: Budgets,
        on_heartbeat: Callable[[str], None],
        on_shared_pod: Callable[[str | None, Manifest], set[Key]] = lambda *_: set(),
    ) -> None:
        self._cache, self._claims, self._warehouses, self._slots, self._queue = cache, claims, warehouses, slots, queue
        self._budgets, self._on_heartbeat, self._on_shared_pod = budgets, on_heartbeat, on_shared_pod
        self._catalogs: dict[Key, tuple[int | None, PaimonCatalog | None]] = {}
        """Catalogs as models, each with its cached version: every decision about a table reads one."""

    def on_event(self, kind: Kind, event: str | None, body: Manifest) -> None:
        """One watch event; `event` is None for an object of a list."""
        if kind is Kind.POD:
            self._cache.drop_pod(key_of(kind, body)) if event == _DELETED else self._cache.put_pod(body)
            return self._enqueue(self._affected_by_pod(event, body))
        key = key_of(kind, body)
        known = self._cache.get(*key)
        if event != _DELETED and known is not None and revision_of(known) == revision_of(body):
            # A cached version was reconciled before: it is our own write, or another list of kopf's.
            return None
        if event == _DELETED:
            self._cache.drop(kind, body)
        else:
            self._cache.put(kind, body)
        self._enqueue(self._affected(key, known))
        return None

    def on_heartbeat(self, namespace: str) -> None:
        self._on_heartbeat(namespace)

    def on_stored(self, kind: Kind, body: Manifest) -> None:
        """Records what a reconcile read or stored, and enqueues the other affected objects."""
        key = key_of(kind, body)
        known = self._cache.get(*key)
        if kind is Kind.TABLE:  # only a reconcile of the table knows whether its start was stored
            self._claims.confirm(key.namespace, key.name)
            self._slots.confirm(key.namespace, key.name)
        if known is not None and revision_of(known) == revision_of(body):
            if kind is Kind.TABLE:  # a start that could not be stored has left its claim busy and its place taken
                self._enqueue(self._claim(key, known))
            return
        self._cache.put(kind, body)
        is_next = kind is Kind.TABLE and self._slots.is_next(key.namespace, key.name)
        self._enqueue(other for other in self._affected(key, known) if is_next or other != key)

    def on_not_stored(self, table: Key) -> None:
        """Gives a table's turn to others: it, or its decision, could not be read or stored. It asks again later."""
        self._enqueue(Key(Kind.TABLE, *other) for other in self._slots.withdraw(table.namespace, table.name))

    def on_created(self, kind: Kind, body: Manifest) -> None:
        """Records an object that the operator created, without waiting for its watch event."""
        if kind is Kind.POD:
            return self._cache.put_pod(body)
        self._cache.put(kind, body)
        return self._enqueue(self._affected(key_of(kind, body), None))

    def on_read(self, kind: Kind, body: Manifest) -> None:
        """Records what the reconcile of another object read live."""
        if kind is Kind.POD:
            return self._cache.put_pod(body)
        return self.on_event(kind, None, body)

    def on_missing(self, key: Key) -> None:
        """A live read has found no such object: its deletion was missed."""
        if key.kind is Kind.POD:
            return self._cache.drop_pod(key)
        known = self._cache.get(*key)
        return None if known is None else self.on_event(key.kind, _DELETED, known)

    def revisions(self, kind: Kind) -> Mapping[Key, Revision]:
        """Cached revisions before a LIST begins, for `on_listed`."""
        return self._cache.revisions(kind)

    def outdated(self, kind: Kind, listed: Listed, before: Mapping[Key, Revision]) -> Sequence[Key]:
        """The listed objects that the cache lacks or has in another revision, unless a watch delivered that since."""
        now = self._cache.revisions(kind)
        differing = [(key, revision) for key, revision in listed.items() if now.get(key) != revision]
        return [key for key, revision in differing if now.get(key) == before.get(key) or revision > now.get(key, _NONE)]

    def on_listed(
        self, kind: Kind, listed: Listed, bodies: Iterable[Manifest], before: Mapping[Key, Revision]
    ) -> Sequence[Key]:
        """Records a full LIST: removes missing objects, enqueues new and changed ones. Returns the unchanged ones.

        `bodies` are those of the outdated objects, or more. Runs that are not at rest are always enqueued, one after
        the other, because no list shows what happened to a Pod. Of one that is over, nothing but its ttl is left to do.
        """
        stood = self._cache.revisions(kind)
        differing = (key for key, revision in stood.items() if listed.get(key) != revision)
        known = {key: self._cache.get(*key) for key in differing}
        for ghost in self._cache.replace(kind, listed.keys(), bodies, before):
            self._enqueue(self._affected(ghost, known[ghost]))
        now = self._cache.revisions(kind)
        unchanged, restless = [], []
        for key in (key for key in listed if key in now):
            if stood.get(key) != now[key]:
                self._enqueue(self._affected(key, known.get(key)))
            elif kind is not Kind.RUN:
                unchanged.append(key)
            elif not self._cache.is_at_rest(key):
                restless.append(key)
        for number, key in enumerate(restless, start=1):
            delay = number / _RESTLESS_PACE
            if self._cache.is_over(key):
                self.enqueue_after(key, delay)
            else:
                self._queue.add_late_after(key, delay)
        return unchanged

    def enqueue_after(self, key: Key, delay: float) -> None:
        """Enqueues `key` within `delay` seconds, although no change is known and none was missed."""
        self._queue.add_after(key, delay, expected=True)

    def catalog_of(self, table: AnyTable) -> PaimonCatalog | None:
        """The catalog that `table` names, as last seen; None when there is none, or it cannot be read.

        It has the spec, and of metadata and status what `projection` keeps.
        """
        key = Key(Kind.CATALOG, table.metadata.namespace, table.spec.catalog_ref.name)
        version, known = self._cache.version(key), self._catalogs.get(key)
        if version is None:
            return None
        if known is None or known[0] != version:
            body = self._cache.get(*key)
            known = self._catalogs[key] = version, None if body is None else read(PaimonCatalog, body)
        return known[1]

    def _affected(self, key: Key, known: Manifest | None) -> set[Key]:
        """Keys whose decision may depend on the object `key`. `known` is its previous version."""
        match key.kind:
            case Kind.TABLE:
                return self._affected_by_table(key, known)
            case Kind.CATALOG:
                return self._affected_by_catalog(key, known)
            case _:
                return self._affected_by_run(key, known)

    def _affected_by_table(self, key: Key, known: Manifest | None) -> set[Key]:
        """The table, other claimants of its place, its catalog, and runs that gained or lost the right to run."""
        body = self._cache.get(*key)
        claimants = self._claim(key, body)
        # A run that the table names before it is created is reconciled once it exists.
        runs = {run for run in _affected_runs(key, known, body) if self._cache.version(run) is not None}
        return {key} | claimants | self._affected_catalogs(key, known, body) | runs

    def _affected_catalogs(self, key: Key, known: Manifest | None, body: Manifest | None) -> set[Key]:
        """Catalogs to enqueue at once. Those for which the change is not urgent are enqueued soon instead."""
        before = None if known is None else TableSummary.of(known)
        after = None if body is None else TableSummary.of(body)
        if before == after:
            return set()
        # A new object of the same name may refer to another catalog.
        catalogs = {Key(Kind.CATALOG, key.namespace, each.catalog) for each in (before, after) if each is not None}
        urgent = {each for each in catalogs if self._is_urgent(each, before, after)}
        only_runs = before is not None and after is not None and after.differs_only_by_runs(before)
        self._enqueue_soon(catalogs - urgent, _COUNTED if only_runs else _TOGETHER)
        return urgent

    def _is_urgent(self, catalog: Key, before: TableSummary | None, after: TableSummary | None) -> bool:
        """Whether the catalog has to show it at once. Of tables that it gains or loses: the first, and the last."""
        if before is None or after is None or before.catalog != after.catalog:
            return self._cache.number_of_tables(catalog) <= 1
        known = self._cache.get(*catalog) or {}
        return after.is_urgent(before, (known.get("status") or {}).get("place"))

    def _affected_by_catalog(self, key: Key, known: Manifest | None) -> set[Key]:
        """Its tables only if they depend on what changed. Its status counts them, and changes with every table.

        Not after the first success at its storage: of 10,000 tables that would make each of them decide again.
        """
        self._catalogs.pop(key, None)
        body = self._cache.get(*key)
        affected = {key} | self._affected_by_warehouse(key, body)
        if _part_for_tables(known) == _part_for_tables(body):
            return affected
        for table in self._cache.tables_of(key):
            affected |= {table} | self._claim(table, self._cache.get(*table))
        return affected

    def _affected_by_warehouse(self, key: Key, body: Manifest | None) -> set[Key]:
        """Catalogs, with their tables, whose warehouse lies in or around this one. With them this one itself."""
        catalog, index = read(PaimonCatalog, body) if body is not None else None, self._warehouses
        others = index.remove(key.namespace, key.name) if catalog is None else index.put(catalog)
        catalogs = {Key(Kind.CATALOG, namespace, name) for namespace, name in others} | ({key} if others else set())
        return catalogs.union(*(self._cache.tables_of(each) for each in catalogs))

    def _affected_by_run(self, key: Key, known: Manifest | None) -> set[Key]:
        body = self._cache.get(*key)
        tables = {table_of(each) for each in (known, body) if each is not None} - {""}
        affected = {Key(Kind.TABLE, key.namespace, table) for table in tables}
        if known is not None and (body is None or _uid(body) != _uid(known)):
            # Its Pods may have our finalizer, and their last events may have arrived before.
            affected |= {Key(Kind.POD, key.namespace, pod) for pod in _pods_of(known)}
        return affected if is_at_rest(body or known or {}) else affected | {key}

    def _affected_by_pod(self, event: str | None, body: Manifest) -> set[Key]:
        """Its run, and the Pod itself if it has our finalizer but no known run: nothing else releases it.

        A released Pod does not concern a run at rest: after each start kopf lists the Pods of all past runs.
        """
        namespace, run = body["metadata"]["namespace"], controlling_run(body)
        if run is None:
            if is_batch(body):
                return {key for key in self._on_shared_pod(event, body) if not self._cache.is_at_rest(key)}
            return _observed_catalog(event, body) or _run_awaiting_executor(event, body)
        known = self._cache.get(Kind.RUN, namespace, run)
        held = event != _DELETED and FINALIZER in (body["metadata"].get("finalizers") or ())
        orphan = held and (known is None or _uid(known) != controller_uid(body))
        key = Key(Kind.RUN, namespace, run)
        concerned = {key} if held or not self._cache.is_at_rest(key) else set()
        return concerned | ({key_of(Kind.POD, body)} if orphan else set())

    def _enqueue_soon(self, catalogs: Iterable[Key], delay: float) -> None:
        """Enqueues catalogs with a delay: tables are often created, and fail at a storage, within the same seconds."""
        for catalog in sorted(catalogs):
            self.enqueue_after(catalog, delay)

    def _claim(self, key: Key, body: Manifest | None) -> set[Key]:
        """Other claimants of the table's place, and tables that may start because it uses less."""
        affected: frozenset[ObjectKey] = frozenset()
        if body is None:
            affected = self._claims.remove(key.namespace, key.name) | self._slots.remove(key.namespace, key.name)
            self._budgets.remove(key.namespace, key.name)
        elif (table := read(TableHead, body)) is not None:
            catalog = self.catalog_of(table)
            affected = self._claims.put(table, catalog) | self._slots.put(table, catalog)
            self._budgets.put(table)
        # An object that cannot be read keeps its claim and its place: its run may be active.
        return {Key(Kind.TABLE, namespace, name) for namespace, name in affected}

    def _enqueue(self, keys: Iterable[Key]) -> None:
        for key in sorted(keys):
            self._queue.add(key)


def read(model: type[ModelT], body: Manifest) -> ModelT | None:
    """`body` as its model; None for an object of an older CRD that does not fit the model."""
    try:
        return model.model_validate(body)
    except ValidationError:
        return None


def _observed_catalog(event: str | None, body: Manifest) -> set[Key]:
    """The catalog whose observer has ended: the kubelet restarts its container, and nobody else the Pod."""
    catalog = observed_catalog(body) if _is_over(event, body) else None
    return set() if catalog is None else {Key(Kind.CATALOG, body["metadata"]["namespace"], catalog)}


def _is_over(event: str | None, pod: Manifest) -> bool:
    return event == _DELETED or (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def _run_awaiting_executor(event: str | None, body: Manifest) -> set[Key]:
    """The run whose next step may wait for the end of this executor. Only the executor's end matters."""
    run = (body["metadata"].get("labels") or {}).get(RUN_LABEL)
    if not (_is_over(event, body) and is_executor(body)) or run is None:  # every user can label a Pod
        return set()
    return {Key(Kind.RUN, body["metadata"]["namespace"], run)}


def _part_for_tables(catalog: Manifest | None) -> tuple[object, ...]:
    """The part of a catalog that decisions about tables use; empty without a readable catalog."""
    model = None if catalog is None else read(PaimonCatalog, catalog)
    if catalog is None or model is None:
        return ()
    meta: Mapping[str, Any] = catalog["metadata"]
    annotations = meta.get("annotations") or {}  # those that the cache keeps
    return meta.get("uid"), meta.get("deletionTimestamp"), annotations, reached_elsewhere(model), catalog["spec"]


def _affected_runs(key: Key, known: Manifest | None, body: Manifest | None) -> set[Key]:
    """The runs that the table's status named and names, if that changed: one may start, the other stops."""
    before, after = _named_runs(known), _named_runs(body)
    if before == after:
        return set()
    return {Key(Kind.RUN, key.namespace, run["name"]) for run in (*before, *after)}


def _named_runs(table: Manifest | None) -> list[Mapping[str, Any]]:
    """The active run, and those that share its driver Pod."""
    status: Mapping[str, Any] = (table or {}).get("status") or {}
    active = status.get("activeRun")
    return [*([active] if active else []), *(status.get("followingRuns") or ())]


def table_of(run: Manifest) -> str:
    """The name of the table that a run is for; empty when it names none."""
    return str(((run.get("spec") or {}).get("tableRef") or {}).get("name", ""))


def _pods_of(run: Manifest) -> set[str]:
    """Names of the Pods of all attempts, from the run's status."""
    attempts: Iterable[Mapping[str, Any]] = (run.get("status") or {}).get("attempts") or ()
    return {str(attempt["pod"]) for attempt in attempts if attempt.get("pod")}


def _uid(body: Manifest) -> str | None:
    uid: str | None = body["metadata"].get("uid")
    return uid
