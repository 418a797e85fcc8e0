"""Objects as last delivered by the watches: of each the fields that decisions about other objects read, and of those
that changed lately the whole object. `reads` states what must be read live instead.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.core.spec.size import packed
from paimon_operator.runtime.bodies import LIMIT_OF_PODS, Bodies
from paimon_operator.runtime.keys import Key, key_of
from paimon_operator.runtime.listed import whole_of
from paimon_operator.runtime.object_facts import ObjectFacts, facts_of
from paimon_operator.runtime.projection import projected
from paimon_operator.runtime.rest import is_at_rest, is_over

KEPT: Final = (Kind.TABLE, Kind.CATALOG, Kind.RUN)
"""The kinds of which the cache keeps every object."""
DELIVERED: Final = (*KEPT, Kind.POD)
"""The kinds that watches deliver. Pods are kept as long as there is space."""


class Revision(NamedTuple):
    """One version of one object."""

    version: int
    uid: str


@dataclass(frozen=True, slots=True)
class _Entry:
    """One cached object."""

    revision: Revision
    parent: Key | None
    document: bytes
    """The kept fields as JSON: dictionaries take five to twenty times that memory. It refers to no part of the
    delivered object."""
    facts: ObjectFacts
    """What metrics show of it."""
    at_rest: bool
    """A run that needs no further reconcile."""


class Cache:
    """The kept fields of the last delivered objects of the cached kinds."""

    def __init__(self) -> None:
        self._bodies, self._pods = Bodies(), Bodies(LIMIT_OF_PODS)
        self._objects: dict[Key, _Entry] = {}
        self._of_kind: dict[Kind, set[Key]] = defaultdict(set)
        self._tables_in: Counter[str] = Counter()
        self._children: dict[Key, set[Key]] = defaultdict(set)

    def put(self, kind: Kind, body: Manifest) -> None:
        """Stores `body` unless a newer version is cached: a watch may be later than the response to our own write.

        Versions also decide between two objects of one name.
        """
        key = key_of(kind, body)
        known = self._objects.get(key)
        if known is None or revision_of(body).version >= known.revision.version:
            self._store(key, body)

    def drop(self, kind: Kind, body: Manifest) -> None:
        """Removes a deleted object; `body` is its last version. A younger object of the same name stays."""
        key, gone = key_of(kind, body), revision_of(body)
        known = self._objects.get(key)
        if known is not None and (known.revision.uid == gone.uid or known.revision.version <= gone.version):
            self._forget(key)

    def revisions(self, kind: Kind) -> dict[Key, Revision]:
        """The cached revisions, for `replace` with a LIST that begins after this call."""
        return {key: self._objects[key].revision for key in self._of_kind[kind]}

    def replace(
        self, kind: Kind, listed: Collection[Key], bodies: Iterable[Manifest], before: Mapping[Key, Revision]
    ) -> set[Key]:
        """Replaces the cache by a full LIST, even by older versions (a restored etcd). Returns the removed objects.

        `bodies` are those of the listed objects that are not cached in their listed revision, or more. What a watch
        delivered after `before` stays: the LIST may be older.
        """
        unchanged = {key for key, revision in self.revisions(kind).items() if before.get(key) == revision}
        ghosts = unchanged.difference(listed)
        for key in ghosts:
            self._forget(key)
        for body in bodies:
            key = key_of(kind, body)
            if key not in unchanged:
                self.put(kind, body)
            elif before[key] != revision_of(body):
                self._store(key, body)
        return ghosts

    def get(self, kind: Kind, namespace: str, name: str) -> Manifest | None:
        """The kept fields of the object as last delivered."""
        known = self._objects.get(Key(kind, namespace, name))
        if known is None:
            return None
        document: dict[str, Any] = json.loads(known.document)
        return document

    def whole(self, kind: Kind, namespace: str, name: str) -> Manifest | None:
        """The whole object as last delivered. None: it is not kept, which does not mean that there is none."""
        return (self._pods if kind is Kind.POD else self._bodies).get(Key(kind, namespace, name))

    def put_pod(self, body: Manifest) -> None:
        """Stores a Pod, of which nothing but the whole is kept, and that only as long as there is space."""
        self._pods.put(key_of(Kind.POD, body), revision_of(body).version, whole_of(body))

    def drop_pod(self, pod: Key) -> None:
        """Removes a Pod that does not exist."""
        self._pods.drop(pod)

    def version(self, key: Key) -> int | None:
        """The cached version of an object."""
        if key.kind is Kind.POD:
            return self._pods.version(key)
        known = self._objects.get(key)
        return None if known is None else known.revision.version

    def keys(self, kind: Kind) -> Sequence[Key]:
        """All cached keys of a kind, sorted."""
        return sorted(self._of_kind[kind])

    def facts(self, kind: Kind) -> Iterator[tuple[Key, ObjectFacts]]:
        """What metrics show of each object of a kind, in no order."""
        return ((key, self._objects[key].facts) for key in self._of_kind[kind])

    def is_at_rest(self, run: Key) -> bool:
        """Whether a cached run needs no further reconcile."""
        known = self._objects.get(run)
        return known is not None and known.at_rest

    def is_over(self, run: Key) -> bool:
        """Whether a cached run has ended and is released. With a ttl, its deletion is still to come."""
        known = self.get(*run)
        return known is not None and is_over(known)

    def has_conditions(self, key: Key) -> bool:
        """Whether a cached object has conditions: it has been reconciled once."""
        known = self._objects.get(key)
        return known is not None and bool(known.facts.conditions.all)

    def has_tables_beside(self, namespace: str) -> bool:
        """Whether there is a table in another namespace."""
        return len(self._tables_in) > (namespace in self._tables_in)

    def tables_of(self, catalog: Key) -> Sequence[Key]:
        """Tables that name this catalog, sorted."""
        return sorted(self._children.get(catalog, ()))

    def number_of_tables(self, catalog: Key) -> int:
        """How many tables name this catalog."""
        return len(self._children.get(catalog, ()))

    def runs_of(self, table: Key) -> Sequence[Key]:
        """Runs that name this table, sorted."""
        return sorted(self._children.get(table, ()))

    def _store(self, key: Key, body: Manifest) -> None:
        self._forget(key)
        kept, parent, revision = projected(key.kind, body), _parent(key, body), revision_of(body)
        at_rest = key.kind is Kind.RUN and is_at_rest(body)
        self._objects[key] = _Entry(revision, parent, packed(kept), facts_of(key.kind, body), at_rest)
        self._bodies.put(key, revision.version, whole_of(body))
        self._of_kind[key.kind].add(key)
        self._tables_in.update([key.namespace] if key.kind is Kind.TABLE else ())
        if parent is not None:
            self._children[parent].add(key)

    def _forget(self, key: Key) -> None:
        known = self._objects.pop(key, None)
        if known is None:
            return
        self._bodies.drop(key)
        self._of_kind[key.kind].discard(key)
        self._count_without(key)
        if known.parent is not None:
            self._children[known.parent].discard(key)
            if not self._children[known.parent]:
                del self._children[known.parent]

    def _count_without(self, key: Key) -> None:
        if key.kind is not Kind.TABLE:
            return
        self._tables_in[key.namespace] -= 1
        if not self._tables_in[key.namespace]:
            del self._tables_in[key.namespace]


def _parent(key: Key, body: Manifest) -> Key | None:
    """What an object refers to: a table its catalog, a run its table."""
    spec: Mapping[str, Any] = body.get("spec") or {}
    match key.kind:
        case Kind.TABLE:
            return Key(Kind.CATALOG, key.namespace, (spec.get("catalogRef") or {}).get("name", ""))
        case Kind.RUN:
            return Key(Kind.TABLE, key.namespace, (spec.get("tableRef") or {}).get("name", ""))
        case _:
            return None


def revisions_of(kind: Kind, bodies: Iterable[Manifest]) -> dict[Key, Revision]:
    """The revision of each of these objects."""
    return {key_of(kind, body): revision_of(body) for body in bodies}


def revision_of(body: Manifest) -> Revision:
    """resourceVersions of one kind are numbers that grow; Kubernetes documents them as comparable since 1.35."""
    text = str(body["metadata"].get("resourceVersion", "0"))
    return Revision(int(text) if text.isdigit() else 0, str(body["metadata"].get("uid", "")))
