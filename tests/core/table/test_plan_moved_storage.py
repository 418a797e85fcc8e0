"""The server of the storage changes: announced, and not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.reasons import Reason
from paimon_operator.core.catalog.plan import CatalogObserved, plan_catalog
from paimon_operator.core.commits.table_claims import claim_of
from paimon_operator.core.commits.warehouses import WarehouseIndex
from paimon_operator.core.naming import FINALIZER
from paimon_operator.core.spec.place import place_of
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


def reconciled(catalog: PaimonCatalog, *, reached: bool = True) -> PaimonCatalog:
    decision = plan_catalog(
        catalog.model_copy(update={"metadata": catalog.metadata.model_copy(update={"finalizers": (FINALIZER,)})}),
        CatalogObserved(tables=1, reached=reached),
        builders.operator_facts(),
        builders.NOW,
    )
    assert decision.status is not None
    return catalog.model_copy(update={"status": decision.status})


def world() -> TableWorld:
    """A verified table on the old server."""
    return TableWorld(catalog=reconciled(lake(OLD))).ready()


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
    before = reconciled(lake(OLD))
    edited = reconciled(lake(NEW, before))
    ready = next(each for each in edited.status.conditions if each.type == "Ready")
    assert ready.reason == Reason.INVALID_SPEC
    assert STORAGE_MOVED in ready.message
    assert edited.status.place == before.status.place

    announced = reconciled(lake(NEW, edited, **{STORAGE_MOVED: "true"}))
    assert announced.status.place != before.status.place
    assert announced.status.reached_at == before.status.reached_at
    assert reconciled(lake(NEW, announced)).status.place == announced.status.place, "the annotation may be removed"


def test_the_endpoint_of_a_catalog_that_no_run_has_reached_may_be_corrected() -> None:
    wrong = reconciled(lake(OLD), reached=False)
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
