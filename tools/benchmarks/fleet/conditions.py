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

    def __init__(self, api: Connected, namespace: str) -> None:
        self._tables: dict[str, Manifest] = {}
        self._news = asyncio.Condition()
        self._watching = asyncio.create_task(self._watch(api, namespace), name="watch")

    @classmethod
    @asynccontextmanager
    async def watched(cls, api: Connected, namespace: str) -> AsyncIterator[Conditions]:
        """The conditions of the tables while the block lasts."""
        conditions = cls(api, namespace)
        try:
            yield conditions
        finally:
            conditions._watching.cancel()
            with suppress(asyncio.CancelledError):
                await conditions._watching

    async def table_with(self, name: str, patience_s: float) -> Manifest:
        """The table as soon as it has conditions. Raises TimeoutError if it gets none, and the error of the watch."""
        arrival = asyncio.create_task(self._arrival(name))
        await asyncio.wait({arrival, self._watching}, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
        if arrival.done():
            return arrival.result()
        arrival.cancel()
        if self._watching.done():
            self._watching.result()
        raise TimeoutError(f"table {name} has no conditions")

    async def _arrival(self, name: str) -> Manifest:
        async with self._news:
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
