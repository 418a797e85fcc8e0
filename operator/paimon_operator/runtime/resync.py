"""The periodic list of all objects finds changes that the watches missed: kopf loses deletions between two lists.

Unchanged objects are reconciled too, because a decision may depend on more than its object. They take turns at a steady
pace, so that their requests never delay those for changed objects.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Final

from paimon_operator.core.ports import Kind, Manifest, ObjectStore
from paimon_operator.errors import KubernetesError
from paimon_operator.runtime.change_router import ChangeRouter
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.listed import listed

# catalogs first: a table's claim depends on its catalog
_ORDER: Final = (Kind.CATALOG, Kind.TABLE, Kind.RUN)
PACE: Final = 2.0
"""Most unchanged objects to reconcile per second. A reconcile costs two or three requests, so this is a few per cent of
the default request rate. With 1200 objects and the default period each has its turn in each period, with 10,000 in
83 min.
"""
_log = logging.getLogger(__name__)


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
    ) -> None:
        spread = hashlib.sha256(identity.encode()).digest()[0] / 1024  # at most a quarter
        self._period = period.total_seconds()
        self._pause = self._period * (1 + spread)
        self._store, self._router, self._sleep = store, router, sleep
        self._last_turn: Key | None = None

    async def list_all(self) -> None:
        """Lists all objects. All lists are complete before the first key is enqueued: a claim depends on all tables.

        Raises KubernetesError when a list fails. No object is removed then.
        """
        lists = [(kind, self._router.versions(kind), await self._list(kind)) for kind in _ORDER]
        unchanged = [key for kind, before, bodies in lists for key in self._router.on_listed(kind, bodies, before)]
        for key, delay in self._turns(sorted(unchanged)):
            self._router.enqueue_after(key, delay)

    async def _list(self, kind: Kind) -> Sequence[Manifest]:
        """All objects of a kind, each with the fields that the cache keeps."""
        return await self._store.list(kind, None, keep=partial(listed, kind))

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
                await self.list_all()
            except KubernetesError as error:
                _log.warning("resync failed, the next one repeats it: %s", error)
