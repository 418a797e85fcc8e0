"""What a change means: which objects have to be looked at again. Fed by the watches and by the resync's lists.

Nothing here reads from the API server or can fail; an object that cannot be read as its model is looked at all the
same, and its reconciler tells the user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self, TypeVar

from pydantic import ValidationError

from paimon_operator.api.base import ApiModel
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import Phase
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core.catalog.reachability import unreachable_storage_of
from paimon_operator.core.commits.foreign_commits import ForeignWriters, foreign_writers_of
from paimon_operator.core.commits.table_claims import ObjectKey, TableClaimIndex
from paimon_operator.core.naming import FINALIZER, RUN_LABEL, controller_uid, controlling_run, is_executor
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.runtime.cache import Cache
from paimon_operator.runtime.keys import Key, key_of
from paimon_operator.runtime.queue import WorkQueue

_DELETED: Final = "DELETED"
_TOGETHER: Final = 5.0
"""Seconds in which failures of the tables of one catalog are gathered."""
_OVER: Final = (Phase.SUCCEEDED, Phase.FAILED)
ModelT = TypeVar("ModelT", bound=ApiModel)


@dataclass(frozen=True, slots=True)
class TableSummary:
    """What a catalog's status tells of its tables; a change of it wakes the catalog."""

    catalog: str
    reached: bool
    foreign_writers: ForeignWriters
    unreachable_storage: Reason | None
    """Without the time: a table that fails again for the same reason is no news to its catalog."""

    @classmethod
    def of(cls, body: Manifest) -> Self:
        """From a table as the API server stores it."""
        spec: Mapping[str, Any] = body.get("spec") or {}
        failing = unreachable_storage_of(body)
        return cls(
            catalog=(spec.get("catalogRef") or {}).get("name", ""),
            reached="lastTime" in ((body.get("status") or {}).get("provision") or {}),
            foreign_writers=foreign_writers_of(body),
            unreachable_storage=failing.reason if failing else None,
        )

    @property
    def but_for_failures(self) -> tuple[str, bool, ForeignWriters]:
        """What its catalog hears of at once."""
        return self.catalog, self.reached, self.foreign_writers


class ChangeRouter:
    """Keeps cache and claims up to date and puts keys in line. `on_canary` is told of each canary that was seen."""

    def __init__(
        self, cache: Cache, claims: TableClaimIndex, queue: WorkQueue[Key], *, on_heartbeat: Callable[[str], None]
    ) -> None:
        self._cache, self._claims, self._queue = cache, claims, queue
        self._on_canary = on_heartbeat

    def seen(self, kind: Kind, event: str | None, body: Manifest) -> None:
        """One watch event; `event` is None for an object of a list."""
        if kind is Kind.POD:
            return self._wake(self._concerned_by_pod(event, body))
        key = key_of(kind, body)
        known = self._cache.get(*key)
        if event != _DELETED and known is not None and _version(known) == _version(body):
            # A version that is known was looked at: our own write that comes back, or one more list of kopf's.
            return None
        if event == _DELETED:
            self._cache.drop(kind, body)
        else:
            self._cache.put(kind, body)
        self._wake(self._concerned(key, known))
        return None

    def canary_seen(self, namespace: str) -> None:
        self._on_canary(namespace)

    def stored(self, kind: Kind, body: Manifest) -> None:
        """What a look at the object read or wrote; the cache must not trail behind. Wakes the others it concerns."""
        key = key_of(kind, body)
        known = self._cache.get(*key)
        if kind is Kind.TABLE:  # only a look at the object itself knows what became of its start
            self._claims.confirm(key.namespace, key.name)
        if known is not None and _version(known) == _version(body):
            if kind is Kind.TABLE:  # a start that could not be stored has left a claim that says busy
                self._wake(self._claim(key, known))
            return
        self._cache.put(kind, body)
        self._wake(other for other in self._concerned(key, known) if other != key)

    def created(self, kind: Kind, body: Manifest) -> None:
        """An object that we just made: as good as a watch event, which would come later and be known then."""
        self._cache.put(kind, body)
        self._wake(self._concerned(key_of(kind, body), None))

    def versions(self, kind: Kind) -> Mapping[Key, int]:
        """What is known before a LIST begins, for `listed`."""
        return self._cache.versions(kind)

    def listed(self, kind: Kind, bodies: Sequence[Manifest], before: Mapping[Key, int]) -> Sequence[Key]:
        """A full LIST: ghosts go, and what is new or changed is looked at. Returns the rest, for `later`.

        Runs that go on are looked at in any case: what became of a Pod is in no list.
        """
        known = {key: self._cache.get(*key) for key in self._cache.keys(kind)}
        for ghost in self._cache.replace(kind, bodies, before):
            self._wake(self._concerned(ghost, known[ghost]))
        unchanged = []
        for body in bodies:
            key = key_of(kind, body)
            if self._is_news(key, known.get(key)):
                self._wake(self._concerned(key, known.get(key)))
            elif kind is not Kind.RUN:
                unchanged.append(key)
            elif not _at_rest(body):
                self._wake({key})
        return unchanged

    def later(self, key: Key, delay: float) -> None:
        """A look at `key` within `delay` seconds, though nothing is known to have changed."""
        self._queue.add_after(key, delay)

    def _is_news(self, key: Key, known: Manifest | None) -> bool:
        body = self._cache.get(*key)
        return known is None or body is None or _version(known) != _version(body)

    def catalog_of(self, table: PaimonTable) -> PaimonCatalog | None:
        """The catalog that `table` names, as last seen; None when there is none, or it cannot be read."""
        body = self._cache.get(Kind.CATALOG, table.metadata.namespace, table.spec.catalog_ref.name)
        return read(PaimonCatalog, body) if body is not None else None

    def _concerned(self, key: Key, known: Manifest | None) -> set[Key]:
        """Everything whose decision may depend on the object `key`, which `known` was until now."""
        match key.kind:
            case Kind.TABLE:
                return self._concerned_by_table(key, known)
            case Kind.CATALOG:
                return self._concerned_by_catalog(key, known)
            case _:
                return self._concerned_by_run(key, known)

    def _concerned_by_table(self, key: Key, known: Manifest | None) -> set[Key]:
        """The table, other claimants of its place, its catalog, and the runs that gained or lost their right to run."""
        body = self._cache.get(*key)
        claimants = self._claim(key, body)
        return {key} | claimants | self._catalogs_concerned(key, known, body) | _runs_concerned(key, known, body)

    def _catalogs_concerned(self, key: Key, known: Manifest | None, body: Manifest | None) -> set[Key]:
        """Catalogs to reconcile at once; those for which only the table's failures changed are delayed and gathered."""
        before = None if known is None else TableSummary.of(known)
        after = None if body is None else TableSummary.of(body)
        # a successor of the same name may name another catalog
        catalogs = {Key(Kind.CATALOG, key.namespace, each.catalog) for each in (before, after) if each is not None}
        if before is None or after is None or before.but_for_failures != after.but_for_failures:
            return catalogs
        if before != after:
            self._soon(catalogs)
        return set()

    def _concerned_by_catalog(self, key: Key, known: Manifest | None) -> set[Key]:
        """Its tables only if they depend on what changed: its status counts them, and changes with every table."""
        body = self._cache.get(*key)
        concerned = {key}
        if _for_tables(known) == _for_tables(body):
            return concerned
        for table in self._cache.tables_of(key):
            concerned |= {table} | self._claim(table, self._cache.get(*table))
        return concerned

    def _concerned_by_run(self, key: Key, known: Manifest | None) -> set[Key]:
        body = self._cache.get(*key)
        tables = {table_of(each) for each in (known, body) if each is not None} - {""}
        concerned = {Key(Kind.TABLE, key.namespace, table) for table in tables}
        if known is not None and (body is None or _uid(body) != _uid(known)):
            # Its Pods may be held, with nobody left to let them go; the events that would tell may have come before.
            concerned |= {Key(Kind.POD, key.namespace, pod) for pod in _pods_of(known)}
        return concerned if _at_rest(body or known or {}) else concerned | {key}

    def _concerned_by_pod(self, event: str | None, body: Manifest) -> set[Key]:
        """Its run, and the Pod itself if it is held and its run is not known: nobody else would let it go."""
        namespace, run = body["metadata"]["namespace"], controlling_run(body)
        if run is None:
            return _waiting_for_executor(event, body)
        known = self._cache.get(Kind.RUN, namespace, run)
        held = event != _DELETED and FINALIZER in (body["metadata"].get("finalizers") or ())
        orphan = held and (known is None or _uid(known) != controller_uid(body))
        return {Key(Kind.RUN, namespace, run)} | ({key_of(Kind.POD, body)} if orphan else set())

    def _soon(self, catalogs: Iterable[Key]) -> None:
        """When a storage goes, or comes back, all its tables say so within seconds: one look counts many of them."""
        for catalog in sorted(catalogs):
            self.later(catalog, _TOGETHER)

    def _claim(self, key: Key, body: Manifest | None) -> set[Key]:
        affected: frozenset[ObjectKey] = frozenset()
        if body is None:
            affected = self._claims.remove(key.namespace, key.name)
        elif (table := read(PaimonTable, body)) is not None:
            affected = self._claims.put(table, self.catalog_of(table))
        # an object that cannot be read keeps its claim: its run may be at work
        return {Key(Kind.TABLE, namespace, name) for namespace, name in affected}

    def _wake(self, keys: Iterable[Key]) -> None:
        for key in sorted(keys):
            self._queue.add(key)


def read(model: type[ModelT], body: Manifest) -> ModelT | None:
    """`body` as its model; None for an object that an older CRD let in and this model does not know."""
    try:
        return model.model_validate(body)
    except ValidationError:
        return None


def _waiting_for_executor(event: str | None, body: Manifest) -> set[Key]:
    """The run whose next step may wait for the end of this executor; its starts and its work concern nobody."""
    over_ = event == _DELETED or (body.get("status") or {}).get("phase") in ("Succeeded", "Failed")
    run = (body["metadata"].get("labels") or {}).get(RUN_LABEL)
    if not (over_ and is_executor(body)) or run is None:  # anybody may label a Pod
        return set()
    return {Key(Kind.RUN, body["metadata"]["namespace"], run)}


def _for_tables(catalog: Manifest | None) -> tuple[object, ...]:
    """All that a table's decision takes from its catalog, or from there being none that can be read."""
    if catalog is None or read(PaimonCatalog, catalog) is None:
        return ()
    meta: Mapping[str, Any] = catalog["metadata"]
    return meta.get("uid"), meta.get("deletionTimestamp"), catalog["spec"]


def _runs_concerned(key: Key, known: Manifest | None, body: Manifest | None) -> set[Key]:
    """The runs that status.activeRun named and names, if it changed: one may start, the other must stop."""
    before, after = _active_run(known), _active_run(body)
    if before == after:
        return set()
    return {Key(Kind.RUN, key.namespace, run["name"]) for run in (before, after) if run}


def _active_run(table: Manifest | None) -> Mapping[str, Any]:
    return ((table or {}).get("status") or {}).get("activeRun") or {}


def table_of(run: Manifest) -> str:
    """The name of the table that a run is for; empty when it names none."""
    return str(((run.get("spec") or {}).get("tableRef") or {}).get("name", ""))


def _pods_of(run: Manifest) -> set[str]:
    """Names of the Pods of all its attempts, as written down."""
    attempts: Iterable[Mapping[str, Any]] = (run.get("status") or {}).get("attempts") or ()
    return {str(attempt["pod"]) for attempt in attempts if attempt.get("pod")}


def over(run: Manifest) -> bool:
    """Whether nothing is left to do for a run itself: it has ended, and its finalizer is gone."""
    return (run.get("status") or {}).get("phase") in _OVER and not run["metadata"].get("finalizers")


def _at_rest(run: Manifest) -> bool:
    """Whether nobody has to look at a run any more: it is over, and not to be deleted after a while."""
    return over(run) and "ttlAfterFinished" not in run["spec"]


def _uid(body: Manifest) -> str | None:
    uid: str | None = body["metadata"].get("uid")
    return uid


def _version(body: Manifest) -> str:
    return str(body["metadata"].get("resourceVersion"))
