"""The periodic resync: it lists every kind in order and removes nothing after a failed list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.errors import RetryableError
from paimon_operator.runtime import resync
from paimon_operator.runtime.keys import Key
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, has_ended, lake, orders, shop
from tests.support.manifests import run
from tests.support.object_store import Fault, Verb


async def test_a_resync_finds_a_deletion_that_no_watch_reported() -> None:
    operator = await OperatorInMemory().start()
    await operator.apply(lake(), orders(), orders(metadata__name="orders-again", spec__table="orders"))
    assert operator.condition("Stalled", "orders-again")[1] == "TableClaimed"
    operator.store.watch = lambda *_: None  # from here on no watch reports anything
    body = operator.store.peek(Kind.TABLE, SHOP, "orders")
    assert body is not None
    operator.store.delete_as_user(Kind.TABLE, SHOP, "orders")
    leaving = operator.store.peek(Kind.TABLE, SHOP, "orders") or {}
    for name in operator.store.names(Kind.RUN):
        operator.store.delete_as_user(Kind.RUN, SHOP, name)
    await operator.store.set_finalizers(Kind.TABLE, leaving, [])
    assert operator.cache.get(Kind.TABLE, SHOP, "orders") is not None, (
        "the cache has removed the table before the resync"
    )
    await operator.resync.catch_up()
    await operator.settle()
    assert operator.cache.get(Kind.TABLE, SHOP, "orders") is None
    assert operator.condition("Stalled", "orders-again")[0] == "False"
    await operator.kill()


@pytest.mark.parametrize("verb", ["list", "list_metadata"])
@pytest.mark.parametrize("kind", [Kind.CATALOG, Kind.TABLE, Kind.RUN])
async def test_a_failed_list_removes_no_object_from_the_cache(verb: Verb, kind: Kind) -> None:
    operator = await OperatorInMemory().start()
    await operator.apply(lake(), orders())
    known = operator.cache.keys(Kind.TABLE)
    operator.store.faults.append(Fault(verb, kind, RetryableError("broken", status=500)))
    with pytest.raises(RetryableError):
        await (operator.resync.list_all() if verb == "list" else operator.resync.catch_up())
    assert operator.cache.keys(Kind.TABLE) == known == [Key(Kind.TABLE, SHOP, "orders")]
    assert operator.queue.depth == 0
    await operator.kill()


def edited(operator: OperatorInMemory, names: Sequence[str]) -> None:
    """Suspends tables while no watch reports anything."""
    watch, operator.store.watch = operator.store.watch, lambda *_: None
    for name in names:
        body = operator.store.peek(Kind.TABLE, SHOP, name) or {}
        operator.store.put({**body, "spec": {**body["spec"], "suspend": True}})
    operator.store.watch = watch


@pytest.mark.parametrize(("tables", "reads"), [(1, 1), (3, 3), (4, 0)])
async def test_tables_whose_edit_no_watch_reported_are_read_one_by_one_or_listed_whole_if_they_are_many(
    tables: int, reads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resync, "FEW", 3)
    operator = await OperatorInMemory().start()
    names = [f"orders-{number}" for number in range(5)]
    await operator.apply(lake(), *(orders(metadata__name=name) for name in names))
    edited(operator, names[:tables])
    operator.store.requests.clear()
    await operator.resync.catch_up()
    asked = Counter((request.verb, request.kind) for request in operator.store.requests)
    assert (asked["get", Kind.TABLE], asked["list", Kind.TABLE]) == (reads, int(reads == 0))
    assert asked["get", Kind.RUN] + asked["list", Kind.RUN] == 0, "nothing else is read"
    await operator.settle()
    suspended = [name for name in names if "Suspended" in str(operator.table(name)["status"]["conditions"])]
    assert suspended == names[:tables]
    await operator.kill()


async def test_a_table_that_is_deleted_between_its_list_and_its_read_is_removed() -> None:
    operator = await OperatorInMemory().start()
    await operator.apply(lake(), orders(spec__suspend=True))
    edited(operator, ["orders"])
    get = operator.store.get

    async def deleted(kind: Kind, namespace: str, name: str) -> Manifest | None:
        operator.store.get = get  # type: ignore[method-assign]
        operator.store.watch = lambda *_: None
        body = operator.store.peek(kind, namespace, name) or {}
        operator.store.delete_as_user(kind, namespace, name)
        await operator.store.set_finalizers(kind, operator.store.peek(kind, namespace, name) or body, [])
        return await get(kind, namespace, name)

    operator.store.get = deleted  # type: ignore[method-assign]
    await operator.resync.catch_up()
    assert operator.cache.keys(Kind.TABLE) == []
    await operator.kill()


async def test_the_resync_is_repeated_and_survives_a_failure() -> None:
    operator = await OperatorInMemory().start()
    broken = [Fault("list_metadata", Kind.CATALOG, RetryableError("broken", status=500)) for _ in range(2)]
    operator.store.faults.extend(broken)
    pauses = 0

    async def sleep(seconds: float) -> None:
        nonlocal pauses
        assert 600 <= seconds <= 750
        pauses += 1
        if pauses == 4:
            raise TimeoutError

    operator.resync._sleep = sleep
    operator.store.requests.clear()
    with pytest.raises(TimeoutError):
        await operator.resync.repeat()
    lists = [request.kind for request in operator.store.requests if request.verb == "list_metadata"]
    assert lists == [Kind.CATALOG, Kind.CATALOG, Kind.CATALOG, Kind.TABLE, Kind.RUN]
    await operator.kill()


async def operator_with_settled_tables(tables: int) -> OperatorInMemory:
    """An operator with `tables` Ready tables, one catalog and an empty queue."""
    operator = await OperatorInMemory().start()
    await operator.apply(lake(), *(orders(metadata__name=f"orders-{number:03}") for number in range(tables)))
    for pod in operator.store.names(Kind.POD):
        await operator.end_pod(pod, created=True)
    await operator.pass_time(seconds=5)  # until their catalog counts them
    operator.store.requests.clear()
    operator.reconciles.clear()
    return operator


def reconciled_tables(operator: OperatorInMemory) -> int:
    return operator.reconciles.count((Kind.TABLE, "ok"))


async def test_a_resync_lists_metadata_three_times_and_reconciles_each_settled_table_once_before_the_next_one() -> None:
    operator = await operator_with_settled_tables(20)
    await operator.resync.catch_up()
    await operator.settle()
    assert [(request.verb, request.kind) for request in operator.store.requests] == [
        ("list_metadata", Kind.CATALOG),
        ("list_metadata", Kind.TABLE),
        ("list_metadata", Kind.RUN),
    ]
    await operator.pass_time(minutes=5)
    assert 0 < reconciled_tables(operator) < 20
    await operator.pass_time(minutes=5)
    assert reconciled_tables(operator) == 20
    assert len(operator.store.requests) == 3, "a reconcile of a settled table sends no request"
    await operator.kill()


async def test_a_finished_run_with_a_ttl_is_looked_at_again_without_a_request_until_it_is_deleted() -> None:
    operator = await operator_with_settled_tables(1)
    users = run(metadata__name="mine", spec__tableRef__name="orders-000", spec__ttlAfterFinished="1h")
    await operator.apply(shop(users))
    (pod,) = [name for name in operator.store.names(Kind.POD) if not has_ended(operator, name)]
    await operator.end_pod(pod)
    await operator.pass_time(seconds=5)
    operator.store.requests.clear()
    operator.reconciles.clear()
    await operator.resync.catch_up()
    await operator.pass_time(seconds=1)
    assert (Kind.RUN, "ok") in operator.reconciles
    assert {request.verb for request in operator.store.requests} == {"list_metadata"}
    await operator.pass_time(hours=1)
    assert "mine" not in operator.store.names(Kind.RUN)


async def test_more_tables_than_the_pace_allows_are_reconciled_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resync, "PACE", 8 / 600)  # eight objects per period
    operator = await operator_with_settled_tables(20)
    counts = []
    for _ in range(3):
        await operator.resync.catch_up()
        await operator.pass_time(minutes=10)
        counts.append(reconciled_tables(operator))
    assert counts == [7, 15, 22], "the catalog takes one of the eight turns, and two tables have a second one"
    await operator.kill()


async def test_the_cost_of_a_new_table_does_not_depend_on_the_number_of_tables() -> None:
    costs = []
    for tables in (5, 40):
        operator = await operator_with_settled_tables(tables)
        await operator.apply(orders(metadata__name="one-more"))
        costs.append((Counter(operator.reconciles), len(operator.store.requests)))
        await operator.kill()
    assert costs[0] == costs[1]
