"""Which waiting run starts first: the one that has waited longest, with a head start for what it gains per cost.

    rank       = since - head start; the earliest rank starts first
    head start = 1 h                   of writes, edits, drops and users' runs: somebody waits for them
                 1 h x g / (g + 1)     of scheduled maintenance, with g = files that go away / expected seconds
                 none                  of looks for drift, for which nobody waits

No head start is longer than an hour. So work that has waited an hour longer than all other work starts first, whatever
it gains: nothing starves.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from paimon_operator.api.run.status import Expectation, RunTrigger
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.base import DueRun
from paimon_operator.core.spec.context import TableContext

LONGEST: Final = timedelta(hours=1)
USUAL_LENGTH: Final = timedelta(minutes=1)
"""What work is expected to take that has never succeeded."""


def head_start(context: TableContext, status: TableStatus, work: DueRun) -> timedelta:
    """The head start of due work, in whole seconds."""
    if work.yields:
        return timedelta()
    if not registry.OPERATIONS.of(work.type_).in_windows or work.trigger is not RunTrigger.SCHEDULE:
        return LONGEST
    seconds = max((work.expected or USUAL_LENGTH).total_seconds(), 1)
    per_second = (files_gained(context, status, work) or 0) / seconds
    return timedelta(seconds=round(LONGEST.total_seconds() * per_second / (per_second + 1)))


def expectation(context: TableContext, status: TableStatus, work: DueRun) -> Expectation | None:
    """What is expected of due work; None without any experience of it."""
    seconds = None if work.expected is None else round(work.expected.total_seconds())
    files = files_gained(context, status, work)
    return None if seconds is None and files is None else Expectation(seconds=seconds, files=files)


def files_gained(context: TableContext, status: TableStatus, work: DueRun) -> int | None:
    """Files that the work is expected to remove from the latest snapshot, by the last measurement; None: not known."""
    gain = registry.OPERATIONS.of(work.type_).gain
    return None if gain is None or status.health is None else max(gain(context, status.health), 0)
