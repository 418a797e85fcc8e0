"""The table claim: which of several objects may manage one physical table."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.run.status import FailureClass, RunTrigger
from paimon_operator.api.table.ownership import Ownership
from paimon_operator.api.table.schedule_state import LastFailure
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import ActiveRun, ProvisionState, TableStatus
from paimon_operator.core.commits.table_claims import TableClaimIndex, claim_of
from paimon_operator.core.operations import retries
from paimon_operator.core.spec.identity import inside, normalised
from paimon_operator.core.spec.place import place_of
from tests.support import builders

LAKE = builders.catalog()
ADOPTS = {"adoptionPolicy": "Adopt"}


def table(
    name: str,
    *,
    age: int = 0,
    busy: bool = False,
    proof: int | None = None,
    lost: bool = False,
    failure: str | None = None,
    namespace: str = "shop",
    **spec: Any,
) -> PaimonTable:
    """A table object for shop.orders.

    A greater `age` is older. `proof` is the age of its proof in the lake, in seconds; a run may have `lost` it since.
    `failure` is the reason of its last failed run.
    """
    run = ActiveRun(name="r", type="Compact", trigger=RunTrigger.SCHEDULE) if busy else None
    created = builders.CREATED - timedelta(seconds=age)
    body = builders.table(
        name, namespace, metadata={"creationTimestamp": created}, **{"table": "orders", "database": "shop"} | spec
    )
    status = TableStatus(active_run=run, provision=failed(failure, place_of(body, LAKE)) if failure else None)
    if proof is not None:
        since = builders.NOW - timedelta(seconds=proof)
        owned = Ownership(place=place_of(body, LAKE), since=since, lost_at=builders.NOW if lost else None)
        status = status.model_copy(update={"ownership": owned})
    return body.model_copy(update={"status": status})


def failed(reason: str, place: str) -> ProvisionState:
    failure = LastFailure(
        run="r", failure_class=FailureClass.SPEC, reason=reason, message="it failed", time=builders.NOW, count=1
    )
    return ProvisionState(failure=failure, found_at=place if reason in retries.HAS_READ_THE_TABLE else None)


def index(*tables: PaimonTable) -> TableClaimIndex:
    claims = TableClaimIndex()
    for each in tables:
        claims.put(each, LAKE)
    return claims


def waits(claims: TableClaimIndex, mine: PaimonTable, catalog: PaimonCatalog = LAKE) -> str | None:
    """The name of the object that `mine` has to wait for."""
    holder = claims.holder(mine, catalog)
    return None if holder is None else holder.name


@pytest.mark.parametrize(
    ("sentence", "mine", "other", "blocked"),
    [
        ("proof precedes age", {}, {"proof": 9}, True),
        ("proof precedes age", {"proof": 9}, {"age": 99}, False),
        ("the earlier proof precedes the later one", {"proof": 1, "age": 99}, {"proof": 9}, True),
        ("a proof that was lost to another owner", {}, {"proof": 9, "lost": True}, False),
        ("a later proof precedes one that was lost", {"proof": 1}, {"proof": 9, "lost": True}, False),
        ("a run precedes proof: two runs never work on one table", {"proof": 9}, {"busy": True}, True),
        ("age alone proves nothing", {}, {"age": 99}, False),
        ("an object that cannot reach the storage blocks nobody", {}, {"age": 9, "failure": "AccessDenied"}, False),
        ("an object that found another owner blocks nobody", {}, {"age": 9, "failure": "Conflict"}, False),
        ("an older object that has read the table", {}, {"age": 9, "failure": "TableDiffers"}, True),
        (
            "a younger object that has read it",
            {"failure": "TableDiffers", "age": 9},
            {"failure": "TableDiffers"},
            False,
        ),
        ("proof precedes having read it", {"proof": 1}, {"age": 9, "failure": "TableDiffers"}, False),
        ("Adopt takes nothing from an owner here", ADOPTS | {"namespace": "a"}, {"proof": 9}, True),
        ("Adopt waits for a run", ADOPTS | {"namespace": "a"}, {"busy": True}, True),
    ],
)
def test_who_waits_for_whom(sentence: str, mine: dict[str, Any], other: dict[str, Any], blocked: bool) -> None:
    one, two = table("mine", **mine), table("other", **other)
    elsewhere = builders.catalog(namespace=one.metadata.namespace, allowedDatabases=["shop"])
    assert waits(index(two), one, elsewhere) == ("other" if blocked else None), sentence


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://minio:9000", "http://store:9000", False),
        ("https://minio:9000", "https://minio:9001", False),
        ("https://minio", "https://MINIO:443/", True),
        ("http://minio", "http://minio:80", True),
        ("http://minio:9000", "http://minio.shop.svc:9000", True),
        ("http://minio.shop:9000", "http://minio.shop.svc.cluster.local:9000", True),
        ("http://minio:9000", "http://minio.rival.svc:9000", False),
        (None, "https://s3.eu-central-1.amazonaws.com", True),
        (None, "https://minio:9000", False),
        (None, "https://s3.amazonaws.com.example.org", False),
    ],
)
def test_the_server_of_a_bucket_is_part_of_the_place(one: str | None, other: str | None, same: bool) -> None:
    first, second = claim_of(table("t"), on_server(one)), claim_of(table("t"), on_server(other))
    assert first
    assert second
    assert (first.place == second.place) is same


def on_server(endpoint: str | None) -> PaimonCatalog:
    at = {} if endpoint is None else {"endpoint": endpoint}
    return builders.catalog(storage={"s3": {"region": "us-east-1"} | at})


def test_a_bare_name_of_a_server_means_another_one_in_another_namespace() -> None:
    here = builders.catalog(storage={"s3": {"region": "r", "endpoint": "http://minio:9000"}})
    there = here.model_copy(update={"metadata": here.metadata.model_copy(update={"namespace": "rival"})})
    assert place_of(table("t"), here) != place_of(table("t"), there)


def test_an_owner_keeps_its_claim_without_its_catalog_and_with_an_invalid_one() -> None:
    owner, other = table("owner", proof=9), table("other")
    claims = TableClaimIndex(lambda catalog: not catalog.spec.suspend)
    for catalog in (None, builders.catalog(warehouse="s3://elsewhere/w", suspend=True)):
        claims.put(owner, catalog)
        assert waits(claims, other) == "owner"


@pytest.mark.parametrize(
    ("sentence", "catalog"),
    [
        ("its catalog is invalid", builders.catalog(suspend=True)),
        ("its database is not allowed", builders.catalog(allowedDatabases=["finance"])),
    ],
)
def test_an_object_without_proof_counts_only_while_it_could_run(sentence: str, catalog: PaimonCatalog) -> None:
    claims = TableClaimIndex(lambda each: not each.spec.suspend)
    older, mine = table("older", age=9, failure="TableDiffers"), table("mine")
    claims.put(older, catalog)
    assert waits(claims, mine) is None, sentence
    claims.put(older, LAKE)
    assert waits(claims, mine) == "older"


def test_a_status_of_release_0_1_is_proof_at_the_present_place() -> None:
    verified = TableStatus(provision=ProvisionState(last_time=builders.NOW))
    proven = table("b").model_copy(update={"status": verified})
    assert waits(index(proven), table("a", age=9)) == "b"


def test_the_name_of_another_object_is_told_in_its_own_namespace_only() -> None:
    holder = index(table("orders", proof=1)).holder(table("mine"), LAKE)
    assert holder
    assert holder.name_for("shop") == "PaimonTable orders"
    assert holder.name_for("rival") == "a PaimonTable of another namespace"


def test_one_path_on_the_volume_claims_of_two_namespaces_is_two_places() -> None:
    def on_a_claim(namespace: str) -> PaimonCatalog:
        storage = {"claim": {"name": "disk"}}
        return builders.catalog(namespace=namespace, warehouse="file:///data/lake", storage=storage, locations=[])

    here, there = (claim_of(table("t", namespace=each), on_a_claim(each)) for each in ("shop", "web"))
    assert here
    assert there
    assert here.place != there.place


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
    mine, others = table("mine", proof=1), table("others", **other)
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
    elsewhere = builders.catalog(namespace="other", warehouse="s3://lake/warehouse")
    theirs = table("theirs", namespace="other")
    assert waits(index(table("mine", proof=1)), theirs, elsewhere) == "mine"


def test_an_object_with_an_active_run_holds_the_claim_before_an_older_one() -> None:
    """An edit of its catalog moved the older object to this table later. One table never has two runs."""
    old, young = table("old", proof=5), table("young", busy=True)
    claims = index(young, old)
    assert claims.holder(young, LAKE) is None
    assert claims.holder(old, LAKE) is not None


def test_the_end_of_the_run_affects_the_older_object() -> None:
    old, young = table("old", age=5), table("young", busy=True)
    claims = index(young, old)
    assert claims.put(table("young"), LAKE) == {("shop", "old")}
    assert claims.holder(old, LAKE) is None


def test_the_removal_of_a_holder_affects_the_others() -> None:
    claims = index(table("old", proof=5), table("young"), table("younger"))
    assert claims.remove("shop", "old") == {("shop", "young"), ("shop", "younger")}
    assert claims.remove("shop", "younger") == frozenset(), "it blocked nobody"
    assert claims.remove("shop", "never-seen") == frozenset()


def test_a_run_that_cannot_be_created_claims_nothing() -> None:
    """A quota that allows no PaimonRuns made an object hold a table that its run never reached."""
    stuck, other = table("stuck", age=9, busy=True), table("other")
    assert stuck.status.active_run is not None
    for update, blocked in (({"blocked": True}, False), ({"blocked": True, "uid": "u"}, True), ({}, True)):
        active = stuck.status.active_run.model_copy(update=update)
        seen = stuck.model_copy(update={"status": stuck.status.model_copy(update={"active_run": active})})
        assert (waits(index(seen), other) == "stuck") is blocked, update


def test_an_unchanged_object_affects_no_other_object() -> None:
    claims = index(table("old", proof=5), table("young"))
    assert claims.put(table("young"), LAKE) == frozenset()


def test_a_proof_affects_the_others() -> None:
    claims = index(table("old"), table("young"))
    assert claims.put(table("old", proof=5), LAKE) == {("shop", "young")}


def test_a_table_without_its_catalog_and_without_proof_has_no_claim() -> None:
    claims = index(table("old", age=5, failure="TableDiffers"), table("young"))
    assert claims.put(table("old", age=5), None) == {("shop", "young")}
    assert claims.holder(table("old", age=5), None) is None
    assert claims.holder(table("young"), LAKE) is None


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
def test_after_any_history_each_table_with_proof_has_exactly_one_holder(history: list[Any]) -> None:
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
            known[name] = table(name, proof=age, busy=busy, table=place)
            claims.put(known[name], LAKE)
    for place in {each.spec.table for each in known.values()}:
        rivals = [each for each in known.values() if each.spec.table == place]
        assert sum(claims.holder(each, LAKE) is None for each in rivals) == 1


def test_a_run_that_read_a_table_on_one_server_claims_nothing_on_another() -> None:
    """Whoever edits the endpoint of a catalog that no run has verified was never at the table behind the new one."""
    before, after = on_server("http://own:9000"), on_server("http://minio.web:9000")
    older, mine = table("older", age=9), table("mine", namespace="web")
    older = older.model_copy(update={"status": TableStatus(provision=failed("TableDiffers", place_of(older, before)))})
    claims = TableClaimIndex()
    claims.put(older, after)
    assert waits(claims, mine, after) is None
    claims.put(older, before)
    assert waits(claims, mine, before) == "older"


@pytest.mark.parametrize("present", [None, builders.catalog(warehouse="s3://pond/warehouse")])
def test_after_a_restart_an_active_run_is_where_it_was_decided(present: PaimonCatalog | None) -> None:
    """The catalog was moved, or deleted, while the run was active and before the operator started again."""
    mine, other = table("mine", busy=True), table("other", age=5)
    assert mine.status.active_run is not None
    active = mine.status.active_run.model_copy(update={"place": place_of(mine, LAKE)})
    mine = mine.model_copy(update={"status": mine.status.model_copy(update={"active_run": active})})
    claims = TableClaimIndex()
    claims.put(mine, present)
    assert waits(claims, other) == "mine"
