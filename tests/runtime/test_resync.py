"""The periodic look: everything, in the right order, and never half of it."""

from __future__ import annotations

import pytest

from paimon_operator.core.ports import Kind
from paimon_operator.errors import RetryableError
from paimon_operator.runtime.keys import Key
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, lake, orders
from tests.support.object_store import Fault


async def test_it_finds_a_deletion_that_no_watch_told_of() -> None:
    operator = await OperatorInMemory().start()
    await operator.apply(lake(), orders(), orders(metadata__name="orders-again", spec__table="orders"))
    assert operator.condition("Stalled", "orders-again")[1] == "TableClaimed"
    operator.store.watch = lambda *_: None  # the watches are deaf from here on
    body = operator.store.peek(Kind.TABLE, SHOP, "orders")
    assert body is not None
    operator.store.user_deletes(Kind.TABLE, SHOP, "orders")
    leaving = operator.store.peek(Kind.TABLE, SHOP, "orders") or {}
    for run in operator.store.names(Kind.RUN):
        operator.store.user_deletes(Kind.RUN, SHOP, run)
    await operator.store.set_finalizers(Kind.TABLE, leaving, [])
    assert operator.cache.get(Kind.TABLE, SHOP, "orders") is not None, "not a ghost yet"
    await operator.resync.look()
    await operator.settle()
    assert operator.cache.get(Kind.TABLE, SHOP, "orders") is None
    assert operator.condition("Stalled", "orders-again")[0] == "False"
    await operator.kill()


@pytest.mark.parametrize("kind", [Kind.CATALOG, Kind.TABLE, Kind.RUN])
async def test_a_list_that_fails_makes_no_ghosts(kind: Kind) -> None:
    operator = await OperatorInMemory().start()
    await operator.apply(lake(), orders())
    known = operator.cache.keys(Kind.TABLE)
    operator.store.faults.append(Fault("list", kind, RetryableError("broken", status=500)))
    with pytest.raises(RetryableError):
        await operator.resync.look()
    assert operator.cache.keys(Kind.TABLE) == known == [Key(Kind.TABLE, SHOP, "orders")]
    assert operator.queue.depth == 0
    await operator.kill()


async def test_it_repeats_itself_and_survives_a_failure() -> None:
    operator = await OperatorInMemory().start()
    broken = [Fault("list", Kind.CATALOG, RetryableError("broken", status=500)) for _ in range(2)]
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
    lists = [request.kind for request in operator.store.requests if request.verb == "list"]
    assert lists == [Kind.CATALOG, Kind.CATALOG, Kind.CATALOG, Kind.TABLE, Kind.RUN]
    await operator.kill()
