"""Reads of objects: what the watches delivered last, without a request, or live.

The cache may be late, but never takes a step back: a version that the API server has answered is in it at once. So a
decision may rest on it where being late does no harm:

* A status and finalizers are written at the resourceVersion that was read. A decision from an older one is refused. The
  decision to skip a tick again writes nothing, so it stays: the next tick is decided by what has come until then.
* What has ended stays so: the phase of a run that has ended, a container that has terminated, a removed finalizer.
* A create has a name that follows from the decision, and a delete names a UID.

Everything else is read live. This is the whole list, with what is read before what, and why:

* An object counts as missing: the object. The cache never proves that something does not exist.
* A driver Pod is created, or a turn begins: the table, the Pods of its other runs, and the run unless the same decision
  stores its status. Two drivers must never run. Of shared Pods only the metadata: the jobs in one never change.
* An object is created or deleted for a table without a write of its status before that: the table and all its runs. No
  resourceVersion guards it.
* The finalizer of a table is removed: the table and all its runs. Its driver must have ended.
* The finalizer of a run is removed: its executors, and its Pod unless that is known to have ended.
* Anything, after an error: the object and what it depends on. The outcome of a write may be unknown.
* A create is answered that its name exists: the object of this name, which must be ours.
* A Pod has our finalizer and no known run: the Pod and its run, always. Nothing else would release it.
* A catalog has an observer, or shall have one: the list of the observer's Pods, because the cache may have dropped one.
* Anything, when a timer has fired: of a run the run, its Pod and its table, of a table the runs that its status names.
  A watch may have lost an event.
"""

from __future__ import annotations

from enum import Enum, auto

from paimon_operator.core.ports import Kind, Manifest, ObjectStore
from paimon_operator.runtime.cache import Cache
from paimon_operator.runtime.change_router import ChangeRouter
from paimon_operator.runtime.keys import Key


class Doubt(Enum):
    """Why the next reconcile of an object does not rely on the cache."""

    NONE = auto()
    LATE = auto()
    """A timer has fired: no event came since, and one may have been lost."""
    FAILED = auto()
    """The last reconcile ended with an error."""


class Doubts:
    """The objects whose next reconcile reads live."""

    def __init__(self) -> None:
        self._doubts: dict[Key, Doubt] = {}

    def late(self, key: Key) -> None:
        """A timer of the object has fired."""
        self._doubts.setdefault(key, Doubt.LATE)

    def failed(self, key: Key) -> None:
        """A reconcile of the object ended with an error."""
        self._doubts[key] = Doubt.FAILED

    def take(self, key: Key) -> Doubt:
        """The doubt about the object, once."""
        return self._doubts.pop(key, Doubt.NONE)


class Reads:
    """Reads for the reconcilers. Every method raises what `ObjectStore.get` raises."""

    def __init__(self, store: ObjectStore, cache: Cache, router: ChangeRouter) -> None:
        self._store, self._cache, self._router = store, cache, router

    async def own(self, key: Key, *, live: bool) -> Manifest | None:
        """The object that is reconciled. The caller passes it to the router."""
        known = None if live else self._cache.whole(*key)
        return known if known is not None else await self._live(key)

    async def other(self, kind: Kind, namespace: str, name: str, *, live: bool = False) -> Manifest | None:
        """Another object. One that is newer than in the cache is reconciled too."""
        key = Key(kind, namespace, name)
        known = None if live else self._cache.whole(*key)
        if known is not None:
            return known
        before = self._cache.version(key)
        body = await self._live(key)
        was_deleted = before is not None and self._cache.version(key) is None
        if body is not None and not was_deleted:
            self._router.on_read(kind, body)
        return body

    async def _live(self, key: Key) -> Manifest | None:
        """The object on the API server. A missing one leaves the cache, unless it was created meanwhile."""
        before = self._cache.version(key)
        body = await self._store.get(*key)
        if body is None and before is not None and self._cache.version(key) == before:
            self._router.on_missing(key)
        return body
