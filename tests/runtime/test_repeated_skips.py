"""Where nothing happens nothing is stored: ticks that are skipped again live in the process and in its Lease."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from paimon_operator.api.base import rfc3339
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.ports import Kind
from paimon_operator.errors import RetryableError
from paimon_operator.runtime.decided_until import MARGIN, RECENT, DecidedUntil
from paimon_operator.runtime.keys import Key
from tests.core.table.measured import MERGED
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, has_ended, lake, orders
from tests.runtime.timed_queue import queue_on
from tests.support.object_store import Fault
from tests.support.virtual_time import VirtualTime

MINUTELY = {"mode": "Dedicated", "minor": {"schedule": "* * * * *"}}
ORDERS = Key(Kind.TABLE, SHOP, "orders")


async def quiet(operator: OperatorInMemory) -> None:
    """A table that is measured, and whose first ticks were skipped."""
    await operator.apply(lake(), orders(spec__compaction=MINUTELY))
    for _ in range(2):
        (pod,) = [each for each in operator.store.names(Kind.POD) if not has_ended(operator, each)]
        await operator.end_pod(pod, created=True)
        await operator.pass_time(minutes=1)
    (pod,) = [each for each in operator.store.names(Kind.POD) if not has_ended(operator, each)]
    await operator.end_pod(pod)
    measured(operator, sortedRunsMax=2)
    for _ in range(2):
        await operator.pass_time(minutes=1)
    assert minor(operator.table())["decision"]["reason"] == "NotNeeded"
    operator.store.requests.clear()


def measured(operator: OperatorInMemory, **values: Any) -> None:
    """Stores a measurement."""
    status = operator.table()["status"]
    health = MERGED | values | {"observedAt": rfc3339(operator.time.now()), "snapshotId": 1}
    operator.store.set_status(Kind.TABLE, SHOP, "orders", status | {"health": health})


def minor(table: Any) -> dict[str, Any]:
    state: dict[str, Any] = table["status"]["compaction"]["minor"]
    return state


def known(operator: OperatorInMemory) -> dict[str, Any]:
    """What the process knows of the schedule."""
    body = operator.table()
    status = TableStatus.model_validate(body["status"])
    found = operator.deferred.added_to(ORDERS, body["metadata"]["uid"], status, operator.time.now())
    return minor({"status": found.to_json()})


async def test_ticks_of_a_quiet_table_send_no_request(operator: OperatorInMemory) -> None:
    await quiet(operator)
    stored, before, reconciles = minor(operator.table()), known(operator), len(operator.reconciles)
    for _ in range(4):
        await operator.pass_time(minutes=1)
    assert len(operator.reconciles) >= reconciles + 4
    assert operator.store.requests == []
    assert minor(operator.table()) == stored
    assert time_of(known(operator)["lastDue"]) == time_of(before["lastDue"]) + timedelta(minutes=4)


async def test_the_next_process_stores_nothing_either_and_starts_nothing_before_the_next_tick(
    operator: OperatorInMemory,
) -> None:
    await quiet(operator)
    await operator.pass_time(minutes=2)
    measured(operator, sortedRunsMax=9)
    await operator.pass_time(seconds=30)
    before, runs = known(operator), operator.store.names(Kind.RUN)
    operator.store.requests.clear()
    successor = await operator.kill()
    await successor.settle()
    assert [each for each in operator.store.writes if each.kind is not Kind.CATALOG] == []
    assert known(successor)["lastDue"] == before["lastDue"]
    assert operator.store.names(Kind.RUN) == runs
    await successor.pass_time(minutes=1)
    assert len(operator.store.names(Kind.RUN)) == len(runs) + 1


async def test_a_tick_of_the_time_between_two_processes_is_decided(operator: OperatorInMemory) -> None:
    await quiet(operator)
    await operator.pass_time(minutes=2)
    measured(operator, sortedRunsMax=9)
    await operator.settle()
    runs = operator.store.names(Kind.RUN)
    await operator.stop()
    operator.time.advance(90)
    successor = await operator.kill()
    await successor.settle()
    assert len(operator.store.names(Kind.RUN)) == len(runs) + 1


async def test_a_table_that_was_suspended_over_a_tick_runs_once_it_is_resumed(operator: OperatorInMemory) -> None:
    await quiet(operator)
    await operator.pass_time(minutes=2)
    runs = operator.store.names(Kind.RUN)
    await operator.apply(orders(spec__compaction=MINUTELY, spec__suspend=True))
    measured(operator, sortedRunsMax=9)
    for _ in range(4):
        await operator.pass_time(minutes=1)
    assert operator.store.names(Kind.RUN) == runs
    await operator.apply(orders(spec__compaction=MINUTELY))
    assert len(operator.store.names(Kind.RUN)) == len(runs) + 1


async def test_a_skipped_tick_changes_nothing_that_others_know_of_the_table(operator: OperatorInMemory) -> None:
    """So an edit that arrives during the reconcile stays in the cache, and is seen."""
    await quiet(operator)
    await operator.pass_time(minutes=2)
    assert operator.cache.whole(*ORDERS) == operator.table()
    assert known(operator) != minor(operator.table())


async def test_ticks_of_a_clock_that_was_ahead_are_forgotten(operator: OperatorInMemory) -> None:
    await quiet(operator)
    wrong = timedelta(hours=3)
    operator.time.step(wrong)
    for _ in range(3):
        await operator.pass_time(minutes=1)
    operator.time.step(-wrong)
    operator.store.requests.clear()
    for _ in range(3):
        await operator.pass_time(minutes=1)
    assert time_of(known(operator)["lastDue"]) <= operator.time.now()
    assert len([each for each in operator.store.writes if each.kind is Kind.TABLE]) <= 3, "one for each tick at most"
    runs = operator.store.names(Kind.RUN)
    measured(operator, sortedRunsMax=9)
    await operator.pass_time(minutes=1)
    assert len(operator.store.names(Kind.RUN)) == len(runs) + 1


async def test_a_tick_that_comes_while_the_process_stops_is_decided_by_the_next_one(operator: OperatorInMemory) -> None:
    await quiet(operator)
    measured(operator, sortedRunsMax=9)
    await operator.settle()
    runs = operator.store.names(Kind.RUN)
    operator.queue.close()
    operator.time.advance(90)
    operator.store.note = operator.decided.text()
    successor = await operator.kill()
    await successor.settle()
    assert len(operator.store.names(Kind.RUN)) == len(runs) + 1


async def test_an_edit_starts_no_run_for_a_tick_that_was_skipped_a_moment_ago(operator: OperatorInMemory) -> None:
    await quiet(operator)
    await operator.pass_time(minutes=1)
    runs = operator.store.names(Kind.RUN)
    edited = {"mode": "Dedicated", "minor": {"schedule": "* * * * *", "when": {"sortedRunsPerBucket": 2}}}
    await operator.apply(orders(spec__compaction=edited))
    assert operator.store.names(Kind.RUN) == runs
    await operator.pass_time(minutes=1)
    assert len(operator.store.names(Kind.RUN)) == len(runs) + 1


async def test_while_another_table_fails_for_long_every_skip_is_stored(operator: OperatorInMemory) -> None:
    await quiet(operator)
    operator.queue.add(Key(Kind.TABLE, SHOP, "broken"))
    key = await operator.queue.get()
    operator.queue.done(key, failed=True)
    await operator.pass_time(minutes=1)
    assert operator.store.writes == [], "the next process would know of it"
    remembered = known(operator)["lastDue"]
    assert minor(operator.table())["lastDue"] < remembered
    operator.time.advance(RECENT.total_seconds())
    await operator.settle()
    assert {each.verb for each in operator.store.writes} == {"apply_status"}
    assert minor(operator.table())["lastDue"] >= remembered
    assert not operator.deferred.has(ORDERS)


async def test_the_next_change_stores_the_ticks_too(operator: OperatorInMemory) -> None:
    await quiet(operator)
    await operator.pass_time(minutes=2)
    before = known(operator)
    await operator.apply(orders(spec__compaction=MINUTELY, spec__suspend=True))
    assert minor(operator.table())["lastDue"] == before["lastDue"]


@pytest.mark.parametrize("is_killed", [True, False], ids=["killed at the write", "the write fails"])
async def test_a_tick_whose_start_was_not_stored_is_decided_by_the_next_process(
    operator: OperatorInMemory, is_killed: bool
) -> None:
    await quiet(operator)
    await operator.pass_time(minutes=2)
    runs = operator.store.names(Kind.RUN)
    measured(operator, sortedRunsMax=9)
    await operator.settle()
    if is_killed:
        operator.store.kill_at(0, carried_out=False)
    else:
        lost = Fault("apply_status", Kind.TABLE, RetryableError("away", status=503))
        operator.store.faults += [lost] * 30
    await operator.pass_time(minutes=1)
    await operator.pass_time(minutes=3)
    assert operator.store.names(Kind.RUN) == runs
    operator.store.faults.clear()
    operator.store.revive()
    successor = await operator.kill()
    await successor.settle()
    started = minor(successor.table())["decision"]
    assert started["result"] == "Started"
    assert len(operator.store.names(Kind.RUN)) == len(runs) + 1


def time_of(text: str) -> datetime:
    return datetime.fromisoformat(text)


async def test_ticks_are_those_of_one_table_and_not_of_another_with_its_name(operator: OperatorInMemory) -> None:
    await quiet(operator)
    await operator.pass_time(minutes=2)
    status, now = TableStatus.model_validate(operator.table()["status"]), operator.time.now()
    uid = operator.table()["metadata"]["uid"]
    assert operator.deferred.added_to(ORDERS, uid, status, now) != status
    assert operator.deferred.added_to(ORDERS, "another", status, now) == status
    operator.deferred.forget(ORDERS)
    assert operator.deferred.added_to(ORDERS, uid, status, now) == status


async def test_nothing_is_remembered_of_a_table_that_is_gone(operator: OperatorInMemory) -> None:
    await quiet(operator)
    await operator.pass_time(minutes=2)
    assert operator.deferred.has(ORDERS)
    operator.store.delete_as_user(Kind.TABLE, SHOP, "orders")
    await operator.pass_time(minutes=5)
    assert operator.store.peek(Kind.TABLE, SHOP, "orders") is None
    assert not operator.deferred.has(ORDERS)


SCOPE = DecidedUntil(VirtualTime(), monotonic=VirtualTime().seconds).scope


class LeaderMoment:
    """A queue of tables on a virtual clock, and the moment until which everything is decided."""

    def __init__(self, found: str | None = None) -> None:
        self.time = VirtualTime()
        self.queue = queue_on(self.time)
        self.decided = DecidedUntil(self.time, monotonic=self.time.seconds)
        self.decided.found(found)

    async def reconcile(self, *, failed: bool = False) -> None:
        self.queue.done(await self.queue.get(), failed=failed)

    def ago(self) -> float | None:
        """Seconds since the moment, without the margin."""
        found = self.decided.get()
        return None if found is None else (self.time.now() - found - MARGIN).total_seconds()


EARLIER = f"2026-11-21T07:00:00Z {SCOPE}"


async def test_the_moment_of_the_process_before_holds_until_every_table_was_reconciled() -> None:
    leader = LeaderMoment(EARLIER)
    said = [leader.decided.text()]
    leader.decided.lead(leader.queue)
    leader.queue.add(ORDERS)
    said.append(leader.decided.text())
    leader.decided.listed()
    leader.time.advance(30)
    said.append(leader.decided.text())
    assert said == [EARLIER] * 3
    await leader.reconcile()
    leader.time.advance(1)  # it is not counted more often
    assert leader.ago() == 0


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "soon",
        "2026-11-21T07:00:00Z",
        f"2026-11-21T07:00:00 {SCOPE}",
        f"0001-01-01T00:00:00+14:00 {SCOPE}",
        "2026-11-21T07:00:00Z 00000000",
    ],
    ids=["nothing", "empty", "no time", "no scope", "no zone", "before all time", "other namespaces"],
)
def test_what_is_no_moment_of_these_namespaces_says_nothing(text: str | None) -> None:
    leader = LeaderMoment(text)
    assert (leader.decided.get(), leader.decided.text()) == (None, None)


async def test_the_moment_is_that_of_the_oldest_table_that_waits_or_has_failed() -> None:
    leader = LeaderMoment()
    leader.decided.lead(leader.queue)
    leader.decided.listed()
    leader.time.advance(1)
    leader.queue.add(ORDERS)
    leader.time.advance(10)
    assert leader.ago() == 10, "it waits"
    await leader.reconcile(failed=True)
    leader.time.advance(10)
    assert leader.ago() == 20, "it has failed"
    leader.queue.add(ORDERS)
    await leader.reconcile()
    leader.time.advance(1)
    assert leader.ago() == 0


async def test_runs_and_catalogs_decide_no_tick() -> None:
    leader = LeaderMoment()
    leader.decided.lead(leader.queue)
    leader.decided.listed()
    leader.time.advance(1)
    for kind in (Kind.RUN, Kind.CATALOG):
        leader.queue.add(Key(kind, SHOP, "one"))
    leader.time.advance(10)
    assert leader.ago() == 0


async def test_a_table_that_is_added_while_busy_waits_from_then_on() -> None:
    leader = LeaderMoment()
    leader.decided.lead(leader.queue)
    leader.decided.listed()
    leader.time.advance(1)
    leader.queue.add(ORDERS)
    key = await leader.queue.get()
    leader.time.advance(10)
    leader.queue.add(ORDERS)
    leader.time.advance(10)
    assert leader.ago() == 20
    leader.queue.done(key)
    leader.time.advance(1)
    assert leader.ago() == 11


async def test_the_moment_stays_before_a_step_of_the_clock() -> None:
    leader = LeaderMoment()
    leader.decided.lead(leader.queue)
    leader.decided.listed()
    leader.time.advance(2)
    before = leader.decided.get()
    for _ in range(2):
        leader.time.step(timedelta(minutes=50))
        leader.time.advance(2)
        assert leader.decided.get() == before
    leader.time.advance(RECENT.total_seconds())
    assert not leader.decided.is_recent()
    leader.queue.close()
    leader.time.advance(3600)
    assert leader.decided.get() == before
