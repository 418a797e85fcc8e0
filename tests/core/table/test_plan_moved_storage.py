"""The server of the storage changes: announced, and not."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.reasons import Reason
from paimon_operator.core.catalog.plan import CatalogObserved, plan_catalog
from paimon_operator.core.commits.table_claims import claim_of
from paimon_operator.core.commits.warehouses import WarehouseIndex
from paimon_operator.core.naming import FINALIZER
from paimon_operator.core.spec.place import place_of, place_of_warehouse
from paimon_operator.core.validation.catalog import STORAGE_MOVED
from tests.support import builders
from tests.support.table_world import TableWorld

OLD, NEW = "https://old.example.com:9000", "https://new.example.com:9000"


def lake(endpoint: str, before: PaimonCatalog | None = None, **annotations: str) -> PaimonCatalog:
    """The catalog after an edit, with the status that it had before."""
    made = builders.catalog(storage={"s3": {"region": "r", "endpoint": endpoint}})
    status = made.status if before is None else before.status
    metadata = made.metadata.model_copy(update={"annotations": annotations})
    return made.model_copy(update={"metadata": metadata, "status": status})


def reconciled(catalog: PaimonCatalog, *endpoints: str, now: datetime = builders.NOW) -> PaimonCatalog:
    """The catalog after a reconcile, with tables that runs have established on the servers of `endpoints`."""
    decision = plan_catalog(
        catalog.model_copy(update={"metadata": catalog.metadata.model_copy(update={"finalizers": (FINALIZER,)})}),
        CatalogObserved(tables=1, warehouses=frozenset(place_of_warehouse(lake(each)) for each in endpoints)),
        builders.operator_facts(),
        now,
    )
    assert decision.status is not None
    return catalog.model_copy(update={"status": decision.status})


def world() -> TableWorld:
    """A verified table on the old server."""
    return TableWorld(catalog=reconciled(lake(OLD), OLD)).ready()


def test_a_verified_table_records_where_and_since_when_it_is_owned() -> None:
    seen = world()
    assert seen.catalog is not None
    owned = seen.table.status.ownership
    assert owned is not None
    assert owned.place == place_of(seen.table, seen.catalog)
    assert owned.place.startswith("old.example.com:9000:s3://")
    first = owned.since
    seen.edit(options={"read.batch-size": "2048"})
    seen.settle()
    seen.finish()
    assert seen.table.status.ownership is not None
    assert seen.table.status.ownership.since == first, "the first proof counts"


def test_an_edited_endpoint_stops_the_catalog_until_the_move_is_announced() -> None:
    before = reconciled(lake(OLD), OLD)
    edited = reconciled(lake(NEW, before), OLD)
    ready = next(each for each in edited.status.conditions if each.type == "Ready")
    assert ready.reason == Reason.INVALID_SPEC
    assert STORAGE_MOVED in ready.message
    assert edited.status.place == before.status.place

    announced = reconciled(lake(NEW, edited, **{STORAGE_MOVED: "true"}), OLD)
    assert [each.status for each in announced.status.conditions if each.type == "Stalled"] == ["False"]


def test_an_announced_move_counts_as_reached_once_a_run_was_there() -> None:
    before, later = reconciled(lake(OLD), OLD), builders.NOW + timedelta(days=1)
    announced = reconciled(lake(NEW, before, **{STORAGE_MOVED: "true"}), OLD, now=later)
    assert announced.status.place == before.status.place
    ready = next(each for each in announced.status.conditions if each.type == "Ready")
    assert (ready.status, ready.reason) == ("Unknown", Reason.STORAGE_UNVERIFIED)
    withdrawn = reconciled(lake(NEW, announced), OLD, now=later)
    assert "True" in {each.status for each in withdrawn.status.conditions if each.type == "Stalled"}

    arrived = reconciled(lake(NEW, announced, **{STORAGE_MOVED: "true"}), OLD, NEW, now=later)
    assert arrived.status.place == place_of_warehouse(lake(NEW))
    assert arrived.status.reached_at == later
    assert reconciled(lake(NEW, arrived), NEW).status.place == arrived.status.place, "the annotation may be removed"


def test_a_move_to_the_server_of_another_catalog_does_not_bring_an_earlier_claim_to_its_warehouse() -> None:
    """Whoever has reached a warehouse of the same name on a server of their own stops nobody on another server."""
    old = reconciled(lake(OLD), OLD)
    moved = lake(NEW, old, **{STORAGE_MOVED: "true"})
    index = WarehouseIndex()
    index.put(moved.model_copy(update={"metadata": moved.metadata.model_copy(update={"namespace": "rival"})}))
    inner = builders.catalog(
        "inner", warehouse="s3://lake/warehouse/inner", storage={"s3": {"region": "r", "endpoint": NEW}}
    )
    assert index.overlap(inner) is None


def test_a_time_in_the_future_at_which_a_warehouse_was_reached_counts_as_now() -> None:
    seen = reconciled(lake(OLD), OLD, now=builders.NOW + timedelta(days=365))
    assert reconciled(lake(OLD, seen), OLD).status.reached_at == builders.NOW


def test_the_endpoint_of_a_catalog_that_no_run_has_reached_may_be_corrected() -> None:
    wrong = reconciled(lake(OLD))
    assert wrong.status.place is None
    corrected = reconciled(lake(NEW, wrong)).status
    assert ("Stalled", "False") in {(str(each.type), str(each.status)) for each in corrected.conditions}


def test_an_unannounced_move_starts_nothing() -> None:
    seen = world()
    seen.catalog = lake(NEW, seen.catalog)
    seen.settle()
    assert seen.says("Stalled") == ("True", Reason.CATALOG_INVALID)
    assert len(seen.created) == 1


def test_after_an_announced_move_the_table_is_verified_before_anything_else() -> None:
    seen = world()
    seen.catalog = lake(NEW, seen.catalog, **{STORAGE_MOVED: "true"})
    seen.settle()
    assert [run.spec.type for run in seen.created] == ["Provision", "Provision"]
    before = seen.table.status.ownership
    seen.finish(created=False)
    seen.settle()
    after = seen.table.status.ownership
    assert before
    assert after
    assert (before.place, after.place) == tuple(place_of(seen.table, lake(url)) for url in (OLD, NEW))
    assert len(seen.created) == 2


def test_two_tables_with_one_bucket_name_on_two_servers_are_two_places() -> None:
    table = builders.table()
    here, there = claim_of(table, lake(OLD)), claim_of(table, lake(NEW))
    assert here
    assert there
    assert here.place != there.place


@pytest.mark.parametrize("namespace", ["shop", "rival"])
def test_a_table_whose_warehouse_overlaps_an_older_one_is_stalled(namespace: str) -> None:
    seen = TableWorld()
    index = WarehouseIndex()
    other = builders.catalog("other", namespace, locations=[], warehouse="s3://lake/warehouse/inner")
    index.put(other.model_copy(update={"status": other.status.model_copy(update={"reached_at": builders.NOW})}))
    seen.observed = replace(seen.observed, overlap=index.overlap(seen.catalog))
    seen.settle()
    assert seen.says("Stalled") == ("True", Reason.WAREHOUSE_OVERLAPS)
    assert ("PaimonCatalog other" in seen.condition("Stalled").message) is (namespace == "shop")
    assert seen.created == []
