"""When a change of a table enqueues its catalog: at once, soon and together with others, or not at all."""

from __future__ import annotations

import pytest

from paimon_operator.core.ports import Kind
from paimon_operator.runtime.keys import Key
from tests.runtime.operator_in_memory import lake, orders
from tests.runtime.routed_cluster import LAKE, ORDERS, RoutedCluster, cluster_with_a_table, stored
from tests.support.manifests import Manifest


@pytest.fixture
async def cluster() -> RoutedCluster:
    """A cluster with the catalog and one table, and an empty queue."""
    return await cluster_with_a_table()


async def test_the_first_table_of_a_catalog_enqueues_it_at_once() -> None:
    cluster = RoutedCluster()
    await cluster.on_event(Kind.CATALOG, "ADDED", stored(lake(), 1))
    assert await cluster.on_event(Kind.TABLE, "ADDED", stored(orders(), 2)) == {ORDERS, LAKE}


async def test_many_new_tables_enqueue_their_catalog_once(cluster: RoutedCluster) -> None:
    passes = 0
    for number in range(20):
        named = orders(metadata__name=f"t-{number}")
        enqueued = await cluster.on_event(Kind.TABLE, "ADDED", stored(named, 10 + number))
        assert enqueued == {Key(Kind.TABLE, "shop", f"t-{number}")}
        cluster.time.advance(0.2)
        passes += LAKE in await cluster.enqueued()
    cluster.time.advance(5)
    assert (passes, await cluster.enqueued()) == (0, {LAKE})


async def test_a_deleted_table_among_others_enqueues_its_catalog_soon(cluster: RoutedCluster) -> None:
    await cluster.on_event(Kind.TABLE, "ADDED", stored(orders(metadata__name="clicks"), 3))
    await cluster.on_event(Kind.TABLE, "ADDED", stored(orders(metadata__name="views"), 4))
    cluster.time.advance(5)
    await cluster.enqueued()
    assert await cluster.on_event(Kind.TABLE, "DELETED", stored(orders(), 2)) == {ORDERS}
    cluster.time.advance(5)
    assert await cluster.enqueued() == {LAKE}


async def test_the_last_table_that_is_deleted_enqueues_its_catalog_at_once(cluster: RoutedCluster) -> None:
    assert await cluster.on_event(Kind.TABLE, "DELETED", stored(orders(), 2)) == {ORDERS, LAKE}
    assert cluster.cache.get(*ORDERS) is None


@pytest.mark.parametrize(
    ("place", "at_once"),
    [
        pytest.param(None, True, id="the first in the catalog"),
        pytest.param("s3://lake/warehouse", False, id="in a place that others have reached"),
        pytest.param("s3://old/warehouse", True, id="the first after a move"),
    ],
)
async def test_a_table_whose_first_run_ended_enqueues_its_catalog(
    cluster: RoutedCluster, place: str | None, at_once: bool
) -> None:
    await cluster.on_event(Kind.CATALOG, "MODIFIED", stored(lake(), 3, status={"place": place}))
    status = {"ownership": {"place": "s3://lake/warehouse/shop.db/orders"}}
    assert (LAKE in await cluster.on_event(Kind.TABLE, "MODIFIED", stored(orders(), 4, status=status))) is at_once
    cluster.time.advance(5)
    assert (LAKE in await cluster.enqueued()) is not at_once


async def test_a_foreign_writer_enqueues_the_catalog_of_a_known_table_at_once(cluster: RoutedCluster) -> None:
    declared = stored(orders(spec__externalWriters="Active"), 3)
    assert await cluster.on_event(Kind.TABLE, "MODIFIED", declared) == {ORDERS, LAKE}


async def test_a_failure_at_the_storage_enqueues_the_catalog_soon_and_once_for_each_reason(
    cluster: RoutedCluster,
) -> None:
    def failing(version: int, reason: str, minute: int) -> Manifest:
        failure = {"reason": reason, "time": f"2026-11-21T08:{minute:02}:00Z"}
        return stored(orders(), version, status={"provision": {"failure": failure}})

    recovered = stored(orders(), 6, status={"provision": {}})
    first, again = failing(3, "StorageUnreachable", 1), failing(4, "StorageUnreachable", 5)
    enqueued = []
    for body in [first, again, failing(5, "BucketNotFound", 9), recovered]:
        assert await cluster.on_event(Kind.TABLE, "MODIFIED", body) == {ORDERS}
        cluster.time.advance(5)
        enqueued.append(await cluster.enqueued())
    assert enqueued == [{LAKE}, set(), {LAKE}, {LAKE}]


async def test_many_tables_that_fail_together_enqueue_their_catalog_once(cluster: RoutedCluster) -> None:
    failure = {"reason": "StorageUnreachable", "time": "2026-11-21T08:01:00Z"}
    for number in range(20):
        await cluster.on_event(Kind.TABLE, "ADDED", stored(orders(metadata__name=f"t-{number}"), 10 + number))
    times = 0
    for number in range(20):
        body = stored(orders(metadata__name=f"t-{number}"), 40 + number, status={"provision": {"failure": failure}})
        times += LAKE in await cluster.on_event(Kind.TABLE, "MODIFIED", body)
        cluster.time.advance(0.2)
        times += LAKE in await cluster.enqueued()
    cluster.time.advance(5)
    assert (times, await cluster.enqueued()) == (0, {LAKE})
