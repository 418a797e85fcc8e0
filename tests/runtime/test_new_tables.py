"""New tables of one namespace are first reconciled at a steady rate, while another namespace has tables too."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import pytest

from paimon_operator.core.naming import FINALIZER
from paimon_operator.core.ports import Kind
from paimon_operator.errors import RetryableError
from paimon_operator.runtime.cache import Cache
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.new_tables import BURST_S, NewTables
from tests.runtime.operator_in_memory import OperatorInMemory, lake, orders
from tests.support.manifests import Manifest, catalog, edited, keyed_table
from tests.support.object_store import Fault
from tests.support.virtual_time import VirtualTime

RATE = 2
BURST = int(RATE * BURST_S)
LATER = 10
"""New tables beyond the burst."""
NEWER: Final = {"metadata__resourceVersion": "2"}


class Turns:
    """The turns of the tables in a cache."""

    def __init__(self, rate: float = RATE) -> None:
        self.time, self.cache = VirtualTime(), Cache()
        self.turns = NewTables(self.cache, rate=rate, clock=self.time.seconds)

    def create(self, namespace: str, name: object, **edits: object) -> Key:
        names = {"metadata__namespace": namespace, "metadata__name": str(name), "metadata__resourceVersion": "1"}
        self.cache.put(Kind.TABLE, keyed_table(**names, **edits))
        return Key(Kind.TABLE, namespace, str(name))

    def delete(self, namespace: str, name: object) -> None:
        """Deletes a table, and has the pass that finds it gone."""
        key = Key(Kind.TABLE, namespace, str(name))
        self.cache.drop(Kind.TABLE, keyed_table(metadata__namespace=namespace, metadata__name=key.name, **NEWER))
        assert self.turns.wait(key) == 0
        self.turns.reconciled(key)

    def waits(self, namespace: str, tables: int) -> list[float]:
        """How long each of these new tables has to wait when all are reconciled now."""
        return [self.turns.wait(self.create(namespace, number)) for number in range(tables)]


def test_after_a_burst_the_new_tables_of_a_namespace_follow_each_other_at_the_rate() -> None:
    world = Turns()
    world.create("small", "orders")
    waits = world.waits("large", BURST + 31)
    assert waits[: BURST + 1] == [0] * (BURST + 1)
    assert waits[BURST + 1 :] == pytest.approx([number / RATE for number in range(1, 31)])


def test_a_table_begins_when_its_turn_has_come_and_takes_no_second_one_when_it_is_asked_for_before() -> None:
    world = Turns()
    world.create("small", "orders")
    *_, first, second = world.waits("large", BURST + 3)
    key = Key(Kind.TABLE, "large", str(BURST + 1))
    assert world.turns.wait(key) == first
    world.time.advance(first)
    assert world.turns.wait(key) == 0
    assert world.turns.wait(Key(Kind.TABLE, "large", str(BURST + 2))) == pytest.approx(second - first)


def test_the_burst_comes_back_with_time() -> None:
    world = Turns()
    world.create("small", "orders")
    world.waits("large", BURST + 1)
    world.time.advance(2)
    waits = [world.turns.wait(world.create("large", f"later-{number}")) for number in range(2 * RATE + 1)]
    assert waits == pytest.approx([0] * (2 * RATE) + [1 / RATE])


def test_the_tables_of_one_namespace_take_no_turn_of_another() -> None:
    world = Turns()
    world.waits("large", 5 * BURST)
    assert world.waits("small", BURST) == [0] * BURST


def test_a_namespace_that_has_all_tables_is_not_limited() -> None:
    world = Turns()
    assert world.waits("large", 3 * BURST) == [0] * (3 * BURST)


def test_a_namespace_is_not_limited_any_more_once_the_tables_beside_it_are_deleted() -> None:
    world = Turns()
    world.create("small", "orders")
    assert any(world.waits("large", 2 * BURST))
    world.delete("small", "orders")
    assert world.turns.wait(world.create("large", "later")) == 0


def test_nothing_waits_at_the_rate_zero() -> None:
    world = Turns(rate=0)
    world.create("small", "orders")
    assert world.waits("large", 3 * BURST) == [0] * (3 * BURST)


def test_a_table_that_has_conditions_and_one_that_is_gone_never_wait() -> None:
    world = Turns()
    world.create("small", "orders")
    world.waits("large", 2 * BURST)
    conditions = [{"type": "Ready", "status": "True", "reason": "TableMatchesSpec"}]
    assert world.turns.wait(world.create("large", "known", status={"conditions": conditions})) == 0
    assert world.turns.wait(Key(Kind.TABLE, "large", "gone")) == 0


def test_the_turn_of_a_table_lasts_until_it_has_conditions() -> None:
    world = Turns()
    world.create("small", "orders")
    (key, *_) = [world.create("large", number) for number in range(2 * BURST)]
    world.waits("large", 2 * BURST)
    world.turns.reconciled(key)
    assert world.turns.wait(key) == 0


def test_turns_of_deleted_tables_go_back_to_their_namespace() -> None:
    world = Turns()
    world.create("small", "orders")
    for _ in range(3):
        world.waits("large", 5 * BURST)
        for number in range(5 * BURST):
            world.delete("large", number)
    world.time.advance(BURST_S)
    assert world.turns.waiting == 0
    assert world.waits("large", RATE) == [0] * RATE


def test_to_forget_idle_namespaces_gives_none_another_burst() -> None:
    world = Turns()
    world.create("small", "orders")
    world.waits("large", BURST + 6)
    world.turns.forget_idle()
    assert world.turns.wait(world.create("large", "later")) == pytest.approx(6 / RATE)
    world.time.advance(2 * BURST_S)
    world.turns.forget_idle()
    for number in range(BURST + 6):
        world.delete("large", number)
    assert world.turns.wait(world.create("large", "latest")) == 0


def large_table(number: int, **edits: object) -> Manifest:
    return keyed_table(metadata__namespace="large", metadata__name=f"t{number}", spec__writes=[], **edits)


def large_lake() -> Manifest:
    warehouse = "s3://large/warehouse"
    return catalog(metadata__namespace="large", spec__warehouse=warehouse, spec__allowedDatabases=["shop"])


async def begun(*, suspended: bool) -> OperatorInMemory:
    """An operator with a table in `shop`, and with more new tables than the burst in `large`."""
    operator = await OperatorInMemory(new_tables_rate=RATE).start()
    await operator.apply(lake(), orders(spec__suspend=True), large_lake())
    operator.store.requests.clear()
    await operator.apply(*(large_table(number, spec__suspend=suspended) for number in range(BURST + LATER)))
    return operator


@pytest.fixture
async def operator() -> AsyncIterator[OperatorInMemory]:
    """Tables that need no run."""
    operator = await begun(suspended=True)
    yield operator
    await operator.stop()


def settled(operator: OperatorInMemory) -> int:
    """How many tables of `large` have conditions."""
    tables = (operator.store.peek(*key) or {} for key in operator.cache.keys(Kind.TABLE) if key.namespace == "large")
    return sum("conditions" in table.get("status", {}) for table in tables)


async def test_new_tables_beyond_the_burst_are_reconciled_at_the_rate(operator: OperatorInMemory) -> None:
    first = settled(operator)
    assert BURST <= first <= BURST + 1
    await operator.pass_time(seconds=2)
    assert settled(operator) == pytest.approx(first + 2 * RATE, abs=1)
    await operator.pass_time(seconds=3)
    assert settled(operator) == BURST + LATER
    assert operator.new_tables.waiting == 0


async def test_a_table_that_has_waited_costs_no_request_more(operator: OperatorInMemory) -> None:
    await operator.pass_time(seconds=10)
    of_tables = [each for each in operator.store.requests if each.kind is Kind.TABLE]
    assert {each.verb for each in of_tables} == {"apply_status", "set_finalizers"}, of_tables[:5]
    assert len(of_tables) == 2 * (BURST + LATER)


async def test_an_edit_gives_no_earlier_turn(operator: OperatorInMemory) -> None:
    before, waiting = settled(operator), operator.new_tables.waiting
    for number in range(BURST + LATER):
        table = operator.store.peek(Kind.TABLE, "large", f"t{number}") or {}
        if "status" not in table:
            await operator.apply(edited(table, spec__schema__comment="orders of the shop"))
    assert (settled(operator), operator.new_tables.waiting) == (before, waiting)
    await operator.pass_time(seconds=LATER / RATE)
    assert settled(operator) == BURST + LATER


async def test_tables_that_need_a_run_come_at_the_same_rate() -> None:
    operator = await begun(suspended=False)
    assert BURST <= settled(operator) <= BURST + 1
    assert len(operator.store.names(Kind.POD)) == settled(operator)
    await operator.pass_time(seconds=LATER / RATE)
    assert settled(operator) == BURST + LATER
    await operator.stop()


async def test_a_table_whose_first_write_fails_is_read_again_and_has_its_turn() -> None:
    operator = await OperatorInMemory(new_tables_rate=RATE).start()
    await operator.apply(lake(), orders(spec__suspend=True), large_lake())
    operator.store.faults.append(Fault("set_finalizers", Kind.TABLE, RetryableError("no response")))
    await operator.apply(*(large_table(number, spec__suspend=True) for number in range(BURST + LATER)))
    operator.store.requests.clear()
    await operator.pass_time(seconds=2)
    assert [each.name for each in operator.store.requests if each.verb == "get" and each.kind is Kind.TABLE] == ["t0"]
    assert "conditions" in (operator.store.peek(Kind.TABLE, "large", "t0") or {})["status"]
    await operator.stop()


async def test_a_table_with_our_finalizer_that_is_deleted_does_not_wait() -> None:
    operator = await OperatorInMemory(new_tables_rate=RATE).start()
    restored = [large_table(number, metadata__finalizers=[FINALIZER]) for number in range(BURST + LATER)]
    await operator.apply(lake(), orders(spec__suspend=True), large_lake(), *restored)
    for number in range(BURST + LATER):
        operator.store.delete_as_user(Kind.TABLE, "large", f"t{number}")
    await operator.settle()
    gone = [f"t{number}" for number in range(BURST + 1, BURST + LATER)]
    assert set(operator.store.names(Kind.TABLE)).isdisjoint(gone), "a deletion waits"
    await operator.stop()


async def test_a_table_of_another_namespace_is_reconciled_while_they_wait(operator: OperatorInMemory) -> None:
    await operator.apply(orders(metadata__name="later", spec__suspend=True))
    assert operator.condition("Suspended", "later")[0] == "True"


async def test_a_table_that_is_deleted_while_it_waits_is_forgotten(operator: OperatorInMemory) -> None:
    operator.store.delete_as_user(Kind.TABLE, "large", f"t{BURST + LATER - 1}")
    await operator.pass_time(seconds=10)
    assert settled(operator) == BURST + LATER - 1
    assert operator.new_tables.waiting == 0


async def test_the_next_process_reconciles_the_tables_that_have_waited(operator: OperatorInMemory) -> None:
    successor = await operator.kill()
    await successor.pass_time(seconds=10)
    assert settled(successor) == BURST + LATER
    await successor.stop()
