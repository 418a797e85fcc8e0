"""Objects with a spec of more than 256 KiB, as an older CRD let pass: Stalled, not cached whole, fixed by an edit."""

from __future__ import annotations

from typing import Any

from paimon_operator.api.base import MAX_SPEC_BYTES
from paimon_operator.core.ports import Kind
from paimon_operator.core.spec.size import packed
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, lake, orders, provisioned, shop
from tests.support.manifests import Manifest, keyed_table, run

COLUMNS = keyed_table()["spec"]["schema"]["columns"]


def large_orders(**edits: object) -> Manifest:
    wide = [{"name": f"c{number}", "type": "INT", "comment": "x" * 1024} for number in range(300)]
    return orders(spec__schema__columns=[*COLUMNS, *wide], **edits)


def large_lake() -> Manifest:
    return lake(spec__spark={"podOverlay": {"affinity": {"nodeAffinity": "x" * MAX_SPEC_BYTES}}})


def conditions(operator: OperatorInMemory, kind: Kind, name: str) -> dict[str, Any]:
    body = operator.store.peek(kind, SHOP, name) or {}
    return {each["type"]: each for each in body["status"]["conditions"]}


def is_not_cached_whole(operator: OperatorInMemory, kind: Kind, name: str) -> bool:
    return operator.cache.whole(kind, SHOP, name) is None and len(packed(operator.cache.get(kind, SHOP, name))) < 1024


async def test_a_table_that_is_too_large_starts_nothing_and_reports_size_and_limit(operator: OperatorInMemory) -> None:
    await operator.apply(lake(), large_orders())
    status, reason, message = operator.condition("Stalled")
    assert (status, reason) == ("True", "SpecTooLarge")
    assert "of them in schema; at most 256.0 KiB are allowed" in message
    assert operator.store.names(Kind.RUN) == []
    assert is_not_cached_whole(operator, Kind.TABLE, "orders")
    await operator.apply(orders())
    assert operator.condition("Stalled")[0] == "False"
    assert operator.store.names(Kind.POD) != []


async def test_a_table_that_became_too_large_keeps_its_claim_and_can_be_deleted(operator: OperatorInMemory) -> None:
    await provisioned(operator)
    await operator.apply(large_orders(), orders(metadata__name="orders-again", spec__table="orders"))
    assert operator.condition("Stalled")[1] == "SpecTooLarge"
    assert operator.condition("Stalled", "orders-again")[1] == "TableClaimed"
    operator.store.delete_as_user(Kind.TABLE, SHOP, "orders")
    await operator.settle()
    assert operator.store.peek(Kind.TABLE, SHOP, "orders") is None


async def test_a_catalog_that_is_too_large_stops_its_tables_until_it_is_edited(operator: OperatorInMemory) -> None:
    await operator.apply(large_lake(), orders())
    stalled = conditions(operator, Kind.CATALOG, "lake")["Stalled"]
    assert (stalled["status"], stalled["reason"]) == ("True", "SpecTooLarge")
    assert "of them in spark; at most 256.0 KiB are allowed" in stalled["message"]
    assert operator.condition("Stalled")[1] == "CatalogNotFound"
    assert is_not_cached_whole(operator, Kind.CATALOG, "lake")
    await operator.apply(lake())
    assert conditions(operator, Kind.CATALOG, "lake")["Stalled"]["status"] == "False"
    assert operator.condition("Stalled")[0] == "False"


async def test_a_run_that_is_too_large_fails_without_a_pod(operator: OperatorInMemory) -> None:
    await provisioned(operator)
    pods = operator.store.names(Kind.POD)
    entry = {f"dt{number}": "x" * 256 for number in range(12)}
    await operator.apply(shop(run(spec__compact__partitions=[entry] * 100)))
    failed = conditions(operator, Kind.RUN, "orders-compact-by-hand")
    assert (failed["Succeeded"]["status"], failed["Succeeded"]["reason"]) == ("False", "SpecTooLarge")
    assert "of them in compact; at most 256.0 KiB are allowed" in failed["Stalled"]["message"]
    assert operator.store.names(Kind.POD) == pods
    assert is_not_cached_whole(operator, Kind.RUN, "orders-compact-by-hand")
