"""A table becomes Ready despite failed requests, a killed operator and refusals."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from paimon_operator.core.ports import Kind
from paimon_operator.errors import ForbiddenError, InvalidObjectError, KubernetesError, RetryableError, StaleError
from paimon_operator.runtime.keys import Key
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, has_ended, lake, orders, provisioned, shop
from tests.support.manifests import Manifest, run
from tests.support.object_store import Fault, Verb

UNKNOWN = RetryableError("no answer", status=0)
FAULTS: list[tuple[str, Fault]] = [
    ("429 on the finalizer", Fault("set_finalizers", Kind.TABLE, RetryableError("slow", status=429, retry_after=7))),
    ("409 on the finalizer", Fault("set_finalizers", Kind.TABLE, StaleError("changed", status=409))),
    ("500 on the table's status", Fault("apply_status", Kind.TABLE, RetryableError("broken", status=500))),
    ("409 on the table's status", Fault("apply_status", Kind.TABLE, StaleError("changed", status=409))),
    ("the table's status stored, answer lost", Fault("apply_status", Kind.TABLE, UNKNOWN, carried_out=True)),
    ("500 on the run's create", Fault("create", Kind.RUN, RetryableError("broken", status=500))),
    ("the run created, answer lost", Fault("create", Kind.RUN, UNKNOWN, carried_out=True)),
    ("500 on the run's status", Fault("apply_status", Kind.RUN, RetryableError("broken", status=500))),
    ("the attempt stored, answer lost", Fault("apply_status", Kind.RUN, UNKNOWN, carried_out=True)),
    ("500 on the ConfigMap", Fault("create", Kind.CONFIG_MAP, RetryableError("broken", status=500))),
    ("the ConfigMap created, answer lost", Fault("create", Kind.CONFIG_MAP, UNKNOWN, carried_out=True)),
    ("500 on the Pod", Fault("create", Kind.POD, RetryableError("broken", status=500))),
    ("the Pod created, answer lost", Fault("create", Kind.POD, UNKNOWN, carried_out=True)),
    ("403 on the Pod", Fault("create", Kind.POD, ForbiddenError("exceeded quota", status=403))),
    ("422 on the Pod", Fault("create", Kind.POD, InvalidObjectError("a webhook said no", status=422))),
    ("503 on the list of other Pods", Fault("list", Kind.POD, RetryableError("away", status=503))),
    ("an unknown error", Fault("get", Kind.TABLE, KubernetesError("418 teapot", status=418))),
]


@pytest.mark.parametrize("fault", [fault for _, fault in FAULTS], ids=[name for name, _ in FAULTS])
async def test_after_one_fault_one_run_makes_the_table_ready(operator: OperatorInMemory, fault: Fault) -> None:
    operator.store.faults.append(fault)
    await operator.apply(lake(), orders())
    await operator.pass_time(minutes=2)
    assert operator.store.faults == [], "the faulty request was never sent"
    (pod,) = operator.store.names(Kind.POD)
    await operator.end_pod(pod, created=True)
    await operator.pass_time(minutes=2)
    assert operator.condition("Ready")[0] == "True"
    assert len(operator.store.names(Kind.RUN)) == 1
    assert len(operator.store.names(Kind.POD)) == 1
    assert [each[:3] for each in operator.run_metrics.ended] == [("Provision", "Succeeded", "RunSucceeded")]


@pytest.mark.every_write
async def test_after_a_kill_at_any_write_the_next_process_makes_the_table_ready_by_one_run() -> None:
    """The process is killed at its n-th write, once before the write and once before it receives the answer."""
    whole = await OperatorInMemory().start()
    await provisioned(whole)
    writes = [(request.verb, request.kind) for request in whole.store.writes]
    await whole.kill()
    assert len(writes) > 10
    for number in range(len(writes)):
        for carried_out in (False, True):
            await _killed_at(number, writes, carried_out=carried_out)


async def _killed_at(number: int, writes: Sequence[tuple[str, Kind]], *, carried_out: bool) -> None:
    operator = await OperatorInMemory().start()
    operator.store.kill_at(number, carried_out=carried_out)
    await operator.apply(lake(), orders())
    for _ in range(3):
        if operator.store.dead:
            operator.store.revive()
            operator = await operator.kill()
            await operator.settle()
        running = [name for name in operator.store.names(Kind.POD) if not has_ended(operator, name)]
        for pod in running:
            await operator.end_pod(pod, created=True)
    point = f"write {number} {writes[number]} carried_out={carried_out}"
    assert operator.condition("Ready")[0] == "True", point
    assert len(operator.store.names(Kind.RUN)) == len(operator.store.names(Kind.POD)) == 1, point
    await operator.kill()


async def test_a_request_is_repeated_after_its_retry_after(operator: OperatorInMemory) -> None:
    await provisioned(operator)
    operator.store.faults.append(Fault("get", Kind.TABLE, RetryableError("slow down", status=429, retry_after=120)))
    key = Key(Kind.TABLE, SHOP, "orders")
    operator.doubts.failed(key)
    operator.queue.add(key)
    await operator.settle()
    operator.store.requests.clear()
    await operator.pass_time(seconds=119)
    assert operator.store.requests == []
    await operator.pass_time(seconds=10)
    assert operator.store.requests


ERRORS = 1000
"""Number of faults that `fail_always` adds: more than a test uses."""


def fail_always(operator: OperatorInMemory, verb: Verb, kind: Kind, *errors: KubernetesError) -> None:
    """Fails every further such request, with one error for all or with one of ERRORS errors for each."""
    operator.store.faults += [Fault(verb, kind, error) for error in (errors if len(errors) > 1 else errors * ERRORS)]


def tries(operator: OperatorInMemory) -> int:
    """Number of requests that failed since `fail_always`."""
    return ERRORS - len(operator.store.faults)


async def tries_within_an_hour(operator: OperatorInMemory) -> int:
    """Passes an hour, minute by minute. Returns the number of requests that failed since `fail_always`."""
    for _ in range(60):
        await operator.pass_time(minutes=1)
    return tries(operator)


async def end_the_only_pod(operator: OperatorInMemory) -> None:
    """Ends the only Pod with success; its table becomes Ready."""
    await operator.end_pod(*operator.store.names(Kind.POD), created=True)
    assert operator.condition("Ready")[0] == "True"


async def test_a_refused_pod_is_reported_on_the_run_and_retried_at_growing_intervals(
    operator: OperatorInMemory,
) -> None:
    fail_always(operator, "create", Kind.POD, ForbiddenError("exceeded quota: pods", status=403))
    await operator.apply(lake(), orders())
    (run,) = operator.store.names(Kind.RUN)
    assert "exceeded quota: pods" in str(operator.store.peek(Kind.RUN, SHOP, run))
    assert "exceeded quota: pods" in str(operator.condition("Stalled"))
    assert 10 < await tries_within_an_hour(operator) < 40
    operator.store.faults.clear()
    await operator.pass_time(minutes=6)
    assert len(operator.store.names(Kind.POD)) == 1
    await end_the_only_pod(operator)


async def test_a_refusal_with_a_changing_message_is_not_retried_more_often(operator: OperatorInMemory) -> None:
    fail_always(
        operator,
        "create",
        Kind.POD,
        *(ForbiddenError(f"exceeded quota: used: pods={count}", status=403) for count in range(ERRORS)),
    )
    await operator.apply(lake(), orders())
    assert tries(operator) == 2, "tries before the refusal is delayed"
    assert 10 < await tries_within_an_hour(operator) < 40
    assert "exceeded quota: used: pods=" in str(operator.condition("Stalled"))


async def test_a_run_is_not_polled_continuously_while_its_table_cannot_be_written(operator: OperatorInMemory) -> None:
    broken = RetryableError("broken", status=500)
    watch = operator.store.watch

    def fail_after_the_run_is_created(kind: Kind, event: str, body: Manifest) -> None:
        if (kind, event) == (Kind.RUN, "ADDED"):
            fail_always(operator, "apply_status", Kind.TABLE, broken)
        watch(kind, event, body)

    operator.store.watch = fail_after_the_run_is_created
    await operator.apply(lake(), orders())
    operator.reconciles.clear()
    for _ in range(300):
        await operator.pass_time(seconds=0.2)
    assert 0 < len([kind for kind, _ in operator.reconciles if kind == Kind.RUN]) < 40, "reconciles within a minute"
    operator.store.faults.clear()
    await operator.pass_time(minutes=5)
    assert len(operator.store.names(Kind.POD)) == 1


async def test_a_refused_run_is_reported_on_the_table_and_retried_at_growing_intervals(
    operator: OperatorInMemory,
) -> None:
    fail_always(
        operator,
        "create",
        Kind.RUN,
        *(ForbiddenError(f"exceeded quota: used: runs={count}", status=403) for count in range(ERRORS)),
    )
    await operator.apply(lake(), orders())
    assert operator.condition("Stalled")[:2] == ("True", "NotPermitted")
    assert "exceeded quota: used: runs=" in operator.condition("Ready")[2]
    assert "NotPermitted" in operator.events.reasons("orders")
    assert tries(operator) == 2, "tries before the refusal is delayed"
    assert 10 < await tries_within_an_hour(operator) < 40
    operator.store.faults.clear()
    await operator.pass_time(minutes=6)
    await end_the_only_pod(operator)
    assert operator.condition("Stalled")[0] == "False"


async def test_a_name_taken_by_the_run_of_another_table_is_reported_until_it_is_free(
    operator: OperatorInMemory,
) -> None:
    fail_always(operator, "create", Kind.RUN, RetryableError("broken", status=500))
    await operator.apply(lake(), orders())
    operator.store.faults.clear()
    name = operator.table()["status"]["activeRun"]["name"]
    operator.store.put(shop(run(metadata__name=name, spec__tableRef={"name": "clicks"})))
    await operator.pass_time(minutes=2)
    assert operator.condition("Stalled")[:2] == ("True", "NameTaken")
    assert f"PaimonRun {name} exists already and has no owner" in operator.condition("Stalled")[2]
    assert operator.store.names(Kind.POD) == []
    operator.store.delete_as_user(Kind.RUN, SHOP, name)
    await operator.pass_time(minutes=6)
    await end_the_only_pod(operator)


async def test_a_recreated_table_does_not_wait_for_refusals_of_its_predecessor(
    operator: OperatorInMemory,
) -> None:
    fail_always(operator, "create", Kind.RUN, ForbiddenError("no rights", status=403))
    await operator.apply(lake(), orders())
    for _ in range(60):
        await operator.pass_time(minutes=1)
    operator.store.delete_as_user(Kind.TABLE, SHOP, "orders")
    await operator.settle()
    operator.store.faults.clear()
    await operator.apply(orders())
    assert len(operator.store.names(Kind.POD)) == 1


BROKEN = {"class": "Infrastructure", "reason": "DriverFailed", "message": "s3 is down"}
DENIED = ForbiddenError("admission webhook denied the request", status=403)


async def test_a_refused_release_of_a_pod_is_reported_on_run_and_table_and_retried_at_growing_intervals(
    operator: OperatorInMemory,
) -> None:
    fail_always(operator, "release", Kind.POD, DENIED)
    await operator.apply(lake(), orders())
    (pod,), (run,) = operator.store.names(Kind.POD), operator.store.names(Kind.RUN)
    await operator.end_pod(pod, exit_code=30, error=BROKEN)
    assert f"pod {pod} cannot be released" in str(
        (operator.store.peek(Kind.RUN, SHOP, run) or {})["status"]["conditions"]
    )
    assert operator.condition("Stalled")[:2] == ("True", "NotPermitted")
    assert f"pod {pod} cannot be released" in operator.condition("Stalled")[2]
    assert "admission webhook denied the request" in operator.condition("Stalled")[2]
    assert 10 < await tries_within_an_hour(operator) < 40
    operator.store.faults.clear()
    await operator.pass_time(minutes=6)
    assert len(operator.store.names(Kind.POD)) == 2
    assert operator.condition("Stalled")[0] == "False"


async def test_a_refused_release_after_the_end_of_the_run_is_reported_by_events(operator: OperatorInMemory) -> None:
    fail_always(operator, "release", Kind.POD, DENIED)
    await operator.apply(lake(), orders())
    (run,) = operator.store.names(Kind.RUN)
    await end_the_only_pod(operator)
    assert operator.events.reasons(run).count("NotPermitted") == 1
    assert 10 < await tries_within_an_hour(operator) < 40


async def test_a_refused_deletion_of_a_run_is_reported_on_its_deleted_table(operator: OperatorInMemory) -> None:
    await operator.apply(lake(), orders())
    fail_always(operator, "delete", Kind.RUN, DENIED)
    operator.store.delete_as_user(Kind.TABLE, SHOP, "orders")
    await operator.settle()
    assert operator.condition("Stalled")[:2] == ("True", "NotPermitted")
    assert tries(operator) == 2, "tries before the refusal is delayed"


async def test_a_refusal_of_one_run_neither_delays_the_next_run_nor_is_reported_for_it(
    operator: OperatorInMemory,
) -> None:
    fixed = {"spec__bucket": {"type": "Fixed", "fixed": {"count": 1}}, "spec__compaction": {"mode": "Dedicated"}}
    await operator.apply(lake(), orders(spec__deletionPolicy="Delete", **fixed))
    await operator.end_pod(*operator.store.names(Kind.POD), created=True, table={"snapshotId": 1})
    fail_always(operator, "create", Kind.RUN, ForbiddenError("exceeded quota: compactions", status=403))
    for _ in range(60):
        await operator.pass_time(minutes=6)
    assert "exceeded quota: compactions" in operator.condition("Healthy")[2]
    operator.store.faults.clear()
    operator.events.by_object.clear()
    operator.store.delete_as_user(Kind.TABLE, SHOP, "orders")
    await operator.settle()
    assert any("-drop-" in name for name in operator.store.names(Kind.RUN))
    assert "exceeded quota" not in str(operator.events.by_object)
