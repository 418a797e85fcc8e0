"""A table whose catalog has maintenance windows, and what a test asks about it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from paimon_operator.api.table.schedule_state import LastDecision, ScheduleState
from paimon_operator.core.table.maintenance_start import LONGEST_SPREAD
from tests.support import builders
from tests.support.table_world import TableWorld

NIGHT: dict[str, Any] = {"schedule": "0 1 * * *", "duration": "4h"}
SPREAD = LONGEST_SPREAD
"""Of a window of 4h: starts are spread over its first ten minutes."""
EXPIRY: dict[str, Any] = {"snapshots": {"schedule": "0 * * * *"}}


def at(text: str) -> datetime:
    """`2026-11-22 01:00` in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def world(*windows: dict[str, Any], catalog: dict[str, Any] | None = None, **spec: Any) -> TableWorld:
    """A Ready table at 08:10 of 2026-11-21 whose missed ticks are answered; then the catalog gets its windows."""
    seen = TableWorld(table=builders.table(**spec), catalog=builders.catalog(**(catalog or {}))).ready()
    seen.run_due()
    seen.catalog = builders.catalog(maintenanceWindows=list(windows), **(catalog or {}))
    seen.settle()
    return seen


def go_to(seen: TableWorld, text: str) -> None:
    """Advances the time and reconciles."""
    seen.now = at(text)
    seen.settle()


def wake(seen: TableWorld) -> None:
    """Advances the time to the moment for which the last decision asks, and reconciles."""
    delay = seen.decisions[-1].requeue_after
    assert delay is not None, "nothing wakes the table"
    seen.now += delay
    seen.settle()


def expiry(seen: TableWorld) -> ScheduleState:
    """The state of snapshot expiry."""
    state = seen.table.status.retention
    assert state is not None
    return state


def decision(seen: TableWorld) -> LastDecision:
    """The last decision about snapshot expiry."""
    found = expiry(seen).decision
    assert found is not None
    return found


def said(seen: TableWorld) -> tuple[str, str]:
    """Result and reason of the last decision about snapshot expiry."""
    return decision(seen).result.value, decision(seen).reason


def finish_after(seen: TableWorld, **length: float) -> None:
    """Ends the active run after this time, with success."""
    started = seen.now
    seen.now += timedelta(**length)
    seen.finish(startTime=started)
    seen.settle()
