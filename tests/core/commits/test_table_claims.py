"""The table claim: which of several objects may manage one physical table."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.run.status import RunTrigger
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import ActiveRun, ProvisionState, TableStatus
from paimon_operator.core.commits.table_claims import TableClaimIndex, claim_of
from paimon_operator.core.spec.identity import inside, normalised
from tests.support import builders

LAKE = builders.catalog()


def table(name: str, *, age: int = 0, busy: bool = False, namespace: str = "shop", **spec: Any) -> PaimonTable:
    """A table object for shop.orders; a greater `age` is older."""
    run = ActiveRun(name="r", type="Compact", trigger=RunTrigger.SCHEDULE) if busy else None
    created = builders.CREATED - timedelta(seconds=age)
    return builders.table(
        name,
        namespace,
        metadata={"creationTimestamp": created},
        status=TableStatus(active_run=run),
        **{"table": "orders"} | spec,
    )


def index(*tables: PaimonTable) -> TableClaimIndex:
    claims = TableClaimIndex()
    for each in tables:
        claims.put(each, LAKE)
    return claims


def test_the_oldest_object_holds_the_table() -> None:
    old, young = table("old", age=5), table("young")
    claims = index(young, old)
    assert claims.holder(old, LAKE) is None
    holder = claims.holder(young, LAKE)
    assert holder is not None
    assert holder.key == ("shop", "old")


def test_one_path_on_the_volume_claims_of_two_namespaces_is_two_places() -> None:
    def on_a_claim(namespace: str) -> PaimonCatalog:
        storage = {"claim": {"name": "disk"}}
        return builders.catalog(namespace=namespace, warehouse="file:///data/lake", storage=storage, locations=[])

    here, there = (claim_of(table("t", namespace=each), on_a_claim(each)) for each in ("shop", "web"))
    assert here
    assert there
    assert here.place != there.place


def test_the_uid_decides_between_objects_of_the_same_second() -> None:
    first, second = table("a"), table("b")
    assert index(first, second).holder(first, LAKE) is None
    assert index(second, first).holder(second, LAKE) is not None


def test_a_new_object_of_the_same_second_does_not_take_the_claim_of_a_table_that_was_ready() -> None:
    verified = TableStatus(provision=ProvisionState(last_time=builders.NOW))
    newcomer, proven = table("a"), table("b").model_copy(update={"status": verified})
    claims = index(proven, newcomer)
    assert claims.holder(proven, LAKE) is None
    assert claims.holder(newcomer, LAKE) is not None


@pytest.mark.parametrize(
    ("sentence", "other", "same"),
    [
        ("another table", {"table": "customers"}, False),
        ("another database", {"database": "finance"}, False),
        ("another case of the name is another directory", {"table": "Orders"}, False),
        ("another object name, the same table", {}, True),
    ],
)
def test_the_location_decides_whether_two_objects_have_the_same_table(
    sentence: str, other: dict[str, Any], same: bool
) -> None:
    mine, others = table("mine", age=1), table("others", **other)
    assert (index(mine, others).holder(others, LAKE) is not None) is same, sentence


def test_the_name_with_hyphens_and_the_name_with_underscores_are_one_table() -> None:
    by_object, by_spec = builders.table("web-orders"), builders.table("other", table="web_orders")
    a, b = claim_of(by_object, LAKE), claim_of(by_spec, LAKE)
    assert a is not None
    assert b is not None
    assert a.place == b.place


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("s3://lake/warehouse", "s3://lake/warehouse/", True),
        ("s3://lake/warehouse", "s3a://lake//warehouse", True),
        ("S3://Lake/warehouse", "s3://lake/./warehouse", True),
        ("s3://lake/warehouse", "s3://lake/Warehouse", False),
        ("s3://lake/a", "s3://lake/b", False),
        ("s3://lake/a", "s3://pond/a", False),
    ],
)
def test_warehouses_are_compared_after_normalisation(one: str, other: str, same: bool) -> None:
    assert (normalised(one) == normalised(other)) is same


@pytest.mark.parametrize(
    ("uri", "directory", "expected"),
    [
        ("s3://lake/warehouse/x", "s3://lake/warehouse", True),
        ("s3://lake/warehouse", "s3://lake/warehouse/", True),
        ("s3://lake/warehouse2", "s3://lake/warehouse", False),
        ("s3://lake", "s3://lake/warehouse", False),
        ("s3://lake/warehouse", "s3://lake/", True),
    ],
)
def test_a_uri_is_inside_a_directory(uri: str, directory: str, expected: bool) -> None:
    assert inside(uri, directory) is expected


def test_two_catalogs_with_the_same_warehouse_in_two_namespaces_have_the_same_table() -> None:
    claims = TableClaimIndex()
    elsewhere = builders.catalog(namespace="other", warehouse="s3://lake/warehouse")
    claims.put(table("mine", age=1), LAKE)
    claims.put(table("theirs", namespace="other"), elsewhere)
    assert claims.holder(table("theirs", namespace="other"), elsewhere) is not None


def test_an_object_with_an_active_run_holds_the_claim_before_an_older_one() -> None:
    """An edit of its catalog moved the older object to this table later. One table never has two runs."""
    old, young = table("old", age=5), table("young", busy=True)
    claims = index(young, old)
    assert claims.holder(young, LAKE) is None
    assert claims.holder(old, LAKE) is not None


def test_the_end_of_the_run_affects_the_older_object() -> None:
    old, young = table("old", age=5), table("young", busy=True)
    claims = index(young, old)
    assert claims.put(table("young"), LAKE) == {("shop", "old")}
    assert claims.holder(old, LAKE) is None


def test_the_removal_of_the_holder_affects_the_others() -> None:
    claims = index(table("old", age=5), table("young"), table("younger"))
    assert claims.remove("shop", "old") == {("shop", "young"), ("shop", "younger")}
    assert claims.remove("shop", "younger") == frozenset()
    assert claims.remove("shop", "never-seen") == frozenset()


def test_an_unchanged_object_affects_no_other_object() -> None:
    claims = index(table("old", age=5), table("young"))
    assert claims.put(table("young"), LAKE) == frozenset()


def test_a_table_without_its_catalog_loses_its_claim() -> None:
    claims = index(table("old", age=5), table("young"))
    assert claims.put(table("old", age=5), None) == {("shop", "young")}
    assert claims.holder(table("old", age=5), None) is None
    assert claims.holder(table("young"), LAKE) is None


def test_an_object_outside_the_index_has_the_holder_that_it_would_have_inside() -> None:
    claims = index(table("young", age=1))
    assert claims.holder(table("old", age=5), LAKE) is None
    assert claims.holder(table("newer"), LAKE) is not None


def test_a_reserved_start_survives_older_observations_until_it_is_confirmed() -> None:
    old, young = table("old", age=5), table("young")
    claims = index(young)
    claims.reserve(table("young", busy=True), LAKE)
    claims.put(young, LAKE)
    claims.put(old, LAKE)
    assert claims.holder(old, LAKE) is not None
    claims.confirm("shop", "young")
    assert claims.put(young, LAKE) == {("shop", "old")}
    assert claims.holder(old, LAKE) is None


def test_an_active_run_keeps_its_claim_without_its_catalog_or_with_another_warehouse_until_it_ends() -> None:
    pond, other = builders.catalog(warehouse="s3://pond/warehouse"), table("other", age=5)
    claims = index(table("mine", busy=True), other)
    for catalog in (None, pond):
        claims.put(table("mine", busy=True), catalog)
        assert claims.holder(other, LAKE) is not None
    claims.put(table("mine"), pond)
    assert claims.holder(other, LAKE) is None


def test_of_two_objects_with_a_run_the_one_whose_run_may_have_a_pod_holds_the_claim() -> None:
    run = ActiveRun(name="r", uid="u", type="Compact", trigger=RunTrigger.SCHEDULE)
    launched = table("young").model_copy(update={"status": TableStatus(active_run=run)})
    named = table("old", age=5, busy=True)
    claims = index(named, launched)
    assert claims.holder(launched, LAKE) is None
    assert claims.holder(named, LAKE) is not None


CLAIMS = st.tuples(st.sampled_from("abcd"), st.integers(0, 3), st.booleans(), st.sampled_from(["t1", "t2"]))


@given(st.lists(CLAIMS | st.sampled_from("abcd"), max_size=20))
def test_after_any_history_each_table_has_exactly_one_holder(history: list[Any]) -> None:
    claims = TableClaimIndex()
    known: dict[str, PaimonTable] = {}
    for step in history:
        if isinstance(step, str):
            claims.remove("shop", step)
            known.pop(step, None)
        else:
            name, age, busy, place = step
            if busy and name in known and known[name].status.active_run:
                place = known[name].spec.table  # a run keeps its table
            known[name] = table(name, age=age, busy=busy, table=place)
            claims.put(known[name], LAKE)
    for place in {each.spec.table for each in known.values()}:
        rivals = [each for each in known.values() if each.spec.table == place]
        assert sum(claims.holder(each, LAKE) is None for each in rivals) == 1
