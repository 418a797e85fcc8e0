"""Maintenance of one table that is due together shares a driver Pod, and gives way to more urgent work."""

from __future__ import annotations

import pytest

from paimon_operator.api.base import rfc3339
from paimon_operator.core.naming import is_batch
from paimon_operator.core.ports import Kind
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, lake, shop
from tests.runtime.shared_driver import FACTS, WINDOW_S, SharedDriver, own_pods, shared_pods, tables
from tests.support import pods
from tests.support.manifests import Manifest, run

SHARING = FACTS
RETENTION = {
    "snapshots": {"schedule": "0 * * * *"},
    "partitions": {"schedule": "0 * * * *", "expirationTime": "30d", "timestampFormatter": "yyyy-MM-dd"},
}
MEASURED: Manifest = {"after": {"snapshotId": 5, "schemaId": 0}, "seenSnapshot": 4, "seenCommit": "1/00000000"}
EXPIRIES = ["ExpirePartitions", "ExpireSnapshots"]
MARKS: Manifest = {"schedule": "0 * * * *", "timeInterval": "1d", "idleTime": "1h"}


async def made(operator: OperatorInMemory, *names: str, **spec: object) -> None:
    """Tables of these names, whose expiries are due in an hour."""
    await operator.apply(lake(), *(shop(table, spec__retention=RETENTION, **spec) for table in tables(*names)))
    await operator.pass_time(seconds=WINDOW_S)
    for pod in own_pods(operator).values():
        await operator.end_pod(pod, created=True, **MEASURED)
    if shared_pods(operator):
        driver = await SharedDriver.start(operator)
        driver.result = {"created": True, **MEASURED}
        await driver.finish()


async def due(operator: OperatorInMemory, *names: str, **spec: object) -> None:
    """Tables of these names, whose expiries are due and wait for companions."""
    await made(operator, *names, **spec)
    await operator.pass_time(hours=1)


async def shared(operator: OperatorInMemory, *names: str, **spec: object) -> SharedDriver:
    """The driver of the Pod that their expiries share."""
    await due(operator, *names, **spec)
    await operator.pass_time(seconds=WINDOW_S)
    driver = await SharedDriver.start(operator)
    driver.result = {"expired": 1, **MEASURED, "seenSnapshot": 5, "seenCommit": "2/00000000"}
    return driver


def runs_of(operator: OperatorInMemory, table: str, phase: str | None = None) -> list[str]:
    """Types of the runs of maintenance of a table, in the order of their names."""
    store = operator.store
    bodies = [store.peek(Kind.RUN, SHOP, name) or {} for name in store.names(Kind.RUN)]
    own = [body for body in bodies if body["spec"]["tableRef"]["name"] == table]
    wanted = [body for body in own if phase is None or (body.get("status") or {}).get("phase") == phase]
    return sorted(body["spec"]["type"] for body in wanted if body["spec"]["type"] != "Provision")


def created(operator: OperatorInMemory) -> list[str]:
    """Types of all runs of maintenance that were created, also of those that were deleted again."""
    runs = [each.name for each in operator.store.writes if (each.verb, each.kind) == ("create", Kind.RUN)]
    return [name.split("-")[1] for name in runs if "-provision-" not in name]


def status(operator: OperatorInMemory, table: str = "a") -> Manifest:
    found: Manifest = operator.table(table)["status"]
    return found


async def write_due(operator: OperatorInMemory, table: str = "a") -> None:
    """A user's compaction of the table, which no maintenance by schedule keeps waiting."""
    await operator.apply(shop(run(spec__tableRef__name=table, metadata__name=f"{table}-by-hand")))


async def test_what_is_due_together_shares_one_pod_in_a_sensible_order(operator: OperatorInMemory) -> None:
    driver = await shared(operator, "a")
    assert driver.types == [f"a {type_}" for type_ in EXPIRIES]
    await driver.finish()
    assert driver.performed == ["a", "a"]
    assert runs_of(operator, "a", "Succeeded") == EXPIRIES
    assert "activeRun" not in status(operator)
    assert own_pods(operator) == {}
    assert shared_pods(operator) == []


async def test_marks_that_are_due_together_with_expiries_share_their_pod(operator: OperatorInMemory) -> None:
    driver = await shared(operator, "a", spec__markPartitionsDone=MARKS)
    assert driver.types == [f"a {type_}" for type_ in ("ExpirePartitions", "MarkPartitionsDone", "ExpireSnapshots")]
    await driver.finish()
    assert runs_of(operator, "a", "Succeeded") == sorted(["MarkPartitionsDone", *EXPIRIES])
    assert own_pods(operator) == {}


async def test_the_companions_of_many_tables_come_after_the_first_runs_of_all(operator: OperatorInMemory) -> None:
    driver = await shared(operator, "a", "b")
    assert [each.split()[1] for each in driver.types] == ["ExpirePartitions"] * 2 + ["ExpireSnapshots"] * 2
    await driver.finish()
    assert [runs_of(operator, name, "Succeeded") for name in ("a", "b")] == [EXPIRIES] * 2


async def test_no_second_run_of_a_table_begins_before_the_first_has_ended(operator: OperatorInMemory) -> None:
    driver = await shared(operator, "a")
    first, second = driver.left
    assert await driver.ask()
    driver.left = [second]
    with pytest.raises(TimeoutError):
        await driver.ask()
    assert status(operator)["activeRun"]["name"] == first
    assert "attempts" not in (operator.store.peek(Kind.RUN, SHOP, second) or {})["status"]


async def test_a_companion_of_a_run_that_fails_has_its_tick_left(operator: OperatorInMemory) -> None:
    driver = await shared(operator, "a")
    await driver.turn()
    await driver.end(pods.ended(137, reason="OOMKilled"))
    assert runs_of(operator, "a") == ["ExpirePartitions"], "its companion has no place any more"
    assert "lastDue" not in status(operator).get("retention", {})
    for _ in range(4):
        await operator.pass_time(minutes=2)
        for pod in own_pods(operator).values():
            await operator.end_pod(pod, **MEASURED)
    assert runs_of(operator, "a", "Succeeded") == EXPIRIES


async def test_a_companion_that_an_edit_has_outdated_is_deleted_and_decided_again(operator: OperatorInMemory) -> None:
    driver = await shared(operator, "a")
    await driver.turn()
    (manifest,) = tables("a")
    await operator.apply(shop(manifest, spec__retention={"partitions": RETENTION["partitions"]}))
    assert not await driver.turn()
    assert runs_of(operator, "a", "Succeeded") == ["ExpirePartitions"]
    assert runs_of(operator, "a") == ["ExpirePartitions"]


async def test_without_sharing_each_run_is_created_when_it_starts() -> None:
    operator = await OperatorInMemory().start()
    await due(operator, "a")
    assert runs_of(operator, "a") == ["ExpirePartitions"]
    assert "followingRuns" not in status(operator)


async def test_runs_with_a_single_attempt_have_no_companions(operator: OperatorInMemory) -> None:
    await due(operator, "a", spec__runPolicy={"backoffLimit": 0})
    assert runs_of(operator, "a") == ["ExpirePartitions"]
    assert created(operator) == ["expirepartitions"], "none that is deleted at once"
    assert own_pods(operator) != {}


def learns_size(operator: OperatorInMemory, type_: str, memory: str) -> None:
    """An earlier run of the table `a` has run out of memory."""
    size = {"type": type_, "memory": memory, "run": "a-before", "time": rfc3339(operator.time.now())}
    operator.store.set_status(Kind.TABLE, SHOP, "a", {**status(operator), "learnedSizes": [size]})


@pytest.mark.parametrize("type_", EXPIRIES)
async def test_runs_that_begin_with_more_memory_have_their_pods_alone(operator: OperatorInMemory, type_: str) -> None:
    await made(operator, "a")
    learns_size(operator, type_, "3072Mi")
    await operator.pass_time(hours=1)
    assert created(operator) == ["expirepartitions"], "none that is deleted at once"
    for _ in range(4):
        await operator.pass_time(minutes=2)
        for driver in [await SharedDriver.start(operator, name) for name in shared_pods(operator)]:
            driver.result = MEASURED
            await driver.finish()
        for pod in own_pods(operator).values():
            await operator.end_pod(pod, **MEASURED)
    assert runs_of(operator, "a", "Succeeded") == EXPIRIES


@pytest.mark.parametrize("type_", EXPIRIES)
async def test_a_learned_size_that_is_configured_by_now_lets_runs_share(operator: OperatorInMemory, type_: str) -> None:
    await made(operator, "a", spec__spark={"driver": {"memory": "3Gi"}})
    learns_size(operator, type_, "3072Mi")
    await operator.pass_time(hours=1)
    assert created(operator) == ["expirepartitions", "expiresnapshots"]


async def test_a_learned_size_that_the_catalog_does_not_allow_lets_runs_share(operator: OperatorInMemory) -> None:
    await made(operator, "a")
    learns_size(operator, EXPIRIES[0], "3072Mi")
    await operator.apply(lake(spec__limits={"spark": {"driver": {"memory": "2Gi"}}}))
    await operator.pass_time(hours=1)
    assert created(operator) == ["expirepartitions", "expiresnapshots"]


async def test_a_compaction_shares_a_pod_with_the_expiries_of_its_own_table_alone(operator: OperatorInMemory) -> None:
    await due(operator, "a", "b", spec__compaction={"mode": "Dedicated", "full": {"schedule": "0 * * * *"}})
    await operator.pass_time(seconds=WINDOW_S)
    drivers = [await SharedDriver.start(operator, name) for name in shared_pods(operator)]
    inside = ["ExpirePartitions", "Compact", "ExpireSnapshots"]
    assert sorted(each.types for each in drivers) == [[f"{name} {type_}" for type_ in inside] for name in ("a", "b")]
    for driver in drivers:
        driver.result = MEASURED
        await driver.finish()
    assert [runs_of(operator, name, "Succeeded") for name in ("a", "b")] == [sorted(inside)] * 2
    assert own_pods(operator) == {}


async def test_waiting_maintenance_gives_way_once_and_then_goes_on(operator: OperatorInMemory) -> None:
    await shared(operator, "a", "b")
    waiting = status(operator)["activeRun"]["name"]
    await write_due(operator)
    assert status(operator)["activeRun"]["name"] == "a-by-hand"
    assert status(operator)["deferredRun"]["name"] == waiting
    assert list(own_pods(operator)) == ["a"]
    await operator.end_pod(own_pods(operator)["a"], **MEASURED)
    assert (status(operator)["activeRun"]["name"], status(operator)["activeRun"]["gaveWay"]) == (waiting, True)
    await operator.apply(shop(run(spec__tableRef__name="a", metadata__name="a-again")))
    assert status(operator)["activeRun"]["name"] == waiting, "it gives way once"


async def test_marks_that_wait_give_way_too(operator: OperatorInMemory) -> None:
    await made(operator, "a", spec__markPartitionsDone=MARKS | {"schedule": "*/30 * * * *"})
    await operator.pass_time(minutes=30)
    assert status(operator)["activeRun"]["type"] == "MarkPartitionsDone"
    await write_due(operator)
    assert status(operator)["activeRun"]["name"] == "a-by-hand"
    assert status(operator)["deferredRun"]["type"] == "MarkPartitionsDone"


async def test_a_suspended_table_asks_no_waiting_maintenance_to_give_way(operator: OperatorInMemory) -> None:
    await shared(operator, "a", "b")
    waiting = status(operator)["activeRun"]["name"]
    (manifest,) = tables("a")
    await operator.apply(
        shop(manifest, spec__retention=RETENTION, spec__suspend=True),
        shop(run(spec__tableRef__name="a", metadata__name="a-by-hand")),
    )
    assert (status(operator)["activeRun"]["name"], "deferredRun" in status(operator)) == (waiting, False)
    assert own_pods(operator) == {}


def one_run_at_once() -> Manifest:
    return lake(spec__limits={"maxConcurrentRuns": 1})


async def test_nothing_gives_way_to_a_run_that_has_no_place(operator: OperatorInMemory) -> None:
    await shared(operator, "a", "b")
    waiting = status(operator)["activeRun"]["name"]
    await operator.apply(one_run_at_once())
    await write_due(operator)
    assert (status(operator)["activeRun"]["name"], "givesWay" in status(operator)["activeRun"]) == (waiting, False)


async def test_a_run_that_has_given_way_waits_for_a_place_of_its_own(operator: OperatorInMemory) -> None:
    driver = await shared(operator, "a", "b")
    waiting = status(operator)["activeRun"]["name"]
    await write_due(operator)
    await operator.apply(one_run_at_once())
    await operator.end_pod(own_pods(operator)["a"], **MEASURED)
    assert status(operator)["queuedRun"]["type"] == "ExpirePartitions"
    assert (status(operator)["deferredRun"]["name"], "activeRun" in status(operator)) == (waiting, False)
    while not driver.performed:
        await driver.turn()
    assert not await driver.turn(), "it reports the end for table b, and asks for the second run of a"
    assert status(operator)["activeRun"]["name"] == waiting, "it is before the second run of b"


async def test_a_driver_that_asks_for_a_run_that_has_given_way_goes_on_with_others(operator: OperatorInMemory) -> None:
    driver = await shared(operator, "a", "b")
    await write_due(operator)
    await driver.finish()
    assert driver.performed == ["b", "b"]
    assert runs_of(operator, "b", "Succeeded") == EXPIRIES


async def test_a_turn_that_has_begun_is_not_given_up(operator: OperatorInMemory) -> None:
    driver = await shared(operator, "a", "b")
    assert await driver.turn()
    first = driver.performed[0]
    named = status(operator, first)["activeRun"]["name"]
    await write_due(operator, first)
    assert status(operator, first)["activeRun"]["name"] == named
    assert own_pods(operator) == {}


async def test_a_run_that_was_deleted_before_its_turn_keeps_the_table_from_nothing(operator: OperatorInMemory) -> None:
    driver = await shared(operator, "a", "b")
    operator.store.delete_as_user(Kind.RUN, SHOP, status(operator)["activeRun"]["name"])
    await operator.settle()
    await write_due(operator)
    assert list(own_pods(operator)) == ["a"]
    assert is_batch(operator.store.peek(Kind.POD, SHOP, driver.pod.name) or {}), "the Pod of the others is at work"


async def test_a_finished_run_that_was_deleted_keeps_the_table_from_nothing(operator: OperatorInMemory) -> None:
    driver = await shared(operator, "a", "b")
    while "activeRun" in status(operator, "a") and "activeRun" in status(operator, "b"):
        await driver.turn()
    done = next(name for name in ("a", "b") if "activeRun" not in status(operator, name))
    for name in operator.store.names(Kind.RUN):
        if name.startswith(f"{done}-expire"):
            operator.store.delete_as_user(Kind.RUN, SHOP, name)
    await operator.settle()
    await write_due(operator, done)
    assert list(own_pods(operator)) == [done]
    assert shared_pods(operator) == [driver.pod.name], "the Pod of the others is active"
