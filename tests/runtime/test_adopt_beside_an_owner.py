"""The job of an `Adopt` lists the owners of this cluster that it must respect, also where no text shows the alias."""

from __future__ import annotations

import json
from typing import Any

import pytest

from paimon_contract.owner_mark import digest_of, owner_mark
from paimon_operator.core.ports import Kind
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, lake, orders
from tests.support.builders import operator_facts
from tests.support.manifests import Manifest, edited

YARD = "yard"
OWNER = digest_of(owner_mark(operator_facts().cluster_id, YARD, "orders"))


def in_yard(manifest: Manifest) -> Manifest:
    """The manifest in the other namespace, whose catalog reaches the same server by its address."""
    return edited(manifest, metadata__namespace=YARD)


def by_address(**edits: object) -> Manifest:
    return in_yard(lake(spec__storage__s3__endpoint="http://10.0.0.7:9000", **edits))


async def with_owner(operator: OperatorInMemory, **edits: object) -> None:
    """Applies a table in the other namespace, whose run has read its mark."""
    await operator.apply(by_address(spec__allowedDatabases=["shop", "web"]), in_yard(orders(**edits)))
    await operator.end_pod(_name(operator, Kind.POD, YARD), namespace=YARD, created=True)


def job(operator: OperatorInMemory) -> tuple[str, Any]:
    """The job of the Provision in `shop`: its text and its parameters."""
    name = _name(operator, Kind.CONFIG_MAP, SHOP)
    text = (operator.store.peek(Kind.CONFIG_MAP, SHOP, name) or {})["data"]["job.json"]
    return text, json.loads(text)["provision"]


def _name(operator: OperatorInMemory, kind: Kind, namespace: str) -> str:
    """The name of the only object of this kind in the namespace."""
    (name,) = (place[2] for place in operator.store._objects if place[:2] == (kind, namespace))
    return name


async def test_the_owner_is_listed_by_a_digest_that_shows_no_name_of_its_namespace(operator: OperatorInMemory) -> None:
    await with_owner(operator)
    await operator.apply(lake(), orders(spec__adoptionPolicy="Adopt"))
    text, provision = job(operator)
    assert provision["ownersHere"] == [OWNER]
    assert YARD not in text


@pytest.mark.parametrize("policy", ["Fail", "AdoptIfIdentical"])
async def test_a_run_that_takes_nothing_over_lists_no_owner(operator: OperatorInMemory, policy: str) -> None:
    await with_owner(operator)
    await operator.apply(lake(), orders(spec__adoptionPolicy=policy))
    assert "ownersHere" not in job(operator)[1]


@pytest.mark.parametrize("named", [{"spec__table": "customers"}, {"spec__database": "web"}], ids=["table", "database"])
async def test_an_owner_of_a_table_with_another_name_is_not_listed(
    operator: OperatorInMemory, named: dict[str, str]
) -> None:
    await with_owner(operator, **named)
    await operator.apply(lake(), orders(spec__adoptionPolicy="Adopt"))
    assert "ownersHere" not in job(operator)[1]


async def test_an_object_without_proof_is_not_listed(operator: OperatorInMemory) -> None:
    await operator.apply(by_address(), in_yard(orders()))
    await operator.apply(lake(), orders(spec__adoptionPolicy="Adopt"))
    assert "ownersHere" not in job(operator)[1]


async def test_an_owner_keeps_its_proof_without_its_catalog_until_it_is_deleted(operator: OperatorInMemory) -> None:
    await with_owner(operator)
    await operator.apply(by_address(spec__metastore={"type": "Slate"}))
    await operator.apply(lake(), orders(spec__adoptionPolicy="Adopt"))
    assert job(operator)[1]["ownersHere"] == [OWNER]


async def test_an_owner_whose_table_was_taken_over_is_not_listed(operator: OperatorInMemory) -> None:
    await with_owner(operator)
    operator.store.delete_as_user(Kind.POD, YARD, _name(operator, Kind.POD, YARD))
    await operator.apply(in_yard(orders(spec__options={"read.batch-size": "2048"})))
    taken = {"class": "Environment", "reason": "Conflict", "message": "another owner", "remedy": "Delete one."}
    await operator.end_pod(_name(operator, Kind.POD, YARD), namespace=YARD, exit_code=25, error=taken)
    await operator.apply(lake(), orders(spec__adoptionPolicy="Adopt"))
    assert "ownersHere" not in job(operator)[1]


async def test_an_owner_that_is_deleted_is_not_listed(operator: OperatorInMemory) -> None:
    await with_owner(operator)
    operator.store.delete_as_user(Kind.TABLE, YARD, "orders")
    await operator.settle()
    await operator.apply(lake(), orders(spec__adoptionPolicy="Adopt"))
    assert "ownersHere" not in job(operator)[1]
