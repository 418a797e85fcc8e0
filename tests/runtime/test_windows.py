"""Maintenance windows with the real controllers: who wakes the tables, and what an edit of the catalog does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from paimon_operator.core.ports import Kind
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, has_ended, lake, orders
from tests.support.manifests import Manifest

NIGHT = [{"schedule": "0 1 * * *", "duration": "4h"}]
HOURLY = {"retention": {"snapshots": {"schedule": "0 * * * *"}}}
TABLES = 4
OPENING = datetime(2026, 11, 22, 1, tzinfo=UTC)


async def ready(catalog: Manifest) -> OperatorInMemory:
    """Tables whose schedule ticks each hour. It is 08:00; they are verified, and nothing is due."""
    operator = await OperatorInMemory().start()
    tables = [orders(metadata__name=f"t{number}", spec__retention=HOURLY["retention"]) for number in range(TABLES)]
    await operator.apply(catalog, *tables)
    await end_pods(operator, created=True, after={"snapshotId": 1, "schemaId": 0})
    return operator


async def end_pods(operator: OperatorInMemory, **result: Any) -> int:
    """Ends every Pod with success. Returns how many there were."""
    pods = [each for each in operator.store.names(Kind.POD) if not has_ended(operator, each)]
    for pod in pods:
        await operator.end_pod(pod, **result)
    return len(pods)


async def starts_until(operator: OperatorInMemory, end: datetime) -> list[datetime]:
    """Passes the time minute by minute, and ends each Pod at once. Returns when they were seen."""
    seen: list[datetime] = []
    while operator.time.now() < end:
        await operator.pass_time(minutes=1)
        seen += [operator.time.now()] * await end_pods(operator)
    return seen


def decision(operator: OperatorInMemory, table: str = "t0") -> Manifest:
    found: Manifest = operator.table(table)["status"]["retention"]["decision"]
    return found


async def test_all_tables_wake_by_themselves_in_the_first_minutes_of_the_window() -> None:
    operator = await ready(lake(spec__maintenanceWindows=NIGHT))
    assert await starts_until(operator, OPENING) == []
    assert decision(operator)["reason"] == "WaitingForWindow"
    starts = await starts_until(operator, OPENING + timedelta(minutes=12))
    assert len(starts) == TABLES
    assert OPENING < min(starts) < max(starts) <= OPENING + timedelta(minutes=10), "not all at the same time"


async def test_an_edit_of_the_windows_reaches_tables_that_wait() -> None:
    operator = await ready(lake(spec__maintenanceWindows=NIGHT))
    await operator.pass_time(hours=2)
    assert await end_pods(operator) == 0
    await operator.apply(lake())
    assert await end_pods(operator) == TABLES
    assert decision(operator)["reason"] == "RunSucceeded"


async def test_a_restarted_operator_wakes_the_tables_in_the_window() -> None:
    operator = await ready(lake(spec__maintenanceWindows=NIGHT))
    await operator.pass_time(hours=2)
    restarted = await operator.kill()
    await restarted.settle()
    assert await starts_until(restarted, OPENING) == []
    assert len(await starts_until(restarted, OPENING + timedelta(minutes=12))) == TABLES


async def test_the_run_of_a_table_records_how_long_it_took() -> None:
    operator = await ready(lake())
    await operator.pass_time(hours=1)
    await operator.pass_time(minutes=7)
    assert await end_pods(operator) == TABLES
    state = operator.table("t0")["status"]["retention"]
    assert state["lastRun"] in operator.store.names(Kind.RUN)
    run = operator.store.peek(Kind.RUN, SHOP, state["lastRun"]) or {}
    assert state["lastDurationSeconds"] == 7 * 60, run["status"]
