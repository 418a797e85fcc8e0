"""The periodic look at everything finds what the watches missed: kopf loses deletions between two lists."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

from paimon_operator.core.ports import Kind, ObjectStore
from paimon_operator.errors import KubernetesError
from paimon_operator.runtime.notices import Notices

# catalogs first: a table's claim is worked out from its catalog
_ORDER: Final = (Kind.CATALOG, Kind.TABLE, Kind.RUN)
_log = logging.getLogger(__name__)


class Resync:
    """Lists everything, now and then."""

    def __init__(
        self,
        store: ObjectStore,
        notices: Notices,
        *,
        period: timedelta,
        identity: str,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        spread = hashlib.sha256(identity.encode()).digest()[0] / 1024  # at most a quarter
        self._pause = period.total_seconds() * (1 + spread)
        self._store, self._notices, self._sleep = store, notices, sleep

    async def look(self) -> None:
        """One full look. All lists come before the first key: a claim needs the whole picture.

        Raises KubernetesError when a list fails; nothing is known to be gone then.
        """
        lists = [(kind, self._notices.versions(kind), await self._store.list(kind, None)) for kind in _ORDER]
        for kind, before, bodies in lists:
            self._notices.listed(kind, bodies, before)

    async def repeat(self) -> None:
        """For ever. A list that fails is left to the next time."""
        while True:
            await self._sleep(self._pause)
            try:
                await self.look()
            except KubernetesError as error:
                _log.warning("resync failed, the next one makes it good: %s", error)
