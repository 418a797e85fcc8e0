"""Limits of active runs, with the real controllers: how many Pods exist at once, who is next, and what users see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paimon_operator.core.ports import Kind
from paimon_operator.errors import ForbiddenError
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, has_ended, lake, orders
from tests.support.manifests import Manifest, run
from tests.support.object_store import ObjectStore
from tests.support.virtual_time import VirtualTime

LIMITED = {"maxConcurrentRuns": 2}


class NoRunsOfT0(ObjectStore):
    """An API server with a policy that refuses the runs of one table."""

    async def create(self, kind: Kind, namespace: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        if kind is Kind.RUN and body["metadata"]["name"].startswith("t0-"):
            raise ForbiddenError("no runs of t0", status=403)
        return await super().create(kind, namespace, body)


def tables(count: int, **spec: Any) -> list[Manifest]:
    return [orders(metadata__name=f"t{number}", **spec) for number in range(count)]


def running(operator: OperatorInMemory) -> list[str]:
    return [pod for pod in operator.store.names(Kind.POD) if not has_ended(operator, pod)]


def queued(operator: OperatorInMemory) -> dict[str, Any]:
    found = {name: operator.table(name)["status"].get("queuedRun") for name in operator.store.names(Kind.TABLE)}
    return {name: each for name, each in found.items() if each}


async def until_all_have_run(operator: OperatorInMemory, limit: int, **result: Any) -> list[str]:
    """Ends one Pod after another. Returns the tables in the order of their Pods."""
    seen: list[str] = []
    while pods := running(operator):
        assert len(pods) <= limit, pods
        seen += [pod for pod in pods if pod not in seen]
        await operator.pass_time(seconds=1)
        await operator.end_pod(pods[0], **result)
    return [pod.split("-")[0] for pod in seen]


async def test_no_more_runs_of_a_catalog_are_active_than_it_allows_and_every_table_gets_its_turn() -> None:
    operator = await OperatorInMemory().start()
    await operator.apply(lake(spec__limits=LIMITED), *tables(7))
    assert len(running(operator)) == 2
    assert len(queued(operator)) == 5
    seen = await until_all_have_run(operator, 2, created=True)
    assert sorted(seen) == [f"t{number}" for number in range(7)]
    assert queued(operator) == {}
    assert {operator.condition("Ready", f"t{number}")[0] for number in range(7)} == {"True"}


async def test_a_waiting_table_says_which_limit_it_waits_for() -> None:
    operator = await OperatorInMemory(max_concurrent_runs=1).start()
    await operator.apply(lake(), *tables(2))
    assert operator.condition("Reconciling", "t1") == (
        "True",
        "RunLimitReached",
        "the run that makes the table waits for a free place: limits.maxConcurrentRuns of the operator is 1",
    )
    assert queued(operator)["t1"]["type"] == "Provision"
    by_hand = run(metadata__namespace=SHOP, metadata__name="by-hand", spec__tableRef={"name": "t0"})
    (pod,) = running(operator)
    await operator.end_pod(pod, created=True)
    await operator.apply(by_hand)
    assert operator.table("t0")["status"]["queuedRun"]["message"] == "limits.maxConcurrentRuns of the operator is 1"
    await operator.pass_time(seconds=31)
    waits = operator.store.peek(Kind.RUN, SHOP, "by-hand") or {}
    (condition,) = (each for each in waits["status"]["conditions"] if each["type"] == "Succeeded")
    assert condition["message"].startswith("the run waits for a free place: limits.maxConcurrentRuns of the operator")


async def test_the_order_of_the_queue_survives_a_restart() -> None:
    operator = await OperatorInMemory(max_concurrent_runs=1).start()
    await operator.apply(lake())
    for manifest in tables(5):
        await operator.apply(manifest)
        await operator.pass_time(seconds=2)
    restarted = await operator.kill()
    await restarted.settle()
    assert await until_all_have_run(restarted, 1, created=True) == [f"t{number}" for number in range(5)]


async def test_a_run_that_cannot_be_created_keeps_no_place_from_others() -> None:
    time = VirtualTime()
    operator = await OperatorInMemory(store=NoRunsOfT0(time), time=time, max_concurrent_runs=1).start()
    await operator.apply(lake(), *tables(3))
    await operator.pass_time(minutes=1)
    assert sorted(await until_all_have_run(operator, 1, created=True)) == ["t1", "t2"]


async def test_a_waiting_table_whose_runs_cannot_be_read_keeps_no_turn_from_others() -> None:
    operator = await OperatorInMemory(max_concurrent_runs=1).start()
    await operator.apply(lake())
    for manifest in tables(3):
        await operator.apply(manifest)
        await operator.pass_time(seconds=2)
    assert sorted(queued(operator)) == ["t1", "t2"]
    await operator.apply(
        run(metadata__namespace=SHOP, metadata__name="odd", spec__tableRef={"name": "t1"}, spec__type="Nonsense")
    )
    assert await until_all_have_run(operator, 1, created=True) == ["t0", "t2"]


async def test_a_drop_waits_for_a_place_too() -> None:
    operator = await OperatorInMemory(max_concurrent_runs=1).start()
    await operator.apply(lake(), *tables(1, spec__deletionPolicy="Delete"))
    await until_all_have_run(operator, 1, created=True)
    await operator.apply(orders(metadata__name="busy"))
    operator.store.delete_as_user(Kind.TABLE, SHOP, "t0")
    await operator.settle()
    assert operator.condition("Reconciling", "t0")[1] == "RunLimitReached"
    seen = await until_all_have_run(operator, 1)
    assert seen == ["busy", "t0"]
    assert "t0" not in operator.store.names(Kind.TABLE)


async def test_a_catalog_that_is_allowed_more_starts_more_at_once() -> None:
    operator = await OperatorInMemory().start()
    await operator.apply(lake(spec__limits={"maxConcurrentRuns": 1}), *tables(4))
    assert len(running(operator)) == 1
    await operator.apply(lake(spec__limits={"maxConcurrentRuns": 3}))
    assert len(running(operator)) == 3


async def test_a_budget_that_another_table_has_spent_is_known_after_a_restart() -> None:
    operator = await OperatorInMemory(pod_hours=1).start()
    often = {"snapshots": {"schedule": "*/5 * * * *"}}
    await operator.apply(lake(), orders(metadata__name="t0", spec__retention=often), orders(metadata__name="t1"))
    await until_all_have_run(operator, 2, created=True)
    status = dict(operator.table("t1")["status"])
    day = operator.time.now().date().isoformat()
    status["usage"] = {**status["usage"], "maintenanceDay": day, "maintenancePodSeconds": 3600}
    operator.store.set_status(Kind.TABLE, SHOP, "t1", status)
    restarted = await operator.kill()
    await restarted.settle()
    await restarted.pass_time(minutes=6)
    assert running(restarted) == []
    decision = restarted.table("t0")["status"]["retention"]["decision"]
    assert (decision["result"], decision["reason"]) == ("Waiting", "BudgetSpent")
