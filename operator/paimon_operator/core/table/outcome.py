"""What a step of a table decides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.decision import Action, EventNote
from paimon_operator.core.table.table_conditions import Findings

REQUEUE_WHILE_ACTIVE: Final = timedelta(minutes=1)
"""Covers a missed event: the end of the run arrives as a watch event."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a step decides: the status without its conditions, the findings for these, and the actions."""

    status: TableStatus
    findings: Findings
    actions: tuple[Action, ...] = ()
    events: tuple[EventNote, ...] = ()
    requeue_after: timedelta | None = None


def until_next(moments: Iterable[datetime], now: datetime) -> timedelta | None:
    """The time until the first moment that is still to come; None without one."""
    ahead = [moment for moment in moments if moment > now]
    return min(ahead) - now if ahead else None
