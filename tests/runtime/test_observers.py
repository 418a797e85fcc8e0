"""Observers in the whole operator: their Pods come and go, and their looks reach the tables."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from typing import Any

import pytest

from paimon_operator.api.looks import Findings, TableFinding
from paimon_operator.api.measure import Measure
from paimon_operator.core.config import ObserverFacts
from paimon_operator.core.naming import observed_catalog
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.errors import ForbiddenError, RetryableError
from paimon_operator.runtime.keys import Key
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, lake, provisioned
from tests.support.object_store import Fault, ObjectStore
from tests.support.virtual_time import VirtualTime

FACTS = ObserverFacts(url="http://paimon-operator.paimon-system.svc:8082/v1/looks")
LAKE = Key(Kind.CATALOG, SHOP, "lake")


@pytest.fixture
async def observed() -> AsyncIterator[OperatorInMemory]:
    """An operator with observers, before it has any table."""
    operator = await OperatorInMemory(observer=FACTS).start()
    yield operator
    await operator.stop()


def observers(operator: OperatorInMemory) -> list[str]:
    """Names of the observers' Pods."""
    pods = [(name, operator.store.peek(Kind.POD, SHOP, name) or {}) for name in operator.store.names(Kind.POD)]
    return [name for name, pod in pods if observed_catalog(pod) == "lake"]


async def report(operator: OperatorInMemory, **measure: object) -> None:
    """The observer reports a table that has changed."""
    uid = operator.table()["metadata"]["uid"]
    found = {uid: TableFinding(measure=Measure.model_validate(measure))}
    await operator.looks.receive(LAKE, Findings(age=timedelta(0), tables=found, same={}), operator.time.now())
    await operator.settle()


async def test_the_first_established_table_gets_its_catalog_an_observer(observed: OperatorInMemory) -> None:
    await observed.apply(lake())
    assert observers(observed) == []
    await provisioned(observed)
    (name,) = observers(observed)
    pod = observed.store.peek(Kind.POD, SHOP, name)
    assert pod is not None
    assert observed.looks.is_observer(pod["metadata"]["uid"])


async def test_a_look_reaches_the_status_of_its_table(observed: OperatorInMemory) -> None:
    await provisioned(observed)
    await observed.pass_time(minutes=1)
    await report(observed, files=9, snapshotId=4, sortedRunsMax=3)
    health = observed.table()["status"]["health"]
    assert (health["snapshotId"], health["sortedRunsMax"]) == (4, 3)


async def test_a_deleted_or_evicted_observer_is_replaced(observed: OperatorInMemory) -> None:
    await provisioned(observed)
    (name,) = observers(observed)
    first = observed.store.peek(Kind.POD, SHOP, name)
    observed.store.delete_as_user(Kind.POD, SHOP, name)
    await observed.pass_time(minutes=1)
    second = observed.store.peek(Kind.POD, SHOP, name)
    observed.store.set_status(Kind.POD, SHOP, name, {"phase": "Failed", "reason": "Evicted"})
    await observed.pass_time(minutes=1)
    third = observed.store.peek(Kind.POD, SHOP, name)
    uids = [each["metadata"]["uid"] for each in (first, second, third) if each is not None]
    assert len(set(uids)) == 3
    assert [observed.looks.is_observer(uid) for uid in uids] == [False, False, True]


async def test_an_observer_that_its_node_refuses_is_made_again_once_a_minute(observed: OperatorInMemory) -> None:
    await provisioned(observed)
    (name,) = observers(observed)
    for _ in range(3):
        before = len(observed.store.writes)
        observed.store.set_status(Kind.POD, SHOP, name, {"phase": "Failed", "reason": "NodeAffinity"})
        await observed.settle()
        assert observers(observed) == []
        await observed.pass_time(seconds=59)
        assert observers(observed) == []
        await observed.pass_time(seconds=1)
        made = [each for each in observed.store.writes[before:] if (each.verb, each.kind) == ("create", Kind.POD)]
        assert (observers(observed), len(made)) == ([name], 1)


async def test_a_changed_catalog_gets_another_observer(observed: OperatorInMemory) -> None:
    await provisioned(observed)
    before = observers(observed)
    await observed.apply(lake(spec__spark={"podOverlay": {"nodeSelector": {"disk": "ssd"}}}))
    after = observers(observed)
    assert (len(after), set(before) & set(after)) == (1, set())


async def test_a_suspended_catalog_has_no_observer(observed: OperatorInMemory) -> None:
    await provisioned(observed)
    await observed.apply(lake(spec__suspend=True))
    assert observers(observed) == []
    await observed.apply(lake(spec__suspend=False))
    await observed.pass_time(minutes=1)
    assert len(observers(observed)) == 1


async def test_an_operator_that_makes_no_observers_any_more_deletes_those_that_exist(
    observed: OperatorInMemory,
) -> None:
    await provisioned(observed)
    assert len(observers(observed)) == 1
    without = await observed.kill()
    await without.settle()
    assert observers(without) == []
    await without.stop()


async def test_an_observer_that_cannot_be_created_harms_nothing_and_is_reported_once(
    observed: OperatorInMemory,
) -> None:
    await provisioned(observed)
    refusal = ForbiddenError("exceeded quota: pods", status=403)
    observed.store.faults = [Fault("create", Kind.POD, refusal) for _ in range(2)]
    observed.store.delete_as_user(Kind.POD, SHOP, observers(observed)[0])
    await observed.pass_time(minutes=1)
    await observed.pass_time(minutes=5)
    assert observed.condition("Ready")[:2] == ("True", "TableMatchesSpec")
    assert observed.events.reasons("lake").count("NotPermitted") == 1
    await observed.pass_time(minutes=5)
    assert len(observers(observed)) == 1


async def test_after_a_start_of_the_operator_the_same_observer_goes_on(observed: OperatorInMemory) -> None:
    await provisioned(observed)
    (name,) = observers(observed)
    again = OperatorInMemory(store=observed.store, time=observed.time, observer=FACTS)
    await observed.stop()
    await again.start()
    await again.settle()
    pod = again.store.peek(Kind.POD, SHOP, name)
    assert pod is not None
    assert (observers(again), again.looks.is_observer(pod["metadata"]["uid"])) == ([name], True)
    await again.stop()


class LostAnswer(ObjectStore):
    """An API server that does not respond any more once it has created the Pod of an observer."""

    is_away = False

    async def create(self, kind: Kind, namespace: str, body: Mapping[str, Any]) -> Manifest:
        made = await super().create(kind, namespace, body)
        if kind is Kind.POD and observed_catalog(made) is not None:
            self.is_away = True
            raise RetryableError("no response", status=0)
        return made

    async def list(self, kind: Kind, *args: Any, **how: Any) -> Any:
        if self.is_away:
            raise RetryableError("no response", status=0)
        return await super().list(kind, *args, **how)


async def test_a_pod_that_was_made_without_an_answer_is_deleted_if_no_observer_is_wanted_any_more() -> None:
    time = VirtualTime()
    store = LostAnswer(time)
    operator = await OperatorInMemory(observer=FACTS, store=store, time=time).start()
    await operator.apply(lake())
    await provisioned(operator)
    assert (store.is_away, len(observers(operator))) == (True, 1)
    operator.store.delete_as_user(Kind.TABLE, SHOP, "orders")
    store.is_away = False
    await operator.pass_time(minutes=5)
    assert observers(operator) == []
    await operator.stop()
