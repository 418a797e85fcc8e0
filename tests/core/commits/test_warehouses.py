"""Warehouses of different catalogs that lie inside one another."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from paimon_operator.api.catalog.spec import CatalogStatus, PaimonCatalog
from paimon_operator.core.commits.warehouses import WarehouseIndex
from tests.support import builders


def catalog(
    name: str, warehouse: str, *, reached: int | None = 0, namespace: str = "shop", endpoint: str | None = None
) -> PaimonCatalog:
    """A catalog whose storage was reached `reached` minutes after the first; None: never."""
    at: datetime | None = None if reached is None else builders.NOW + timedelta(minutes=reached)
    server = {} if endpoint is None else {"endpoint": endpoint}
    made = builders.catalog(
        name, namespace, warehouse=warehouse, storage={"s3": {"region": "r"} | server}, locations=[]
    )
    return made.model_copy(update={"status": CatalogStatus(reached_at=at)})


def stopped_by(mine: PaimonCatalog, *others: PaimonCatalog) -> str | None:
    index = WarehouseIndex()
    for each in (*others, mine):
        index.put(each)
    found = index.overlap(mine)
    return None if found is None else found.name


@pytest.mark.parametrize(
    ("sentence", "mine", "other", "stopped"),
    [
        ("inside a warehouse that was reached first", "s3://lake/a/b", "s3://lake/a", True),
        ("around it", "s3://lake/a", "s3://lake/a/b/c", True),
        ("one and the same warehouse", "s3://lake/a", "s3://lake/a", False),
        ("beside it", "s3://lake/a2", "s3://lake/a", False),
        ("in another bucket", "s3://pond/a/b", "s3://lake/a", False),
    ],
)
def test_the_catalog_that_was_reached_later_is_stopped(sentence: str, mine: str, other: str, stopped: bool) -> None:
    name = stopped_by(catalog("mine", mine, reached=5), catalog("other", other))
    assert name == ("other" if stopped else None), sentence


def test_a_catalog_that_no_run_has_reached_stops_nobody() -> None:
    assert stopped_by(catalog("mine", "s3://lake/a/b"), catalog("other", "s3://lake/a", reached=None)) is None
    assert stopped_by(catalog("mine", "s3://lake/a/b", reached=None), catalog("other", "s3://lake/a")) == "other"


def test_warehouses_on_two_servers_do_not_overlap() -> None:
    mine = catalog("mine", "s3://lake/a/b", reached=5, endpoint="https://one:9000")
    assert stopped_by(mine, catalog("other", "s3://lake/a", endpoint="https://two:9000")) is None


def test_only_the_catalogs_that_overlap_are_affected_by_a_change() -> None:
    index = WarehouseIndex()
    inner, outer, beside = (
        catalog(name, f"s3://lake/{path}") for name, path in (("inner", "a/b"), ("outer", "a"), ("beside", "c"))
    )
    assert index.put(outer) == index.put(beside) == frozenset()
    assert index.put(inner) == {("shop", "outer")}
    assert index.put(inner) == frozenset()
    assert index.remove("shop", "outer") == {("shop", "inner")}
    assert index.overlap(inner) is None
    assert index.remove("shop", "outer") == frozenset()


def test_the_name_of_a_catalog_is_told_in_its_own_namespace_only() -> None:
    index, mine = WarehouseIndex(), catalog("mine", "s3://lake/a/b", reached=5)
    index.put(catalog("secret", "s3://lake/a", namespace="rival"))
    found = index.overlap(mine)
    assert found
    assert found.name_for("shop") == "a PaimonCatalog of another namespace"
    assert found.name_for("rival") == "PaimonCatalog secret"
