"""Reconciliation of tables, catalogs and runs that share a table, are deleted, or are invalid."""

from __future__ import annotations

import pytest

from paimon_operator.core.naming import FINALIZER
from paimon_operator.core.ports import Kind
from paimon_operator.errors import NamespaceTerminatingError, RetryableError
from paimon_operator.runtime.keys import Key
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, has_ended, lake, orders, provisioned, shop
from tests.support.manifests import edited, run
from tests.support.object_store import Fault


async def test_a_table_becomes_ready_by_one_run_with_one_pod(operator: OperatorInMemory) -> None:
    await provisioned(operator)
    assert len(operator.store.names(Kind.RUN)) == len(operator.store.names(Kind.CONFIG_MAP)) == 1
    assert [each[:3] for each in operator.run_metrics.ended] == [("Provision", "Succeeded", "RunSucceeded")]
    assert "activeRun" not in operator.table()["status"]
    assert {result for _, result in operator.reconciles} == {"ok"}


async def test_a_settled_table_is_reconciled_without_a_write(operator: OperatorInMemory) -> None:
    await provisioned(operator)
    operator.store.requests.clear()
    operator.reconciles.clear()
    await operator.resync.list_all()
    await operator.pass_time(minutes=10)
    assert {kind for kind, _ in operator.reconciles} == {Kind.TABLE, Kind.CATALOG}
    assert operator.store.writes == []


async def test_a_new_process_on_settled_tables_writes_nothing(operator: OperatorInMemory) -> None:
    await provisioned(operator)
    operator.store.requests.clear()
    successor = await operator.kill()
    await successor.settle()
    assert successor.reconciles, "nothing was reconciled"
    assert successor.store.writes == []
    await successor.kill()


async def test_a_pod_name_that_a_foreign_pod_has_is_never_used(operator: OperatorInMemory) -> None:
    other = await OperatorInMemory().start()
    await other.apply(lake(), orders())
    (run,) = other.store.names(Kind.RUN)
    await other.kill()
    foreign_pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": SHOP, "name": f"{run}-1"}, "spec": {}}
    await operator.apply(lake(), orders(), foreign_pod)
    await operator.pass_time(minutes=2)
    assert operator.condition("Ready")[0] != "True"
    assert "NameTaken" in str(operator.store.peek(Kind.RUN, SHOP, run))
    assert operator.store.peek(Kind.POD, SHOP, f"{run}-1") is not None, "the foreign Pod was deleted"


async def delete_table_in_terminating_namespace(operator: OperatorInMemory) -> None:
    """Provisions a table with deletionPolicy Delete and deletes it. The namespace refuses the Drop run."""
    await provisioned(operator)
    await operator.apply(orders(spec__deletionPolicy="Delete"))
    terminating = NamespaceTerminatingError("namespace shop is being terminated", status=403)
    operator.store.faults.append(Fault("create", Kind.RUN, terminating))
    operator.store.delete_as_user(Kind.TABLE, SHOP, "orders")
    await operator.settle()


async def test_a_terminating_namespace_releases_its_table_and_nothing_is_retried(
    operator: OperatorInMemory,
) -> None:
    await delete_table_in_terminating_namespace(operator)
    assert operator.store.peek(Kind.TABLE, SHOP, "orders") is None
    assert operator.store.faults == [], "the create was never tried"


async def test_another_object_for_a_table_is_stalled_and_starts_when_the_owner_is_deleted(
    operator: OperatorInMemory,
) -> None:
    await provisioned(operator)
    operator.time.advance(60)
    await operator.apply(orders(metadata__name="orders-again", spec__table="orders"))
    status, reason, message = operator.condition("Stalled", "orders-again")
    assert (status, reason) == ("True", "TableClaimed")
    assert "PaimonTable orders manages the same table" in message
    assert len(operator.store.names(Kind.RUN)) == 1
    operator.store.delete_as_user(Kind.TABLE, SHOP, "orders")
    await operator.settle()
    assert operator.condition("Stalled", "orders-again")[0] == "False"
    assert len([name for name in operator.store.names(Kind.POD) if name.startswith("orders-again")]) == 1


async def test_two_objects_for_one_table_that_arrive_together_start_one_run(operator: OperatorInMemory) -> None:
    operator.store.put(orders())
    operator.store.put(orders(metadata__name="orders-again", spec__table="orders"))
    await operator.apply(lake())
    assert len(operator.store.names(Kind.POD)) == 1


async def test_an_invalid_object_is_stalled_with_the_field_and_not_written_again(
    operator: OperatorInMemory,
) -> None:
    broken = orders(spec__bucket={"type": "Round"})
    await operator.apply(lake(), broken)
    status, reason, message = operator.condition("Stalled")
    assert (status, reason) == ("True", "InvalidSpec")
    assert "spec.bucket.type" in message
    operator.store.requests.clear()
    operator.reconciles.clear()
    await operator.resync.list_all()
    await operator.pass_time(minutes=10)
    assert (Kind.TABLE, "ok") in operator.reconciles
    assert operator.store.writes == []
    await operator.apply(orders())
    assert operator.condition("Stalled")[0] == "False"


DELETED = [("Retain", {}, True), ("Delete", {}, False), ("Retain", {"activeRun": {"name": "r"}}, False)]


@pytest.mark.parametrize(("policy", "status", "released"), DELETED)
async def test_a_deleted_invalid_object_is_released_only_without_a_drop_and_without_an_active_run(
    operator: OperatorInMemory, policy: str, status: dict[str, object], released: bool
) -> None:
    broken = orders(spec__bucket={"type": "Round"}, spec__deletionPolicy=policy)
    operator.store.put(edited(broken, metadata__finalizers=[FINALIZER]))
    operator.store.set_status(Kind.TABLE, SHOP, "orders", status)
    operator.store.delete_as_user(Kind.TABLE, SHOP, "orders")
    await operator.settle()
    assert (operator.store.peek(Kind.TABLE, SHOP, "orders") is None) == released


@pytest.mark.parametrize("kind", [Kind.CATALOG, Kind.RUN])
async def test_an_invalid_catalog_or_run_reports_the_field_in_its_own_status(
    operator: OperatorInMemory, kind: Kind
) -> None:
    broken = {
        Kind.CATALOG: lake(spec__warehouse=7),
        Kind.RUN: {
            "apiVersion": "paimon-operator.dev/v1alpha1",
            "kind": "PaimonRun",
            "metadata": {"namespace": SHOP, "name": "lake"},
            "spec": {"tableRef": {"name": "orders"}, "type": "Polish"},
        },
    }[kind]
    await operator.apply(broken)
    body = operator.store.peek(kind, SHOP, "lake") or {}
    conditions = {each["type"]: each for each in body["status"]["conditions"]}
    assert conditions["Stalled"]["status"] == "True"
    assert ("spec.warehouse" if kind is Kind.CATALOG else "spec.type") in conditions["Stalled"]["message"]


async def test_an_invalid_active_run_stays_active_and_stalls_its_table_until_it_is_valid(
    operator: OperatorInMemory,
) -> None:
    await operator.apply(lake(), orders())
    (run,) = operator.store.names(Kind.RUN)
    body = operator.store.peek(Kind.RUN, SHOP, run) or {}
    operator.store.put(body | {"spec": body["spec"] | {"type": "Polish"}})
    await operator.settle()
    status, _, message = operator.condition("Stalled")
    assert status == "True"
    assert "spec.type" in message
    assert operator.table()["status"]["activeRun"]["name"] == run
    operator.store.put(body)
    await operator.settle()
    assert operator.condition("Stalled")[0] == "False"


async def test_a_recreated_namespace_is_not_treated_as_terminating(operator: OperatorInMemory) -> None:
    await delete_table_in_terminating_namespace(operator)
    await operator.apply(orders(spec__deletionPolicy="Delete"))
    (pod,) = [name for name in operator.store.names(Kind.POD) if not has_ended(operator, name)]
    await operator.end_pod(pod, created=True)
    operator.store.delete_as_user(Kind.TABLE, SHOP, "orders")
    await operator.settle()
    assert [name for name in operator.store.names(Kind.POD) if "-drop-" in name], (
        "the table was released without its drop"
    )
    assert operator.store.peek(Kind.TABLE, SHOP, "orders") is not None


async def test_a_table_whose_driver_has_made_it_unseen_is_dropped_with_its_object(operator: OperatorInMemory) -> None:
    await operator.apply(lake(), orders(spec__deletionPolicy="Delete"))
    watch, operator.store.watch = operator.store.watch, lambda *_: None
    await operator.end_pod(operator.store.names(Kind.POD)[0], created=True)
    operator.store.watch = watch
    operator.store.delete_as_user(Kind.TABLE, SHOP, "orders")
    await operator.settle()
    await operator.pass_time(minutes=1)
    assert operator.table()["status"]["activeRun"]["type"] == "Drop"


async def test_an_object_that_became_invalid_keeps_its_table_claim(operator: OperatorInMemory) -> None:
    await operator.apply(lake(), orders())
    await operator.apply(orders(spec__bucket={"type": "Round"}))
    await operator.apply(orders(metadata__name="orders-again", spec__table="orders"))
    assert operator.condition("Stalled", "orders-again")[1] == "TableClaimed"
    assert len(operator.store.names(Kind.POD)) == 1


async def test_a_users_run_without_labels_is_found_by_its_table(operator: OperatorInMemory) -> None:
    await provisioned(operator)
    await operator.apply(shop(run()))
    (pod,) = [name for name in operator.store.names(Kind.POD) if "by-hand" in name]
    assert operator.table()["status"]["activeRun"]["name"] == "orders-compact-by-hand"
    await operator.end_pod(pod)
    assert "activeRun" not in operator.table()["status"]
    operator.store.requests.clear()
    operator.reconciles.clear()
    await operator.resync.list_all()
    await operator.pass_time(minutes=10)
    assert (Kind.TABLE, "ok") in operator.reconciles
    looked_up = [
        request.name for request in operator.store.requests if (request.verb, request.kind) == ("get", Kind.RUN)
    ]
    assert looked_up == [], "a finished run was read again"


async def test_an_active_run_without_our_label_continues_when_the_cache_lacks_it(operator: OperatorInMemory) -> None:
    await provisioned(operator)
    by_hand = shop(run())
    await operator.apply(by_hand)
    cached = operator.cache.get(Kind.RUN, SHOP, by_hand["metadata"]["name"])
    assert cached is not None
    operator.cache.drop(Kind.RUN, cached)
    operator.queue.add(Key(Kind.TABLE, SHOP, "orders"))
    await operator.settle()
    assert operator.table()["status"]["activeRun"]["name"] == by_hand["metadata"]["name"]


# Pods with our finalizer


async def test_a_pod_is_released_after_its_end_is_stored_and_the_run_after_its_pod(
    operator: OperatorInMemory,
) -> None:
    await provisioned(operator)
    writes = [(request.verb, request.kind) for request in operator.store.writes]
    released = writes.index(("release", Kind.POD))
    assert writes[released - 1] == ("apply_status", Kind.RUN)
    assert ("set_finalizers", Kind.RUN) in writes[released:]
    (pod,) = operator.store.names(Kind.POD)
    assert (operator.store.peek(Kind.POD, SHOP, pod) or {})["metadata"]["finalizers"] == []


async def test_a_run_whose_pod_cannot_be_released_yet_is_counted_once_and_retried(operator: OperatorInMemory) -> None:
    operator.store.faults.append(Fault("release", Kind.POD, RetryableError("no answer")))
    await provisioned(operator)
    await operator.pass_time(minutes=1)
    assert operator.store.faults == []
    (pod,) = operator.store.names(Kind.POD)
    assert (operator.store.peek(Kind.POD, SHOP, pod) or {})["metadata"]["finalizers"] == []
    assert [each[:3] for each in operator.run_metrics.ended] == [("Provision", "Succeeded", "RunSucceeded")]


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("successor", [False, True])
async def test_a_pod_whose_run_was_released_by_hand_is_released_once_it_has_ended(
    operator: OperatorInMemory, *, restarted: bool, successor: bool
) -> None:
    await operator.apply(lake(), orders())
    (name,) = operator.store.names(Kind.RUN)
    (pod,) = operator.store.names(Kind.POD)
    body = operator.store.peek(Kind.POD, SHOP, pod) or {}
    operator.store.put(edited(body, spec__nodeName="node-1"))
    run = operator.store.peek(Kind.RUN, SHOP, name) or {}
    await operator.store.set_finalizers(Kind.RUN, run, [])
    operator.store.delete_as_user(Kind.RUN, SHOP, name)
    if successor:
        operator.store.put({**run, "status": {}})
    operator.store.delete_as_user(Kind.POD, SHOP, pod)  # the garbage collector
    await operator.settle()
    now = await operator.kill() if restarted else operator
    assert uid_of(now, pod) == body["metadata"]["uid"], "the Pod was released before its kubelet reported its end"
    now.store.set_status(Kind.POD, SHOP, pod, {"phase": "Failed"})
    await now.settle()
    assert uid_of(now, pod) != body["metadata"]["uid"]
    await now.kill()


def uid_of(operator: OperatorInMemory, pod: str) -> str | None:
    found = operator.store.peek(Kind.POD, SHOP, pod)
    return None if found is None else found["metadata"]["uid"]
