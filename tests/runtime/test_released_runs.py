"""One driver per table after a run is deleted: released by hand, or cancelled while a create was being sent."""

from __future__ import annotations

from typing import Any

from paimon_operator.core.ports import Kind
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, lake, orders, provisioned
from tests.support import pods
from tests.support.manifests import edited
from tests.support.object_store import Json

LIST_PODS = ("list", Kind.POD)


def start_driver(operator: OperatorInMemory, pod: str) -> Json:
    """Binds the Pod to a node and starts its container. Returns the Pod."""
    body = operator.store.peek(Kind.POD, SHOP, pod) or {}
    operator.store.put(edited(body, spec__nodeName="node-1"))
    operator.store.set_status(Kind.POD, SHOP, pod, pods.running())
    return operator.store.peek(Kind.POD, SHOP, pod) or {}


async def release_run_on_unreachable_node(operator: OperatorInMemory) -> str:
    """Cancels a run on an unreachable node and removes its finalizer. Returns the name of its Pod."""
    await operator.apply(lake(), orders())
    (pod,), (name,) = operator.store.names(Kind.POD), operator.store.names(Kind.RUN)
    start_driver(operator, pod)
    await operator.settle()
    operator.store.delete_as_user(Kind.RUN, SHOP, name)
    await operator.settle()
    await operator.pass_time(minutes=3)
    await operator.pass_time(minutes=1)
    assert operator.condition("Stalled")[1] == "NodeSilent"
    await operator.store.set_finalizers(Kind.RUN, operator.store.peek(Kind.RUN, SHOP, name) or {}, [])
    await operator.settle()
    return pod


def conditions_of_only_run(operator: OperatorInMemory) -> dict[str, Any]:
    """The conditions of the only run."""
    (name,) = operator.store.names(Kind.RUN)
    status = (operator.store.peek(Kind.RUN, SHOP, name) or {})["status"]
    return {each["type"]: each for each in status["conditions"]}


async def test_no_other_run_creates_a_pod_while_the_driver_of_a_released_run_may_be_running(
    operator: OperatorInMemory,
) -> None:
    pod = await release_run_on_unreachable_node(operator)
    await operator.pass_time(minutes=20)
    assert operator.store.names(Kind.POD) == [pod]
    stalled = conditions_of_only_run(operator)["Stalled"]
    assert (stalled["status"], stalled["reason"]) == ("True", "NodeSilent")
    assert f"kubectl delete pod {pod} -n {SHOP} --force" in stalled["message"]
    assert "Do not remove the finalizer of the run" in stalled["message"]
    assert operator.condition("Stalled")[1] == "NodeSilent"

    body = operator.store.peek(Kind.POD, SHOP, pod) or {}
    await operator.store.release(
        Kind.POD, SHOP, pod, uid=body["metadata"]["uid"], finalizers=body["metadata"]["finalizers"]
    )
    await operator.pass_time(minutes=1)
    (next_pod,) = operator.store.names(Kind.POD)
    await operator.end_pod(next_pod, created=True)
    assert operator.condition("Ready")[0] == "True"


async def test_the_pod_of_a_released_run_is_released_at_its_active_deadline_and_the_next_run_starts(
    operator: OperatorInMemory,
) -> None:
    """No event of the Pod follows, because it was deleted before its run was released."""
    pod = await release_run_on_unreachable_node(operator)
    for _ in range(12):
        await operator.pass_time(minutes=10)
    assert operator.store.peek(Kind.POD, SHOP, pod) is None
    (next_pod,) = operator.store.names(Kind.POD)
    await operator.end_pod(next_pod, created=True)
    assert operator.condition("Ready")[0] == "True"


async def test_a_late_pod_of_a_cancelled_run_ends_before_the_next_run_creates_its_pod(
    operator: OperatorInMemory,
) -> None:
    await operator.apply(lake(), orders())
    (pod,), (name,) = operator.store.names(Kind.POD), operator.store.names(Kind.RUN)
    body = start_driver(operator, pod)
    operator.store.put(orders(spec__suspend=True))
    operator.store.delete_as_user(Kind.RUN, SHOP, name)
    await operator.settle()
    await operator.end_pod(pod, exit_code=143)
    await operator.pass_time(minutes=1)
    assert (operator.store.names(Kind.RUN), operator.store.names(Kind.POD)) == ([], [])

    operator.store.put({**body, "status": {}})
    operator.store.set_status(Kind.POD, SHOP, pod, pods.running())
    await operator.apply(orders())
    await operator.pass_time(seconds=50)
    assert operator.store.names(Kind.POD) == [pod]
    waiting = conditions_of_only_run(operator)["Reconciling"]
    assert (waiting["reason"], waiting["message"]) == (
        "Stopping",
        f"pod {pod} of another run of the table must end first",
    )

    operator.store.set_status(Kind.POD, SHOP, pod, pods.ended(143))
    await operator.pass_time(minutes=1)
    (next_pod,) = operator.store.names(Kind.POD)
    assert next_pod != pod


async def test_the_pods_of_a_table_are_listed_once_for_each_pod_that_is_created(operator: OperatorInMemory) -> None:
    await operator.apply(lake())  # the catalog lists its observers once
    operator.store.requests.clear()
    await provisioned(operator)
    await operator.resync.list_all()
    await operator.pass_time(minutes=10)
    asked: list[tuple[str, Kind]] = [(request.verb, request.kind) for request in operator.store.requests]
    assert (asked.count(LIST_PODS), asked.count(("create", Kind.POD))) == (1, 1)
    assert asked.index(LIST_PODS) < asked.index(("create", Kind.POD))


async def test_the_driver_of_another_table_does_not_block_a_run(operator: OperatorInMemory) -> None:
    await operator.apply(lake(), orders(), orders(metadata__name="clicks"))
    assert len(operator.store.names(Kind.POD)) == 2
