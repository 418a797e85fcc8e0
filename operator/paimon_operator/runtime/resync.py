"""The periodic list of all objects finds changes that the watches missed: kopf loses deletions between two lists.

The list has metadata alone: of an object whose revision the cache has, nothing else is of interest. Unchanged objects
are reconciled too, because a decision may depend on more than its object. They take turns at a steady pace, so that
they never delay changed objects.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

from paimon_operator.core.ports import Kind, Manifest, ObjectStore
from paimon_operator.errors import KubernetesError
from paimon_operator.runtime.cache import Revision, revisions_of
from paimon_operator.runtime.change_router import ChangeRouter
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.listed import listed

# catalogs first: a table's claim depends on its catalog
_ORDER: Final = (Kind.CATALOG, Kind.TABLE, Kind.RUN)
PACE: Final = 8.0
"""Most unchanged objects to reconcile per second. A reconcile of a settled object takes no request and three to five
milliseconds of CPU, so this is three per cent of a core. With 4,800 objects and the default period each has its turn in
each period, with 10,000 in 21 min.
"""
FEW: Final = 50
"""Most objects to read one by one. A list of whole objects has as many on a page."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _FullList:
    """All objects of one kind."""

    kind: Kind
    before: Mapping[Key, Revision]
    """The cached revisions when it began."""
    found: Mapping[Key, Revision]
    bodies: Sequence[Manifest]
    """Those of the outdated objects, or of all."""


class Resync:
    """Lists all objects periodically."""

    def __init__(
        self,
        store: ObjectStore,
        router: ChangeRouter,
        *,
        period: timedelta,
        identity: str,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        on_namespaces: Callable[[Set[str]], None] = lambda _: None,
    ) -> None:
        """`on_namespaces` is called after each list, with the namespaces of the listed objects."""
        spread = hashlib.sha256(identity.encode()).digest()[0] / 1024  # at most a quarter
        self._period = period.total_seconds()
        self._pause = self._period * (1 + spread)
        self._store, self._router, self._sleep, self._on_namespaces = store, router, sleep, on_namespaces
        self._last_turn: Key | None = None

    async def list_all(self) -> None:
        """Lists all objects whole.

        Raises KubernetesError when a list fails. No object is removed then.
        """
        self._record([await self._whole(kind) for kind in _ORDER])

    async def catch_up(self) -> None:
        """Lists the metadata of all objects, and reads those of which the cache has another revision.

        Raises KubernetesError when a request fails. No object is removed then.
        """
        self._record([await self._by_metadata(kind) for kind in _ORDER])

    def _record(self, lists: Sequence[_FullList]) -> None:
        """All lists are complete before the first key is enqueued: a claim depends on all tables."""
        unchanged = [
            key for each in lists for key in self._router.on_listed(each.kind, each.found, each.bodies, each.before)
        ]
        for key, delay in self._turns(sorted(unchanged)):
            self._router.enqueue_after(key, delay)
        self._on_namespaces({key.namespace for each in lists for key in each.found})

    async def _whole(self, kind: Kind) -> _FullList:
        """All objects of a kind, each with the fields that the cache keeps."""
        before = self._router.revisions(kind)
        bodies = await self._store.list(kind, None, keep=partial(listed, kind))
        return _FullList(kind, before, revisions_of(kind, bodies), bodies)

    async def _by_metadata(self, kind: Kind) -> _FullList:
        """All objects of a kind, with the bodies of those that are outdated."""
        before = self._router.revisions(kind)
        found = revisions_of(kind, await self._store.list_metadata(kind))
        outdated = self._router.outdated(kind, found, before)
        if len(outdated) > FEW:
            return await self._whole(kind)
        bodies = [body for key in outdated if (body := await self._store.get(*key)) is not None]
        for key in outdated:
            del found[key]  # what has gone since the list is missing
        return _FullList(kind, before, found | revisions_of(kind, bodies), bodies)

    def _turns(self, keys: Sequence[Key]) -> Sequence[tuple[Key, float]]:
        """The unchanged objects to reconcile in this period, each with its delay in seconds, in rotation."""
        start = bisect_right(keys, self._last_turn) if self._last_turn is not None else 0
        round_robin = [*keys[start:], *keys[:start]][: max(1, int(PACE * self._period))]
        self._last_turn = round_robin[-1] if round_robin else None
        return [(key, number * self._period / len(round_robin)) for number, key in enumerate(round_robin, start=1)]

    async def repeat(self) -> None:
        """Repeats the list until cancelled. A failed list is logged."""
        while True:
            await self._sleep(self._pause)
            try:
                await self.catch_up()
            except KubernetesError as error:
                _log.warning("resync failed, the next one repeats it: %s", error)
