"""Small runs of a catalog share a driver Pod: who shares one, turns, failures, kills and what happens beside them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from paimon_operator.core.launch.batch_pod import read_batch
from paimon_operator.core.launch.builder import LaunchBuilder
from paimon_operator.core.ports import Kind
from paimon_operator.errors import ForbiddenError
from paimon_operator.runtime.batches import LONGEST_WINDOW, PATIENCE, UNSHARED_FOR
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.run_observations import RunObservations
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, lake, shop
from tests.runtime.shared_driver import (
    FACTS,
    NAMES,
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
from tests.support.manifests import run
from tests.support.object_store import Fault

SHARING = FACTS


async def test_tables_that_are_applied_together_become_ready_by_one_pod(operator: OperatorInMemory) -> None:
    driver = await shared(operator)
    assert [reason(operator, name) for name in NAMES] == ["WaitingForTurn"] * 3
    await driver.finish()
    assert sorted(driver.performed) == sorted(NAMES)
    assert [operator.condition("Ready", name)[0] for name in NAMES] == ["True"] * 3
    assert operator.store.names(Kind.POD) == [driver.pod.name]
    assert operator.store.names(Kind.CONFIG_MAP) == []


def message(operator: OperatorInMemory, table: str) -> str:
    """Why the run of the table waits."""
    conditions = run_of(operator, table)["status"]["conditions"]
    return next(str(each["message"]) for each in conditions if each["type"] == "Succeeded")


async def test_a_run_names_its_pod_only_once_it_has_waited_for_it_as_that_costs_a_write(
    operator: OperatorInMemory,
) -> None:
    driver = await shared(operator)
    stored = [each.name for each in operator.store.writes if (each.verb, each.kind) == ("apply_status", Kind.RUN)]
    assert len(stored) == len(set(stored)) == len(NAMES), "one for each run, when it was created"
    assert [driver.pod.name in message(operator, name) for name in NAMES] == [False] * 3
    await operator.pass_time(seconds=31)
    assert [driver.pod.name in message(operator, name) for name in NAMES] == [True] * 3


async def test_a_reconcile_builds_the_launch_of_its_run_once_for_each_observation(
    operator: OperatorInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    build, observe = LaunchBuilder._launch_of, RunObservations.of
    count = Counter[str]()

    def built(*arguments: Any) -> Any:
        count["launches"] += 1
        return build(*arguments)

    async def observed(*arguments: Any, **named: Any) -> Any:
        count["observations"] += 1
        return await observe(*arguments, **named)

    monkeypatch.setattr(LaunchBuilder, "_launch_of", built)
    monkeypatch.setattr(RunObservations, "of", observed)
    await (await shared(operator)).finish()
    assert 0 < count["launches"] <= count["observations"]


async def test_each_run_has_its_own_result_and_the_cost_of_its_own_turn(operator: OperatorInMemory) -> None:
    driver = await shared(operator)
    await driver.finish()
    for name in NAMES:
        status = run_of(operator, name)["status"]
        assert (status["phase"], status["created"], status["cost"]["podSeconds"]) == ("Succeeded", True, 3)
        (attempt,) = status["attempts"]
        assert (attempt["pod"], attempt["shared"]) == (driver.pod.name, True)


async def test_the_table_of_an_ended_turn_goes_on_while_the_pod_performs_others(operator: OperatorInMemory) -> None:
    driver = await shared(operator)
    for _ in range(2):
        await driver.turn()
    first = driver.performed[0]
    assert operator.condition("Ready", first)[0] == "True"
    assert "activeRun" not in operator.table(first)["status"]


async def test_a_run_without_companions_starts_alone_after_the_window_and_not_before(
    operator: OperatorInMemory,
) -> None:
    await operator.apply(lake(), *tables("a"))
    await operator.pass_time(seconds=WINDOW_S - 0.1)
    assert operator.store.names(Kind.POD) == []
    await operator.pass_time(seconds=0.1)
    assert list(own_pods(operator)) == ["a"]
    assert shared_pods(operator) == []


async def test_a_run_waits_for_those_that_come_within_the_window_of_the_latest_one(operator: OperatorInMemory) -> None:
    await operator.apply(lake())
    for table in tables(*NAMES):
        await operator.apply(table)
        await operator.pass_time(seconds=WINDOW_S - 0.1)
        assert shared_pods(operator) == []
    await operator.pass_time(seconds=0.2)
    (pod,) = (read_batch(operator.store.peek(Kind.POD, SHOP, name) or {}) for name in shared_pods(operator))
    assert pod is not None
    assert set(pod.runs.values()) == set(NAMES)


async def test_no_run_waits_longer_than_the_longest_window(operator: OperatorInMemory) -> None:
    await operator.apply(lake())
    waited = 0.0
    for table in tables(*(f"t{number}" for number in range(40))):
        await operator.apply(table)
        await operator.pass_time(seconds=WINDOW_S / 2)
        waited += WINDOW_S / 2
        if shared_pods(operator):
            break
    assert waited == LONGEST_WINDOW.total_seconds()


async def test_a_run_that_is_reconciled_again_extends_no_window(operator: OperatorInMemory) -> None:
    await operator.apply(lake(), *tables("a", "b"))
    for _ in range(4):
        await operator.pass_time(seconds=WINDOW_S / 4)
        for name in operator.store.names(Kind.RUN):
            operator.queue.add(Key(Kind.RUN, SHOP, name))
        await operator.settle()
    assert len(shared_pods(operator)) == 1


async def test_at_most_fifty_runs_share_a_pod(operator: OperatorInMemory) -> None:
    await operator.apply(lake(), *tables(*(f"t{number}" for number in range(52))))
    await operator.pass_time(seconds=WINDOW_S)
    bodies = [operator.store.peek(Kind.POD, SHOP, name) or {} for name in shared_pods(operator)]
    found = [read_batch(body) for body in bodies]
    assert sorted(len(each.runs) for each in found if each is not None) == [2, 50]


async def test_runs_of_two_catalogs_share_no_pod(operator: OperatorInMemory) -> None:
    pond = lake(metadata__name="pond", spec__warehouse="s3://pond/warehouse")
    others = [shop(table, spec__catalogRef__name="pond") for table in tables("c", "d")]
    await operator.apply(lake(), pond, *tables("a", "b"), *others)
    await operator.pass_time(seconds=WINDOW_S)
    bodies = [operator.store.peek(Kind.POD, SHOP, name) or {} for name in shared_pods(operator)]
    found = [set(each.runs.values()) for each in map(read_batch, bodies) if each is not None]
    assert sorted(map(sorted, found)) == [["a", "b"], ["c", "d"]]


async def test_a_large_run_has_its_pod_at_once(operator: OperatorInMemory) -> None:
    driver = await shared(operator)
    await driver.finish()
    compaction = shop(run(spec__tableRef__name="a"))
    await operator.apply(compaction)
    assert list(own_pods(operator)) == ["a"]


async def test_the_failure_of_one_run_leaves_the_others_untouched(operator: OperatorInMemory) -> None:
    driver = await shared(operator)
    driver.failing["b"] = {"class": "Spec", "reason": "InvalidSpec", "message": "a wrong option"}
    await driver.finish()
    assert [operator.condition("Ready", name)[0] for name in NAMES] == ["True", "False", "True"]
    assert run_of(operator, "b")["status"]["failureClass"] == "Spec"
    assert shared_pods(operator) == []


async def test_a_failed_turn_is_repeated_in_a_pod_of_its_own(operator: OperatorInMemory) -> None:
    driver = await shared(operator)
    driver.failing["b"] = {"class": "Infrastructure", "reason": "DriverFailed", "message": "no answer"}
    await driver.finish()
    await operator.pass_time(minutes=2)
    assert list(own_pods(operator)) == ["b"]
    await operator.end_pod(own_pods(operator)["b"], created=True)
    assert operator.condition("Ready", "b")[0] == "True"
    assert len(run_of(operator, "b")["status"]["attempts"]) == 2


async def test_a_turn_that_has_begun_begins_again_for_the_same_pod_alone(operator: OperatorInMemory) -> None:
    """A driver repeats a request whose answer was lost."""
    driver = await shared(operator)
    before = list(driver.left)
    assert await driver.ask()
    driver.left = before
    assert await driver.ask()
    attempts = run_of(operator, driver.pod.runs[before[0]])["status"]["attempts"]
    assert len(attempts) == 1


async def test_the_turn_of_a_run_that_was_deleted_meanwhile_does_not_begin(operator: OperatorInMemory) -> None:
    driver = await shared(operator)
    cancelled = driver.left[0]
    operator.store.delete_as_user(Kind.RUN, SHOP, cancelled)
    await operator.settle()
    assert cancelled not in operator.store.names(Kind.RUN), "it waits for nothing"
    assert not await driver.turn()
    assert await driver.turn()


async def test_a_run_that_is_deleted_in_its_turn_stops_the_pod_and_the_others_share_another_one(
    operator: OperatorInMemory,
) -> None:
    driver = await shared(operator)
    await driver.turn()
    (table,) = driver.performed
    name = run_of(operator, table)["metadata"]["name"]
    operator.store.delete_as_user(Kind.RUN, SHOP, name)
    await operator.settle()
    assert "deletionTimestamp" in (operator.store.peek(Kind.POD, SHOP, driver.pod.name) or {})["metadata"]
    await driver.end(pods.ended(143))
    await operator.pass_time(seconds=WINDOW_S + 60)
    assert name not in operator.store.names(Kind.RUN)
    second = await SharedDriver.start(operator)
    assert second.pod.name != driver.pod.name
    assert set(second.pod.runs.values()) >= set(NAMES) - {table}


async def test_a_finished_run_that_is_deleted_leaves_the_pod_to_the_others(operator: OperatorInMemory) -> None:
    driver = await shared(operator)
    await driver.turn()
    await driver.turn()
    name = run_of(operator, driver.performed[0])["metadata"]["name"]
    operator.store.delete_as_user(Kind.RUN, SHOP, name)
    await operator.settle()
    assert name not in operator.store.names(Kind.RUN)
    assert "deletionTimestamp" not in (operator.store.peek(Kind.POD, SHOP, driver.pod.name) or {})["metadata"]


async def test_a_job_that_an_edit_has_outdated_is_not_performed(operator: OperatorInMemory) -> None:
    driver = await shared(operator)
    run_name = driver.left[0]
    table = driver.pod.runs[run_name]
    (manifest,) = tables(table)
    await operator.apply(shop(manifest, spec__options={"file.compression": "zstd"}))
    assert not await driver.turn()
    assert table not in driver.performed


async def test_a_pod_that_makes_no_progress_loses_its_runs(operator: OperatorInMemory) -> None:
    await operator.apply(lake(), *tables(*NAMES))
    await operator.pass_time(seconds=WINDOW_S)
    await operator.pass_time(seconds=PATIENCE.total_seconds() - 31)
    assert own_pods(operator) == {}
    await operator.pass_time(seconds=61)
    assert sorted(own_pods(operator)) == list(NAMES)
    late = await SharedDriver.start(operator)
    await late.finish()
    assert late.performed == []


async def test_runs_start_alone_after_a_pod_that_could_not_reach_the_operator(operator: OperatorInMemory) -> None:
    driver = await shared(operator)
    await driver.end()
    assert sorted(own_pods(operator)) == list(NAMES)
    await operator.apply(*tables("d"))
    assert "d" in own_pods(operator), "without a window"
    await operator.pass_time(seconds=UNSHARED_FOR.total_seconds())
    await operator.apply(*tables("e"))
    assert "e" not in own_pods(operator)


async def test_runs_start_alone_if_their_pod_is_refused(operator: OperatorInMemory) -> None:
    operator.store.faults.append(Fault("create", Kind.POD, ForbiddenError("exceeded quota", status=403)))
    await operator.apply(lake(), *tables(*NAMES))
    await operator.pass_time(seconds=WINDOW_S)
    assert sorted(own_pods(operator)) == list(NAMES)


async def test_an_ended_pod_is_deleted_after_its_log_could_be_read(operator: OperatorInMemory) -> None:
    driver = await shared(operator)
    await driver.finish()
    body = operator.store.peek(Kind.POD, SHOP, driver.pod.name) or {}
    assert body["metadata"]["finalizers"] == []
    await operator.pass_time(minutes=11)
    assert operator.store.names(Kind.POD) == []


@pytest.mark.parametrize("is_known", [True, False], ids=["a known Pod", "a Pod whose events are lost"])
async def test_a_run_waits_for_the_shared_pod_of_a_run_that_was_removed_by_hand(
    operator: OperatorInMemory, is_known: bool
) -> None:
    driver = await shared(operator)
    await driver.turn()
    if not is_known:
        operator.batches._pods.clear()
    (table,) = driver.performed
    body = run_of(operator, table)
    removed = {**body, "metadata": {**body["metadata"], "finalizers": []}}
    operator.store._stored(Kind.RUN, removed)
    operator.store.delete_as_user(Kind.RUN, SHOP, body["metadata"]["name"])
    await operator.settle()
    for _ in range(4):
        await operator.pass_time(minutes=1)
    assert table not in own_pods(operator), "its driver may still be at work"
    await driver.end(pods.ended(137))
    if not is_known:
        operator.batches._ended.clear()
    for _ in range(4):
        await operator.pass_time(minutes=1)
    assert table in {*own_pods(operator), *(name for pod in shared_pods(operator) for name in _tables(operator, pod))}


def _tables(operator: OperatorInMemory, pod: str) -> list[str]:
    found = read_batch(operator.store.peek(Kind.POD, SHOP, pod) or {})
    return [] if found is None else list(found.runs.values())
