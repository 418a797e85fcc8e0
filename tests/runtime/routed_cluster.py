"""A change router on an empty cache, and its queue on a virtual clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paimon_operator.core.commits.table_claims import TableClaimIndex
from paimon_operator.core.commits.warehouses import WarehouseIndex
from paimon_operator.core.ports import Kind
from paimon_operator.core.table.budgets import Budgets
from paimon_operator.core.table.run_slots import RunSlots
from paimon_operator.runtime.cache import Cache, revisions_of
from paimon_operator.runtime.change_router import ChangeRouter
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.queue import WorkQueue
from tests.runtime.operator_in_memory import lake, orders
from tests.support.manifests import Manifest
from tests.support.virtual_time import VirtualTime

LAKE = Key(Kind.CATALOG, "shop", "lake")
ORDERS = Key(Kind.TABLE, "shop", "orders")


class RoutedCluster:
    """A change router on an empty cache, and its queue."""

    def __init__(self) -> None:
        self.time = time = VirtualTime()
        self.heartbeats: list[str] = []
        self.doubtful: list[Key] = []
        """Objects of which an event may have been lost."""
        self.queue: WorkQueue[Key] = WorkQueue(
            namespace_of=lambda key: key.namespace,
            clock=time.seconds,
            call_later=time.call_later,
            on_late=self.doubtful.append,
        )
        self.cache = Cache()
        self.router = ChangeRouter(
            self.cache,
            TableClaimIndex(),
            WarehouseIndex(),
            RunSlots(),
            self.queue,
            budgets=Budgets(),
            on_heartbeat=self.heartbeats.append,
        )

    async def enqueued(self) -> set[Key]:
        """Takes and returns every queued key."""
        keys = set()
        while self.queue.depth:
            key = await self.queue.get()
            self.queue.done(key)
            keys.add(key)
        return keys

    def on_listed(self, kind: Kind, bodies: Sequence[Manifest]) -> Sequence[Key]:
        """Records a list of whole objects."""
        return self.router.on_listed(kind, revisions_of(kind, bodies), bodies, self.router.revisions(kind))

    async def on_event(self, kind: Kind, event: str | None, body: Manifest) -> set[Key]:
        self.router.on_event(kind, event, body)
        return await self.enqueued()


async def cluster_with_a_table() -> RoutedCluster:
    """A cluster with the catalog and one table, and an empty queue."""
    cluster = RoutedCluster()
    await cluster.on_event(Kind.CATALOG, "ADDED", stored(lake(), 1))
    await cluster.on_event(Kind.TABLE, "ADDED", stored(orders(), 2))
    return cluster


def stored(manifest: Manifest, version: int, **parts: Any) -> Manifest:
    created = f"2026-11-21T08:00:{version % 60:02}Z"
    name = manifest["metadata"]["name"]
    metadata = {
        "namespace": "shop",
        "uid": f"uid-{name}",
        "resourceVersion": str(version),
        "generation": 1,
        "creationTimestamp": created,
    }
    return manifest | {"metadata": metadata | manifest["metadata"] | parts.pop("metadata", {})} | parts
