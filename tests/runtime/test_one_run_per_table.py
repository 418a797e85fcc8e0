"""Two objects that mean one physical table never both have a run, in whatever order things come to be known."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.errors import ForbiddenError
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, lake, orders
from tests.support.manifests import edited
from tests.support.object_store import Fault, Json, ObjectStore
from tests.support.virtual_time import VirtualTime

YARD = "yard"


def elsewhere(manifest: Json) -> Json:
    """The same in the other namespace."""
    return edited(manifest, metadata__namespace=YARD)


@dataclass
class SlowStore(ObjectStore):
    """While the first start of a run is on its way to the API server, something else happens, and is worked on."""

    meanwhile: Callable[[], object] = lambda: None

    async def apply_status(self, kind: Kind, obj: Manifest, status: Manifest) -> Manifest:
        if kind is Kind.TABLE and "activeRun" in status:
            happening, self.meanwhile = self.meanwhile, lambda: None
            happening()
            for _ in range(1000):
                await asyncio.sleep(0)
        return await super().apply_status(kind, obj, status)


async def older_without_a_catalog() -> OperatorInMemory:
    """An older object for the table that nobody can place yet, because its catalog is missing."""
    time = VirtualTime()
    operator = await OperatorInMemory(store=SlowStore(time), time=time).start()
    await operator.apply(elsewhere(orders()))
    await operator.pass_time(seconds=5)
    return operator


async def ended(operator: OperatorInMemory) -> None:
    operator.queue.close()
    await operator.workers.stop()


def pods(operator: OperatorInMemory) -> list[str]:
    return [place[1] for place in operator.store._objects if place[0] is Kind.POD]


def active(operator: OperatorInMemory, namespace: str) -> dict[str, Any] | None:
    body = operator.store.peek(Kind.TABLE, namespace, "orders") or {}
    found: dict[str, Any] | None = (body.get("status") or {}).get("activeRun")
    return found


async def test_an_edit_of_the_catalog_keeps_a_start_that_is_being_stored() -> None:
    """The notice of the catalog brings the table as the cache has it: without the run that is being stored."""
    operator = await older_without_a_catalog()
    store = operator.store
    assert isinstance(store, SlowStore)
    edit = lake(spec__allowedDatabases=["shop", "more"])
    store.meanwhile = lambda: (store.put(edit), store.put(elsewhere(lake())))

    await operator.apply(lake(), orders())

    assert active(operator, SHOP) is not None
    assert (active(operator, YARD), pods(operator)) == (None, [SHOP])
    await ended(operator)


async def test_an_active_run_keeps_the_table_claim_when_its_catalog_becomes_invalid() -> None:
    operator = await older_without_a_catalog()
    await operator.apply(lake(), orders())
    assert pods(operator) == [SHOP]

    await operator.apply(lake(spec__metastore={"type": "Slate"}), elsewhere(lake()))

    assert (active(operator, YARD), pods(operator)) == (None, [SHOP])
    await ended(operator)


async def test_a_start_that_could_not_be_stored_is_dropped_at_the_next_reconcile() -> None:
    operator = await older_without_a_catalog()
    store = operator.store
    assert isinstance(store, SlowStore)
    store.meanwhile = lambda: store.put(orders(spec__suspend=True))

    await operator.apply(lake(), orders())
    await operator.apply(elsewhere(lake()))

    assert (active(operator, SHOP), pods(operator)) == (None, [YARD])
    await ended(operator)


async def test_a_start_stored_after_a_restart_yields_to_the_run_that_may_have_a_pod() -> None:
    """Both objects then say that they have a run; the one whose run is not written down by its UID never had a Pod."""
    operator = await older_without_a_catalog()
    await operator.apply(lake(), orders())
    assert pods(operator) == [SHOP]
    operator.store.put(elsewhere(lake()))
    late = {"activeRun": {"name": "orders-provision-00000000", "type": "Provision", "trigger": "Spec"}}
    operator.store.set_status(Kind.TABLE, YARD, "orders", {"observedGeneration": 1, **late})

    again = await operator.kill()
    await again.settle()

    assert (active(again, YARD), pods(again)) == (None, [SHOP])
    assert active(again, SHOP) is not None
    await ended(again)


async def test_of_two_runs_that_two_processes_started_at_once_the_run_of_the_older_object_launches_first() -> None:
    operator = await older_without_a_catalog()
    refused = ForbiddenError("exceeded quota", status=403)
    operator.store.faults += [Fault("create", Kind.POD, refused), Fault("create", Kind.POD, refused)]
    await operator.apply(lake(), orders())
    assert (active(operator, SHOP) is not None, pods(operator)) == (True, [])
    mine = operator.store.peek(Kind.TABLE, SHOP, "orders")
    assert mine is not None
    operator.store.put(elsewhere(lake()))
    body = elsewhere(operator.store.peek(Kind.RUN, SHOP, operator.store.names(Kind.RUN)[0]) or {})
    theirs = operator.store.put(body | {"status": {}})
    named = {**mine["status"]["activeRun"], "uid": theirs["metadata"]["uid"]}
    operator.store.set_status(Kind.TABLE, YARD, "orders", {**mine["status"], "activeRun": named})

    again = await operator.kill()
    await again.pass_time(minutes=5)

    assert pods(again) == [YARD]
    waiting = again.store.peek(Kind.RUN, SHOP, theirs["metadata"]["name"]) or {}
    told = {each["type"]: each for each in waiting["status"]["conditions"]}
    assert (told["Stalled"]["reason"], told["Stalled"]["status"]) == ("TableClaimed", "True")
    assert "yard/orders has a run on the same table" in told["Stalled"]["message"]
    await ended(again)
