"""The objects as last delivered by the watches, trimmed. Used to find keys and other objects.

A decision about an object reads that object live.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.runtime.keys import Key, key_of

KEPT: Final = (Kind.TABLE, Kind.CATALOG, Kind.RUN)
"""The kinds whose objects are cached. Events of Pods only enqueue their runs."""
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def trimmed(body: Manifest) -> dict[str, Any]:
    """`body` without managedFields and kubectl's copy of the manifest, which are often larger than the rest."""
    meta: dict[str, Any] = {key: value for key, value in body["metadata"].items() if key != "managedFields"}
    if _LAST_APPLIED in (meta.get("annotations") or {}):
        meta["annotations"] = {key: text for key, text in meta["annotations"].items() if key != _LAST_APPLIED}
    return {**body, "metadata": meta}


class Cache:
    """The last delivered objects of the cached kinds."""

    def __init__(self) -> None:
        self._objects: dict[Key, dict[str, Any]] = {}
        self._of_kind: dict[Kind, set[Key]] = defaultdict(set)
        self._children: dict[Key, set[Key]] = defaultdict(set)

    def put(self, kind: Kind, body: Manifest) -> None:
        """Stores `body` unless a newer version is cached: a watch may be later than the response to our own write.

        Versions also decide between two objects of one name.
        """
        key = key_of(kind, body)
        known = self._objects.get(key)
        if known is None or _version(body) >= _version(known):
            self._store(key, body)

    def drop(self, kind: Kind, body: Manifest) -> None:
        """Removes a deleted object; `body` is its last version. A younger object of the same name stays."""
        key = key_of(kind, body)
        known = self._objects.get(key)
        if known is not None and (_uid(known) == _uid(body) or _version(known) <= _version(body)):
            self._forget(key)

    def versions(self, kind: Kind) -> dict[Key, int]:
        """The cached versions, for `replace` with a LIST that begins after this call."""
        return {key: _version(self._objects[key]) for key in self._of_kind[kind]}

    def replace(self, kind: Kind, bodies: Sequence[Manifest], before: Mapping[Key, int]) -> dict[Key, Manifest]:
        """Replaces the cache by a full LIST, even by older versions (a restored etcd). Returns the removed objects.

        What a watch delivered after `before` stays: the LIST may be older.
        """
        listed = {key_of(kind, body): body for body in bodies}
        unchanged = {key for key, version in self.versions(kind).items() if before.get(key) == version}
        ghosts: dict[Key, Manifest] = {key: self._objects[key] for key in unchanged - listed.keys()}
        for key in ghosts:
            self._forget(key)
        for key, body in listed.items():
            if key in unchanged:
                self._store(key, body)
            else:
                self.put(kind, body)
        return ghosts

    def get(self, kind: Kind, namespace: str, name: str) -> Manifest | None:
        """The object as last delivered."""
        return self._objects.get(Key(kind, namespace, name))

    def keys(self, kind: Kind) -> Sequence[Key]:
        """All cached keys of a kind, sorted."""
        return sorted(self._of_kind[kind])

    def tables_of(self, catalog: Key) -> Sequence[Key]:
        """Tables that name this catalog, sorted."""
        return sorted(self._children.get(catalog, ()))

    def runs_of(self, table: Key) -> Sequence[Key]:
        """Runs that name this table, sorted."""
        return sorted(self._children.get(table, ()))

    def _store(self, key: Key, body: Manifest) -> None:
        self._forget(key)
        self._objects[key] = trimmed(body)
        self._of_kind[key.kind].add(key)
        if parent := _parent(key, body):
            self._children[parent].add(key)

    def _forget(self, key: Key) -> None:
        body = self._objects.pop(key, None)
        if body is None:
            return
        self._of_kind[key.kind].discard(key)
        if parent := _parent(key, body):
            self._children[parent].discard(key)
            if not self._children[parent]:
                del self._children[parent]


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


def _uid(body: Manifest) -> str:
    return str(body["metadata"].get("uid", ""))


def _version(body: Manifest) -> int:
    """resourceVersions of one kind are numbers that grow; Kubernetes documents them as comparable since 1.35."""
    text = str(body["metadata"].get("resourceVersion", "0"))
    return int(text) if text.isdigit() else 0
