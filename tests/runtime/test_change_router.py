"""The keys that each change enqueues. The event of our own write enqueues nothing."""

from __future__ import annotations

import pytest

from paimon_operator.api.base import API_VERSION
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.core.naming import FINALIZER, RUN_LABEL
from paimon_operator.core.ports import Kind
from paimon_operator.core.spec.place import place_of_warehouse
from paimon_operator.core.validation.catalog import STORAGE_MOVED
from paimon_operator.runtime.keys import Key
from tests.runtime.operator_in_memory import lake, orders
from tests.runtime.routed_cluster import LAKE, ORDERS, RoutedCluster, cluster_with_a_table, stored
from tests.support.manifests import Manifest, run

AGAIN = Key(Kind.TABLE, "shop", "orders-again")
RUN = Key(Kind.RUN, "shop", "orders-compact-by-hand")


@pytest.fixture
async def cluster() -> RoutedCluster:
    """A cluster with the catalog and one table, and an empty queue."""
    return await cluster_with_a_table()


def pod(owner: Manifest) -> Manifest:
    return {"metadata": {"namespace": "shop", "name": "p", "ownerReferences": [owner]}}


async def test_an_edit_enqueues_the_table_only(cluster: RoutedCluster) -> None:
    assert await cluster.on_event(Kind.TABLE, "MODIFIED", stored(orders(spec__suspend=True), 3)) == {ORDERS}


@pytest.mark.parametrize("event", [None, "ADDED", "MODIFIED"])
async def test_a_known_version_enqueues_nothing(cluster: RoutedCluster, event: str | None) -> None:
    assert await cluster.on_event(Kind.TABLE, event, stored(orders(), 2)) == set()


async def test_a_table_whose_active_run_changes_enqueues_both_runs(cluster: RoutedCluster) -> None:
    cluster.cache.put(Kind.RUN, stored(run(metadata__name="a"), 2))
    first = stored(orders(), 3, status={"activeRun": {"name": "a", "type": "Provision", "trigger": "Spec"}})
    assert await cluster.on_event(Kind.TABLE, "MODIFIED", first) == {ORDERS, Key(Kind.RUN, "shop", "a")}
    known = stored(orders(), 4, status={"activeRun": {"name": "a", "uid": "u", "type": "Provision", "trigger": "Spec"}})
    assert Key(Kind.RUN, "shop", "a") in await cluster.on_event(Kind.TABLE, "MODIFIED", known)
    gone = stored(orders(), 5, status={})
    assert Key(Kind.RUN, "shop", "a") in await cluster.on_event(Kind.TABLE, "MODIFIED", gone)


async def test_a_run_that_the_table_names_before_it_is_created_is_not_enqueued(cluster: RoutedCluster) -> None:
    named = stored(orders(), 3, status={"activeRun": {"name": "a", "type": "Provision", "trigger": "Spec"}})
    assert await cluster.on_event(Kind.TABLE, "MODIFIED", named) == {ORDERS}


async def test_a_catalog_enqueues_itself_and_all_its_tables(cluster: RoutedCluster) -> None:
    await cluster.on_event(Kind.TABLE, "ADDED", stored(orders(metadata__name="clicks"), 3))
    enqueued = await cluster.on_event(Kind.CATALOG, "MODIFIED", stored(lake(spec__suspend=True), 4))
    assert enqueued == {LAKE, ORDERS, Key(Kind.TABLE, "shop", "clicks")}


async def test_a_released_table_claim_enqueues_the_next_claimant(cluster: RoutedCluster) -> None:
    await cluster.on_event(Kind.TABLE, "ADDED", stored(orders(metadata__name="orders-again", spec__table="orders"), 3))
    owned = {"provision": {"lastTime": "2026-11-21T08:00:00Z"}}
    await cluster.on_event(Kind.TABLE, "MODIFIED", stored(orders(), 4, status=owned))
    assert AGAIN in await cluster.on_event(Kind.TABLE, "DELETED", stored(orders(), 5))


async def test_a_late_deletion_of_a_predecessor_keeps_the_successors_table_claim(cluster: RoutedCluster) -> None:
    successor = stored(orders(), 9, metadata={"uid": "another"})
    await cluster.on_event(Kind.TABLE, "ADDED", stored(orders(metadata__name="orders-again", spec__table="orders"), 10))
    cluster.router.on_stored(Kind.TABLE, successor)
    await cluster.enqueued()
    assert AGAIN not in await cluster.on_event(Kind.TABLE, "DELETED", stored(orders(), 5)), (
        "the successor lost its table claim"
    )
    known = cluster.cache.get(*ORDERS)
    assert known is not None
    assert known["metadata"]["uid"] == "another"


async def test_a_successor_with_other_references_enqueues_those_of_its_predecessor_too(cluster: RoutedCluster) -> None:
    moved = orders(spec__catalogRef={"name": "pond"})
    enqueued = await cluster.on_event(Kind.TABLE, "ADDED", stored(moved, 3, metadata={"uid": "another"}))
    assert enqueued == {ORDERS, LAKE, Key(Kind.CATALOG, "shop", "pond")}
    await cluster.on_event(Kind.RUN, "ADDED", stored(run(), 4))
    other = stored(run(spec__tableRef={"name": "clicks"}), 5, metadata={"uid": "another"})
    assert await cluster.on_event(Kind.RUN, "ADDED", other) == {RUN, ORDERS, Key(Kind.TABLE, "shop", "clicks")}


async def test_a_run_enqueues_itself_and_its_table(cluster: RoutedCluster) -> None:
    assert await cluster.on_event(Kind.RUN, "ADDED", stored(run(), 3)) == {RUN, ORDERS}


FINISHED = [
    ({"phase": "Succeeded"}, [], False),
    ({"phase": "Failed"}, [], False),
    ({"phase": "Succeeded"}, ["paimon-operator.dev/finalizer"], True),
    ({"phase": "Running"}, [], True),
    ({"phase": "Unknown"}, [], True),
    ({}, [], True),
]


@pytest.mark.parametrize(("status", "finalizers", "is_enqueued"), FINISHED)
async def test_a_finished_run_enqueues_its_table_and_not_itself(
    cluster: RoutedCluster, status: Manifest, finalizers: list[str], is_enqueued: bool
) -> None:
    body = stored(run(), 3, status=status, metadata={"finalizers": finalizers})
    enqueued = await cluster.on_event(Kind.RUN, "MODIFIED", body)
    assert ORDERS in enqueued
    assert (RUN in enqueued) == is_enqueued


async def test_a_finished_run_with_a_ttl_is_enqueued_by_every_list(
    cluster: RoutedCluster,
) -> None:
    finished = {"status": {"phase": "Succeeded"}, "metadata": {"finalizers": []}}
    body = stored(run(spec__ttlAfterFinished="1h"), 3, **finished)
    cluster.on_listed(Kind.RUN, [body])
    assert RUN in await cluster.enqueued()
    cluster.on_listed(Kind.RUN, [body])
    cluster.time.advance(1)
    assert RUN in await cluster.enqueued(), "a resync did not enqueue the run"


async def test_a_deleted_or_replaced_run_enqueues_its_pods_for_their_release(
    cluster: RoutedCluster,
) -> None:
    attempts = [{"number": number, "state": "Ended", "pod": f"p-{number}"} for number in (1, 2)]
    pods = {Key(Kind.POD, "shop", "p-1"), Key(Kind.POD, "shop", "p-2")}
    known = stored(run(), 3, status={"attempts": attempts})
    assert await cluster.on_event(Kind.RUN, "ADDED", known) == {RUN, ORDERS}
    assert (
        await cluster.on_event(Kind.RUN, "MODIFIED", stored(run(), 4, metadata={"uid": "other"}))
        == {RUN, ORDERS} | pods
    )
    await cluster.on_event(
        Kind.RUN, "MODIFIED", stored(run(), 5, metadata={"uid": "other"}, status={"attempts": attempts})
    )
    gone = stored(run(), 6, metadata={"uid": "other"}, status={"attempts": attempts})
    assert await cluster.on_event(Kind.RUN, "DELETED", gone) == {RUN, ORDERS} | pods


RUN_OWNER = {"apiVersion": "paimon-operator.dev/v1alpha1", "kind": "PaimonRun", "name": "r", "controller": True}
OWNERS = [
    ("its run", RUN_OWNER, {Key(Kind.RUN, "shop", "r")}),
    ("a run that does not control it", RUN_OWNER | {"controller": False}, set()),
    ("a Job", RUN_OWNER | {"apiVersion": "batch/v1", "kind": "Job"}, set()),
    ("a namesake of another group", RUN_OWNER | {"apiVersion": "other.dev/v1"}, set()),
]


@pytest.mark.parametrize(("owner", "enqueued"), [case[1:] for case in OWNERS], ids=[case[0] for case in OWNERS])
async def test_a_pod_enqueues_the_run_that_controls_it(
    cluster: RoutedCluster, owner: Manifest, enqueued: set[Key]
) -> None:
    assert await cluster.on_event(Kind.POD, "MODIFIED", pod(owner)) == enqueued


@pytest.mark.parametrize(
    ("sentence", "phase", "finalizers", "enqueued"),
    [
        ("its run is active", "Running", [], {RUN}),
        ("its run is at rest, and it is released", "Succeeded", [], set()),
        ("its run is at rest, and it waits for its release", "Succeeded", [FINALIZER], {RUN}),
    ],
)
async def test_the_pods_that_a_list_has_of_past_runs_enqueue_nothing(
    cluster: RoutedCluster, sentence: str, phase: str, finalizers: list[str], enqueued: set[Key]
) -> None:
    """Each would cost a request at every start: of a run that is over, the cache does not have the whole."""
    cluster.cache.put(Kind.RUN, stored(run(), 2, status={"phase": phase}))
    owner = {"apiVersion": API_VERSION, "kind": "PaimonRun", "name": RUN.name, "controller": True}
    uid = (cluster.cache.get(*RUN) or {})["metadata"]["uid"]
    body = pod({**owner, "uid": uid})
    held = {**body, "metadata": {**body["metadata"], "finalizers": finalizers}}
    assert await cluster.on_event(Kind.POD, None, held) == enqueued, sentence


async def test_a_pod_without_an_owner_enqueues_nothing(cluster: RoutedCluster) -> None:
    assert await cluster.on_event(Kind.POD, "ADDED", {"metadata": {"namespace": "shop", "name": "p"}}) == set()


EXECUTORS: list[tuple[str, Manifest, set[Key]]] = [
    ("with the label of a run", {"paimon-operator.dev/role": "executor", RUN_LABEL: "r"}, {Key(Kind.RUN, "shop", "r")}),
    ("without the label of a run", {"paimon-operator.dev/role": "executor"}, set()),
    ("without the label of an executor", {RUN_LABEL: "r"}, set()),
]


@pytest.mark.parametrize(("labels", "enqueued"), [case[1:] for case in EXECUTORS], ids=[case[0] for case in EXECUTORS])
async def test_the_end_of_an_executor_enqueues_the_run_in_its_label(
    cluster: RoutedCluster, labels: Manifest, enqueued: set[Key]
) -> None:
    body = {"metadata": {"namespace": "shop", "name": "p", "labels": labels}, "status": {"phase": "Failed"}}
    assert await cluster.on_event(Kind.POD, "MODIFIED", body) == enqueued


async def test_our_own_write_enqueues_the_other_objects_and_not_the_written_one(cluster: RoutedCluster) -> None:
    cluster.cache.put(Kind.RUN, stored(run(metadata__name="a"), 2))
    body = stored(orders(), 3, status={"activeRun": {"name": "a", "type": "Provision", "trigger": "Spec"}})
    cluster.router.on_stored(Kind.TABLE, body)
    assert await cluster.enqueued() == {Key(Kind.RUN, "shop", "a")}
    assert await cluster.on_event(Kind.TABLE, "MODIFIED", body) == set(), "the event of our own write"


async def test_a_created_object_enqueues_itself_because_its_event_is_ignored(cluster: RoutedCluster) -> None:
    body = stored(run(), 3)
    cluster.router.on_created(Kind.RUN, body)
    assert await cluster.enqueued() == {RUN, ORDERS}
    assert await cluster.on_event(Kind.RUN, "ADDED", body) == set()


async def test_a_list_enqueues_new_changed_and_deleted_objects_and_returns_the_others(
    cluster: RoutedCluster,
) -> None:
    for number, name in enumerate(["gone", "edited"], start=3):
        await cluster.on_event(Kind.TABLE, "ADDED", stored(orders(metadata__name=name), number))
    bodies = [stored(orders(), 2), stored(orders(metadata__name="edited"), 7), stored(orders(metadata__name="new"), 8)]
    assert cluster.on_listed(Kind.TABLE, bodies) == [ORDERS]
    assert await cluster.enqueued() == {Key(Kind.TABLE, "shop", name) for name in ("gone", "edited", "new")}
    cluster.time.advance(5)
    assert await cluster.enqueued() == {LAKE}


@pytest.mark.parametrize(("status", "finalizers", "is_enqueued"), FINISHED)
async def test_a_list_enqueues_unchanged_unfinished_runs_because_it_has_no_pods(
    cluster: RoutedCluster, status: Manifest, finalizers: list[str], is_enqueued: bool
) -> None:
    body = stored(run(), 3, status=status, metadata={"finalizers": finalizers})
    await cluster.on_event(Kind.RUN, "ADDED", body)
    assert cluster.on_listed(Kind.RUN, [body]) == []
    cluster.time.advance(1)
    assert await cluster.enqueued() == ({RUN} if is_enqueued else set())


async def test_a_list_enqueues_unfinished_runs_one_after_the_other(cluster: RoutedCluster) -> None:
    bodies = [stored(run(metadata__name=f"r-{number}"), number + 2) for number in range(60)]
    for body in bodies:
        await cluster.on_event(Kind.RUN, "ADDED", body)
    cluster.on_listed(Kind.RUN, bodies)
    assert len(set(cluster.doubtful)) == 60, "also a reconcile before its turn reads the Pod live"
    enqueued = []
    for _ in range(3):
        cluster.time.advance(1)
        enqueued.append(len(await cluster.enqueued()))
    assert enqueued == [20, 20, 20]


def reached_as(place: str) -> Manifest:
    """The catalog after a run has reached its warehouse as `place`."""
    return stored(lake(), 4, status={"place": place, "reachedAt": "2026-11-21T08:00:00Z"})


PLACE = place_of_warehouse(PaimonCatalog.model_validate(stored(lake(), 4)))
CATALOGS: list[tuple[str, Manifest, bool]] = [
    ("its status", stored(lake(), 4, status={"tables": 2}), False),
    ("its first success at the storage", reached_as(PLACE), False),
    ("a success elsewhere", reached_as("minio/lake/elsewhere"), True),
    ("a label", stored(lake(), 4, metadata={"labels": {"team": "shop"}}), False),
    ("an annotation", stored(lake(), 4, metadata={"annotations": {"team": "shop"}}), False),
    ("the announcement of a move", stored(lake(), 4, metadata={"annotations": {STORAGE_MOVED: "true"}}), True),
    ("its manifest", stored(lake(spec__engine="paimon-0.9"), 4), True),
    ("an invalid manifest", stored(lake(), 4, spec={"warehouse": 7}), True),
    ("its deletion", stored(lake(), 4, metadata={"deletionTimestamp": "2026-11-21T08:00:00Z"}), True),
    ("its recreation", stored(lake(), 4, metadata={"uid": "another"}), True),
]


@pytest.mark.parametrize(("body", "enqueued"), [case[1:] for case in CATALOGS], ids=[case[0] for case in CATALOGS])
async def test_a_catalog_enqueues_its_tables_only_for_changes_that_they_read(
    cluster: RoutedCluster, body: Manifest, enqueued: bool
) -> None:
    cluster.router.on_stored(Kind.CATALOG, body)
    assert await cluster.enqueued() == ({ORDERS} if enqueued else set())


async def test_of_a_catalog_in_the_warehouse_of_another_the_first_success_concerns_the_tables_of_both(
    cluster: RoutedCluster,
) -> None:
    pond = lake(metadata__name="pond", spec__warehouse="s3://lake/warehouse/pond")
    await cluster.on_event(Kind.CATALOG, "ADDED", stored(pond, 5))
    of_pond = orders(metadata__name="of-pond", spec__catalogRef={"name": "pond"})
    await cluster.on_event(Kind.TABLE, "ADDED", stored(of_pond, 6))
    cluster.router.on_stored(Kind.CATALOG, reached_as(PLACE))
    tables = {key for key in await cluster.enqueued() if key.kind is Kind.TABLE}
    assert tables == {ORDERS, Key(Kind.TABLE, "shop", "of-pond")}


async def test_what_an_ended_run_has_used_is_counted_by_the_catalog_within_a_minute(cluster: RoutedCluster) -> None:
    for runs in (1, 2):
        used = stored(orders(), 3 + runs, status={"usage": {"runs": runs, "failed": 0, "podSeconds": 7 * runs}})
        assert await cluster.on_event(Kind.TABLE, "MODIFIED", used) == {ORDERS}
        cluster.time.advance(30)
    assert await cluster.enqueued() == {LAKE}, "of runs that end together one pass counts all"


@pytest.mark.parametrize("kind", [Kind.CATALOG, Kind.TABLE, Kind.RUN])
async def test_a_reconcile_without_a_change_enqueues_nothing(cluster: RoutedCluster, kind: Kind) -> None:
    body = {Kind.CATALOG: stored(lake(), 1), Kind.TABLE: stored(orders(), 2), Kind.RUN: stored(run(), 3)}[kind]
    await cluster.on_event(kind, "ADDED", body)
    cluster.router.on_stored(kind, body)
    assert await cluster.enqueued() == set()


async def test_an_invalid_object_is_enqueued(cluster: RoutedCluster) -> None:
    broken = stored(orders(spec__bucket={"type": "Round"}), 3)
    assert ORDERS in await cluster.on_event(Kind.TABLE, "MODIFIED", broken)
    assert Key(Kind.TABLE, "shop", "odd") in await cluster.on_event(
        Kind.TABLE, "ADDED", {"metadata": {"namespace": "shop", "name": "odd"}}
    )


async def test_a_heartbeat_is_passed_on(cluster: RoutedCluster) -> None:
    cluster.router.on_heartbeat("shop")
    assert cluster.heartbeats == ["shop"]
