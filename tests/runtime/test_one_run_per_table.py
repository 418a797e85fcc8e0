"""Two objects for one physical table never both have a run, whatever the order of the events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.errors import ForbiddenError
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, lake, orders
from tests.support.manifests import edited
from tests.support.object_store import Fault, Json, ObjectStore
from tests.support.virtual_time import VirtualTime

YARD = "yard"


def in_other_namespace(manifest: Json) -> Json:
    """The manifest in the other namespace."""
    return edited(manifest, metadata__namespace=YARD)


@dataclass
class SlowStore(ObjectStore):
    """Calls `meanwhile` and reconciles the result while the first start of a run is being stored."""

    meanwhile: Callable[[], object] = lambda: None

    async def apply_status(self, kind: Kind, obj: Manifest, status: Manifest) -> Manifest:
        if kind is Kind.TABLE and "activeRun" in status:
            change, self.meanwhile = self.meanwhile, lambda: None
            change()
            for _ in range(1000):
                await asyncio.sleep(0)
        return await super().apply_status(kind, obj, status)


class NoPodsInYard(ObjectStore):
    """An API server that refuses every Pod of one namespace, because its service account does not exist."""

    async def create(self, kind: Kind, namespace: str, body: Mapping[str, Any]) -> Manifest:
        if kind is Kind.POD and namespace == YARD:
            raise ForbiddenError('serviceaccount "nobody" not found', status=403)
        return await super().create(kind, namespace, body)


async def operator_with_older_table_without_catalog() -> OperatorInMemory:
    """An operator with an older object for the table, which has no table claim yet because its catalog is missing."""
    time = VirtualTime()
    operator = await OperatorInMemory(store=SlowStore(time), time=time).start()
    await operator.apply(in_other_namespace(orders()))
    await operator.pass_time(seconds=5)
    return operator


def pods(operator: OperatorInMemory) -> list[str]:
    return [place[1] for place in operator.store._objects if place[0] is Kind.POD]


def active_run(operator: OperatorInMemory, namespace: str) -> dict[str, Any] | None:
    body = operator.store.peek(Kind.TABLE, namespace, "orders") or {}
    found: dict[str, Any] | None = (body.get("status") or {}).get("activeRun")
    return found


async def test_an_edit_of_the_catalog_keeps_a_start_that_is_being_stored() -> None:
    """The event of the catalog reads the table from the cache, which lacks the run that is being stored."""
    operator = await operator_with_older_table_without_catalog()
    store = operator.store
    assert isinstance(store, SlowStore)
    edit = lake(spec__allowedDatabases=["shop", "more"])
    store.meanwhile = lambda: (store.put(edit), store.put(in_other_namespace(lake())))

    await operator.apply(lake(), orders())

    assert active_run(operator, SHOP) is not None
    assert (active_run(operator, YARD), pods(operator)) == (None, [SHOP])
    await operator.stop()


async def test_an_active_run_keeps_the_table_claim_when_its_catalog_becomes_invalid() -> None:
    operator = await operator_with_older_table_without_catalog()
    await operator.apply(lake(), orders())
    assert pods(operator) == [SHOP]

    await operator.apply(lake(spec__metastore={"type": "Slate"}), in_other_namespace(lake()))

    assert (active_run(operator, YARD), pods(operator)) == (None, [SHOP])
    await operator.stop()


async def test_a_start_that_could_not_be_stored_is_dropped_at_the_next_reconcile() -> None:
    operator = await operator_with_older_table_without_catalog()
    store = operator.store
    assert isinstance(store, SlowStore)
    store.meanwhile = lambda: store.put(orders(spec__suspend=True))

    await operator.apply(lake(), orders())
    await operator.apply(in_other_namespace(lake()))

    assert (active_run(operator, SHOP), pods(operator)) == (None, [YARD])
    await operator.stop()


async def test_a_start_stored_after_a_restart_yields_to_the_run_that_may_have_a_pod() -> None:
    """Both objects then have an active run. A run whose UID is not stored never had a Pod."""
    operator = await operator_with_older_table_without_catalog()
    await operator.apply(lake(), orders())
    assert pods(operator) == [SHOP]
    operator.store.put(in_other_namespace(lake()))
    late = {"activeRun": {"name": "orders-provision-00000000", "type": "Provision", "trigger": "Spec"}}
    operator.store.set_status(Kind.TABLE, YARD, "orders", {"observedGeneration": 1, **late})

    again = await operator.kill()
    await again.settle()

    assert (active_run(again, YARD), pods(again)) == (None, [SHOP])
    assert active_run(again, SHOP) is not None
    await again.stop()


async def test_of_two_runs_that_two_processes_started_at_once_the_run_of_the_older_object_launches_first() -> None:
    operator = await operator_with_older_table_without_catalog()
    refused = ForbiddenError("exceeded quota", status=403)
    operator.store.faults += [Fault("create", Kind.POD, refused), Fault("create", Kind.POD, refused)]
    await operator.apply(lake(), orders())
    assert (active_run(operator, SHOP) is not None, pods(operator)) == (True, [])
    mine = operator.store.peek(Kind.TABLE, SHOP, "orders")
    assert mine is not None
    operator.store.put(in_other_namespace(lake()))
    body = in_other_namespace(operator.store.peek(Kind.RUN, SHOP, operator.store.names(Kind.RUN)[0]) or {})
    theirs = operator.store.put(body | {"status": {}})
    named = {**mine["status"]["activeRun"], "uid": theirs["metadata"]["uid"]}
    operator.store.set_status(Kind.TABLE, YARD, "orders", {**mine["status"], "activeRun": named})

    again = await operator.kill()
    await again.pass_time(minutes=5)

    assert pods(again) == [YARD]
    waiting = again.store.peek(Kind.RUN, SHOP, theirs["metadata"]["name"]) or {}
    conditions = {each["type"]: each for each in waiting["status"]["conditions"]}
    assert (conditions["Stalled"]["reason"], conditions["Stalled"]["status"]) == ("TableClaimed", "True")
    assert "a PaimonTable of another namespace has a run on the same table" in conditions["Stalled"]["message"]
    await again.stop()


async def test_a_run_that_can_have_no_pod_keeps_the_claim_from_another_namespace_for_minutes_only() -> None:
    """S1: a tenant locked a table before its owner created it, with a run whose Pod the API server refuses for ever."""
    time = VirtualTime()
    operator = await OperatorInMemory(store=NoPodsInYard(time), time=time).start()
    await operator.apply(in_other_namespace(lake()), in_other_namespace(orders()))
    assert active_run(operator, YARD) is not None
    await operator.pass_time(minutes=1)
    await operator.apply(lake(), orders())
    assert (active_run(operator, SHOP), pods(operator)) == (None, [])

    await operator.pass_time(minutes=10)

    assert (active_run(operator, YARD), pods(operator)) == (None, [SHOP])
    await operator.stop()
