"""Nothing of objects that are gone stays in the operator's memory, except what a limit or a time bounds.

Names of namespaces stay until the next list: they take turns, and the counters of runs have their names.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from types import CoroutineType, FunctionType, ModuleType
from typing import Any

from paimon_operator.core.config import ObserverFacts
from paimon_operator.core.naming import observed_catalog
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.errors import ForbiddenError, NamespaceTerminatingError
from paimon_operator.runtime.keys import Key
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, lake, orders, provisioned
from tests.runtime.shared_driver import FACTS, own_pods, shared
from tests.support.manifests import catalog, keyed_table
from tests.support.object_store import Fault, ObjectStore
from tests.support.virtual_time import VirtualTime

OBSERVER = ObserverFacts(url="http://paimon-operator.paimon-system.svc:8082/v1/looks")


class NoObservers(ObjectStore):
    """An API server that refuses every Pod of an observer."""

    async def create(self, kind: Kind, namespace: str, body: Mapping[str, Any]) -> Manifest:
        if kind is Kind.POD and observed_catalog(dict(body)) is not None:
            raise ForbiddenError('serviceaccount "nobody" not found', status=403)
        return await super().create(kind, namespace, body)


def referents(held: object) -> Iterable[object]:
    """What an object keeps in memory. Of a function only what it has bound: its module is always there.

    A worker that waits still names the object that it worked on last: one for each worker.
    """
    if isinstance(held, type | ModuleType | CoroutineType):
        return ()
    if isinstance(held, dict):  # of one whose keys are texts, gc names the values alone
        return (*held, *held.values())
    if isinstance(held, FunctionType):
        return (*(held.__closure__ or ()), *(held.__defaults__ or ()), *(held.__kwdefaults__ or {}).values())
    return gc.get_referents(held)


def held_by(operator: OperatorInMemory) -> Iterator[object]:
    """All that the operator keeps, without the API server of the test and what the test has recorded."""
    recorded = (
        operator.store,
        operator.events,
        operator.run_metrics,
        operator.reconciles,
        operator.bugs,
        operator.time,
    )
    seen = {id(each) for each in recorded}
    waiting: list[object] = [operator]
    while waiting:
        held = waiting.pop()
        if id(held) in seen:
            continue
        seen.add(id(held))
        yield held
        waiting.extend(referents(held))


def remembered(operator: OperatorInMemory) -> set[str]:
    """Objects of which the operator still knows a name or a UID."""
    gc.collect()
    found = list(held_by(operator))
    keys = {str(each) for each in found if isinstance(each, tuple) and SHOP in each}
    return keys | {each for each in found if isinstance(each, str) and each.startswith("uid-")}


async def delete_all(operator: OperatorInMemory) -> None:
    for kind in (Kind.TABLE, Kind.CATALOG, Kind.RUN, Kind.POD):
        for name in operator.store.names(kind):
            operator.store.delete_as_user(kind, SHOP, name)
            await operator.settle()
    await operator.pass_time(hours=1)
    assert [operator.store.names(kind) for kind in (Kind.TABLE, Kind.CATALOG, Kind.RUN)] == [[], [], []]


async def test_a_table_its_catalog_and_its_observer() -> None:
    operator = await OperatorInMemory(observer=OBSERVER).start()
    await provisioned(operator)
    assert remembered(operator) != set(), "the walk finds what lives"
    await delete_all(operator)
    assert remembered(operator) == set()
    await operator.stop()


def names(operator: OperatorInMemory) -> set[str]:
    """Namespaces whose name the operator still knows, beside those of its program."""
    gc.collect()
    return {each for each in held_by(operator) if isinstance(each, str) and each == SHOP}


async def test_a_namespace_after_the_next_list() -> None:
    operator = await OperatorInMemory().start()
    await provisioned(operator)
    await operator.resync.catch_up()
    await operator.settle()
    assert names(operator) == {SHOP}
    assert operator.slots._last_start == {SHOP: 1}
    await delete_all(operator)
    assert names(operator) == {SHOP}
    await operator.resync.catch_up()
    assert names(operator) == set()
    await operator.stop()


async def test_a_catalog_whose_observer_is_refused() -> None:
    time = VirtualTime()
    operator = await OperatorInMemory(observer=OBSERVER, store=NoObservers(time), time=time).start()
    await provisioned(operator)
    assert "serviceaccount" in str(operator.events.by_object), "the refusal was reported"
    await delete_all(operator)
    assert remembered(operator) == set()
    await operator.stop()


async def test_a_table_of_a_namespace_that_is_terminating() -> None:
    operator = await OperatorInMemory().start()
    await provisioned(operator)
    await operator.apply(orders(spec__deletionPolicy="Delete"))
    refused = NamespaceTerminatingError("namespace shop is being terminated", status=403)
    operator.store.faults.append(Fault("create", Kind.RUN, refused))
    await delete_all(operator)
    assert operator.store.faults == [], "the create was never tried"
    assert remembered(operator) == set()
    await operator.stop()


async def test_new_tables_that_have_waited_and_their_namespace() -> None:
    operator = await OperatorInMemory(new_tables_rate=1).start()
    beside = keyed_table(metadata__namespace="bank", spec__suspend=True, spec__writes=[])
    await operator.apply(catalog(metadata__namespace="bank"), beside, lake())
    await operator.apply(*(orders(metadata__name=f"t{number}", spec__suspend=True) for number in range(15)))
    assert operator.new_tables.waiting == 4
    for kind, name in ((Kind.TABLE, "orders"), (Kind.CATALOG, "lake")):
        operator.store.delete_as_user(kind, "bank", name)
        await operator.settle()
    await delete_all(operator)
    assert remembered(operator) == set()
    await operator.resync.catch_up()
    assert names(operator) == set()
    await operator.stop()


async def test_runs_that_have_shared_a_pod() -> None:
    operator = await OperatorInMemory(sharing=FACTS).start()
    driver = await shared(operator)
    await driver.finish()
    await delete_all(operator)
    assert remembered(operator) == set()
    await operator.stop()


async def test_a_pod_of_several_runs_that_was_never_reached() -> None:
    operator = await OperatorInMemory(sharing=FACTS).start()
    driver = await shared(operator)
    await driver.end()
    for pod in own_pods(operator).values():
        await operator.end_pod(pod, created=True)
    await delete_all(operator)
    assert remembered(operator) == {str(Key(Kind.CATALOG, SHOP, "lake"))}, "its runs start alone for some minutes"
    operator.batches._stop_sharing(Key(Kind.CATALOG, "bank", "other"), "a test")
    assert remembered(operator) == set(), "until another catalog has the same fate"
    await operator.stop()
