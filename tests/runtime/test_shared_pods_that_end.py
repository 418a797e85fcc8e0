"""A shared Pod ends while runs are in their turns: what each of them and those that wait make of it."""

from __future__ import annotations

import pytest

from paimon_contract.turns import TurnRequest
from paimon_operator.core.ports import Kind
from paimon_operator.errors import RetryableError
from paimon_operator.runtime import bodies
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory
from tests.runtime.shared_driver import (
    FACTS,
    WINDOW_S,
    SharedDriver,
    own_pods,
    reason,
    run_of,
    shared,
    shared_pods,
    tables,
)
from tests.support import pods
from tests.support.object_store import Fault

SHARING = FACTS
KILLED = {
    "evicted": (pods.evicted(), "DiskFull"),
    "terminated": (pods.ended(143), "DriverFailed"),
    "ended without a result": (pods.ended(0), "ResultMissing"),
}


@pytest.mark.parametrize(("status", "expected"), KILLED.values(), ids=KILLED)
async def test_after_the_end_of_the_pod_only_the_run_in_turn_counts_an_attempt(
    operator: OperatorInMemory, status: pods.Json, expected: str
) -> None:
    driver = await shared(operator, "a", "b", "c", "d")
    await driver.turn()
    await driver.turn()
    done, in_turn = driver.performed
    await driver.end(status)
    await operator.pass_time(seconds=WINDOW_S)
    assert operator.condition("Ready", done)[0] == "True"
    (attempt,) = run_of(operator, in_turn)["status"]["attempts"]
    assert (attempt["state"], attempt["reason"]) == ("Ended", expected)
    second = await SharedDriver.start(operator)
    assert set(second.pod.runs.values()) == {"a", "b", "c", "d"} - {done, in_turn}
    await second.finish()
    await operator.pass_time(minutes=2)
    assert list(own_pods(operator)) == [in_turn]


async def test_of_two_runs_in_their_turns_at_once_one_reports_and_the_other_is_repeated_after_the_end_of_the_pod(
    operator: OperatorInMemory,
) -> None:
    driver = await shared(operator, "a", "b", "c", "d")
    first, second = driver.left[:2]
    assert await driver.ask()
    assert await driver.ask()
    driver.perform(second)
    await driver.send(TurnRequest(report=driver.unreported))
    driver.unreported = None
    await driver.end(pods.ended(143))
    await operator.pass_time(seconds=WINDOW_S)
    runs = {name: run_of(operator, name) for name in driver.pod.runs.values()}
    ended, repeated = runs[driver.pod.runs[second]], runs[driver.pod.runs[first]]
    assert (ended["status"]["phase"], len(ended["status"]["attempts"])) == ("Succeeded", 1)
    assert [each["state"] for each in repeated["status"]["attempts"]] == ["Ended"]
    other = await SharedDriver.start(operator)
    assert set(other.pod.runs) == set(driver.pod.runs) - {first, second}
    await other.finish()
    await operator.pass_time(minutes=2)
    assert list(own_pods(operator)) == [driver.pod.runs[first]]


async def test_the_end_of_a_deleted_pod_is_read_by_each_run_in_its_turn(operator: OperatorInMemory) -> None:
    """Without the finalizer of the Pod, the first one would let it vanish before the other has read its result."""
    driver = await shared(operator)
    first, second = driver.left[:2]
    assert await driver.ask()
    assert await driver.ask()
    driver.perform(second)
    operator.store.delete_as_user(Kind.POD, SHOP, driver.pod.name)
    await driver.end()
    await operator.pass_time(seconds=WINDOW_S + 30)
    attempts = {name: run_of(operator, driver.pod.runs[name])["status"]["attempts"] for name in (first, second)}
    assert attempts[first][0]["reason"] == "ResultMissing"
    assert [each.get("reason") for each in attempts[second]] == [None]
    assert driver.pod.name not in operator.store.names(Kind.POD)


async def test_a_run_that_is_deleted_in_its_turn_waits_for_no_other_run_of_the_pod(operator: OperatorInMemory) -> None:
    driver = await shared(operator)
    deleted, other = driver.left[:2]
    assert await driver.ask()
    assert await driver.ask()
    operator.store.delete_as_user(Kind.RUN, SHOP, deleted)
    await operator.settle()
    operator.store.faults.append(Fault("apply_status", Kind.RUN, RetryableError("away", status=503)))
    await driver.end(pods.ended(143))
    assert run_of(operator, driver.pod.runs[other])["status"]["attempts"][0]["state"] == "Running", "not stored yet"
    assert deleted not in operator.store.names(Kind.RUN)


async def test_no_turn_begins_in_a_pod_that_is_being_deleted(operator: OperatorInMemory) -> None:
    driver = await shared(operator)
    assert await driver.turn()
    operator.store.delete_as_user(Kind.POD, SHOP, driver.pod.name)
    await operator.settle()
    assert not await driver.turn()
    assert len(driver.performed) == 1


async def test_after_a_pod_had_too_little_memory_runs_of_its_catalog_start_alone(operator: OperatorInMemory) -> None:
    driver = await shared(operator)
    assert await driver.turn()
    await driver.end(pods.ended(137, reason="OOMKilled"))
    await operator.pass_time(seconds=1)
    assert len(own_pods(operator)) == 2, "those that had not begun"
    assert shared_pods(operator) == []


async def test_a_pod_that_had_too_little_memory_takes_no_run_from_another_pod(operator: OperatorInMemory) -> None:
    driver = await shared(operator)
    await operator.apply(*tables("d", "e"))
    await operator.pass_time(seconds=WINDOW_S)
    (other,) = {*shared_pods(operator)} - {driver.pod.name}
    assert await driver.turn()
    await driver.end(pods.ended(137, reason="OOMKilled"))
    await operator.pass_time(seconds=60)
    assert shared_pods(operator) == [other]
    assert {reason(operator, name) for name in "de"} == {"WaitingForTurn"}


async def test_a_result_that_could_not_be_reported_is_read_from_the_pod(operator: OperatorInMemory) -> None:
    driver = await shared(operator)
    await driver.turn()
    (done,) = driver.performed
    await driver.end()
    assert run_of(operator, done)["status"]["phase"] == "Succeeded"


async def test_a_result_of_another_run_does_not_count_for_the_run_in_turn(operator: OperatorInMemory) -> None:
    """The driver has not received the answer by which the second turn began."""
    driver = await shared(operator)
    await driver.turn()
    first = driver.unreported
    await driver.ask()
    driver.unreported = first
    await driver.end()
    others = (run_of(operator, name)["status"] for name in driver.pod.runs.values() if name not in driver.performed)
    assert [each["attempts"][0]["reason"] for each in others if each.get("attempts")] == ["ResultMissing"]


@pytest.mark.parametrize("largest", [bodies.LARGEST, 0], ids=["kept in the cache", "too large for the cache"])
async def test_a_turn_reads_the_jobs_of_no_shared_pod(
    operator: OperatorInMemory, monkeypatch: pytest.MonkeyPatch, largest: int
) -> None:
    """Each has those of up to fifty runs. Pods that have ended stay for minutes, and a turn costs no more by them."""
    monkeypatch.setattr(bodies, "LARGEST", largest)
    ended = await shared(operator)
    await ended.finish()
    await operator.apply(*tables("d", "e"))
    await operator.pass_time(seconds=WINDOW_S)
    driver = await SharedDriver.start(operator)
    operator.batches._ended["one whose deletion the watch has lost"] = SHOP
    operator.store.requests.clear()
    assert await driver.turn()
    assert [*operator.batches._ended] == [ended.pod.uid], "nothing is kept of a Pod that does not exist"
    reads = [(each.verb, each.name) for each in operator.store.requests if each.kind is Kind.POD]
    assert reads[:2] == [("list", ""), ("list_metadata", "")], "the Pods of the table, and which shared ones there are"
    assert {name for _, name in reads[2:]} <= {driver.pod.name}, "its own Pod is read where the cache cannot keep it"


async def test_the_begin_of_a_turn_is_one_write_of_its_run(operator: OperatorInMemory) -> None:
    driver = await shared(operator)
    operator.store.requests.clear()
    assert await driver.turn()
    await operator.settle()
    assert [each.verb for each in operator.store.requests if each.kind is Kind.RUN] == ["apply_status"]
    message = f"it is the run's turn in pod {driver.pod.name}"
    (succeeded,) = [
        each for each in run_of(operator, driver.performed[0])["status"]["conditions"] if each["type"] == "Succeeded"
    ]
    assert (succeeded["reason"], succeeded["message"]) == ("Running", message)
