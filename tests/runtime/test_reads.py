"""What is read live although the cache has it, and how whole objects are kept."""

from __future__ import annotations

import pytest

from paimon_operator.core.ports import Kind
from paimon_operator.errors import RetryableError
from paimon_operator.runtime.bodies import LARGEST, Bodies, compressed
from paimon_operator.runtime.keys import Key
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, lake, orders, provisioned
from tests.support.manifests import Manifest
from tests.support.object_store import Fault

ORDERS = Key(Kind.TABLE, SHOP, "orders")
_WRITES_BEFORE_THE_POD = 7
"""The table's finalizer and start, the run and its UID, the attempt, the ConfigMap, and the catalog's status."""
BROKEN = RetryableError("broken", status=500)


def reads(operator: OperatorInMemory) -> list[tuple[str, Kind]]:
    """The reads since the last call."""
    found: list[tuple[str, Kind]] = [
        (each.verb, each.kind) for each in operator.store.requests if each.verb in ("get", "list")
    ]
    operator.store.requests.clear()
    return found


async def started(operator: OperatorInMemory) -> tuple[Key, Key]:
    """The run and the Pod of a table whose driver was created a moment ago."""
    await operator.apply(lake(), orders())
    (run,), (pod,) = operator.store.names(Kind.RUN), operator.store.names(Kind.POD)
    reads(operator)
    return Key(Kind.RUN, SHOP, run), Key(Kind.POD, SHOP, pod)


async def test_a_reconcile_reads_nothing_that_the_cache_has(operator: OperatorInMemory) -> None:
    run, _ = await started(operator)
    for key in (ORDERS, run, Key(Kind.CATALOG, SHOP, "lake")):
        operator.queue.add(key)
    await operator.settle()
    assert reads(operator) == []


async def test_the_table_and_the_pods_of_its_other_runs_are_read_before_a_pod_is_created(
    operator: OperatorInMemory,
) -> None:
    await operator.apply(lake())
    reads(operator)
    await operator.apply(orders())
    assert [each for each in reads(operator) if each != ("list", Kind.CATALOG)] == [
        ("get", Kind.TABLE),
        ("list", Kind.POD),
    ]


async def test_a_pod_whose_attempt_another_process_has_stored_is_created_only_after_a_read_of_its_run() -> None:
    """No write of the run's status comes before that create, so nothing else would notice that the run has changed."""
    first = await OperatorInMemory().start()
    await first.apply(lake())
    first.store.kill_at(_WRITES_BEFORE_THE_POD, carried_out=False)
    await first.apply(orders())
    assert (first.store.requests[-1].verb, first.store.requests[-1].kind) == ("create", Kind.POD)
    reads(first)
    first.store.revive()
    successor = await first.kill()
    await successor.settle()
    assert ("get", Kind.RUN) in reads(successor)
    assert len(successor.store.names(Kind.POD)) == 1
    await successor.kill()


async def test_an_object_that_the_cache_lacks_is_read_before_it_counts_as_missing(operator: OperatorInMemory) -> None:
    run, pod = await started(operator)
    operator.cache.drop_pod(pod)
    operator.queue.add(run)
    await operator.settle()
    assert reads(operator) == [("get", Kind.POD)]
    assert len(operator.store.names(Kind.POD)) == 1


async def test_after_an_error_a_table_and_its_runs_are_read_live(operator: OperatorInMemory) -> None:
    await provisioned(operator)
    reads(operator)
    operator.store.faults.append(Fault("apply_status", Kind.TABLE, BROKEN))
    operator.store.put(orders(spec__suspend=True))
    await operator.settle()
    assert reads(operator) == []
    await operator.pass_time(seconds=5)
    assert reads(operator) == [("get", Kind.TABLE), ("list", Kind.RUN)]


async def test_a_run_whose_timer_has_fired_is_read_live_with_its_pod(operator: OperatorInMemory) -> None:
    run, pod = await started(operator)
    operator.queue.add_late(run)
    await operator.settle()
    assert set(reads(operator)) == {("get", Kind.RUN), ("get", Kind.POD), ("get", Kind.TABLE)}
    assert pod.name in operator.store.names(Kind.POD)


async def test_the_finalizer_of_a_table_is_removed_only_after_a_list_of_its_runs(operator: OperatorInMemory) -> None:
    await provisioned(operator)
    reads(operator)
    operator.store.delete_as_user(Kind.TABLE, SHOP, "orders")
    await operator.settle()
    assert ("list", Kind.RUN) in reads(operator)
    assert operator.store.peek(Kind.TABLE, SHOP, "orders") is None


async def test_no_doubt_is_left_of_a_pod(operator: OperatorInMemory) -> None:
    _, pod = await started(operator)
    operator.queue.add_late(pod)
    await operator.settle()
    assert operator.doubts._doubts == {}


def body(name: str, text: str = "") -> Manifest:
    return {"metadata": {"name": name, "managedFields": [{"manager": "m" * 99}]}, "spec": {"text": text}}


def key(name: str) -> Key:
    return Key(Kind.TABLE, SHOP, name)


@pytest.mark.parametrize(("first", "second", "kept"), [(1, 2, "second"), (2, 1, "first")])
def test_the_newer_version_of_an_object_is_kept_in_either_order(first: int, second: int, kept: str) -> None:
    bodies = Bodies()
    bodies.put(key("a"), first, compressed(body("a", "first")))
    bodies.put(key("a"), second, compressed(body("a", "second")))
    assert bodies.get(key("a")) == {"metadata": {"name": "a"}, "spec": {"text": kept}}


def test_an_object_that_becomes_too_large_is_not_kept_any_more() -> None:
    bodies = Bodies()
    bodies.put(key("a"), 1, compressed(body("a")))
    large = compressed(body("a", "".join(chr(number) for number in range(0x4E00, 0x4E00 + LARGEST))))
    bodies.put(key("a"), 2, large)
    assert (large, bodies.get(key("a")), bodies.size) == (None, None, 0)


def test_the_object_that_was_not_used_for_the_longest_time_makes_space() -> None:
    document = compressed(body("x"))
    assert document is not None
    bodies = Bodies(limit=2 * len(document))
    for name in ("a", "b"):
        bodies.put(key(name), 1, document)
    assert bodies.get(key("a")) is not None
    bodies.put(key("c"), 1, document)
    assert [name for name in "abc" if bodies.get(key(name)) is not None] == ["a", "c"]
    assert bodies.size == 2 * len(document)
