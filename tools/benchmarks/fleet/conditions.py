"""When the tables of a namespace get their conditions. A watch tells it: reads in a loop would load the API server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from kubernetes.aio.client import CustomObjectsApi
from kubernetes.aio.watch import Watch

from paimon_operator.api.base import GROUP, VERSION
from paimon_operator.core.naming import PLURALS
from paimon_operator.core.ports import Kind, Manifest
from tests.apiserver.connected import Connected


class Conditions:
    """The tables of a namespace that have conditions, as its watch reports them."""

    def __init__(self) -> None:
        self._tables: dict[str, Manifest] = {}
        self._news = asyncio.Condition()

    @classmethod
    @asynccontextmanager
    async def watched(cls, api: Connected, namespace: str) -> AsyncIterator[Conditions]:
        """The conditions of the tables while the block lasts."""
        conditions = cls()
        watching = asyncio.create_task(conditions._watch(api, namespace), name="watch")
        try:
            yield conditions
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching

    async def table_with(self, name: str, patience_s: float) -> Manifest:
        """The table as soon as it has conditions. Raises TimeoutError if it does not get them."""
        async with asyncio.timeout(patience_s), self._news:
            await self._news.wait_for(lambda: name in self._tables)
            return self._tables.pop(name)

    async def _watch(self, api: Connected, namespace: str) -> None:
        tables = CustomObjectsApi(api.client).list_namespaced_custom_object
        async with Watch() as watch:  # type: ignore[no-untyped-call]  # not annotated
            async for event in watch.stream(tables, GROUP, VERSION, namespace, PLURALS[Kind.TABLE]):
                table = event["raw_object"]
                if has_conditions(table):
                    async with self._news:
                        self._tables[table["metadata"]["name"]] = table
                        self._news.notify_all()


def has_conditions(table: Manifest) -> bool:
    """Whether the operator has written the status of the table."""
    return bool((table.get("status") or {}).get("conditions"))
