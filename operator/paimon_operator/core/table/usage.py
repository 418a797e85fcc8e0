"""What a table's runs have used, summed in its status, and the memory that later runs are given because of it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from paimon_operator.api import units
from paimon_operator.api.base import to_the_second
from paimon_operator.api.run.status import Cost
from paimon_operator.api.table.status import TableStatus
from paimon_operator.api.table.usage import MAX_LEARNED, LearnedSize, Usage
from paimon_operator.core.launch.driver_memory import grown_mib
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.base import RunOutcome

LEARNED_FOR: Final = timedelta(days=30)
"""A learned size ends so long after the last run that ran out of memory: that load may have been an unusual one."""
_NOTHING: Final = Cost(pod_seconds=0, core_seconds=0, gib_seconds=0)


def record_usage(status: TableStatus, ended: RunOutcome) -> TableStatus:
    """The status with the cost of a run that ended, and what it shows about the memory of the next one.

    A run that never existed, or was deleted before its end, is not counted.
    """
    if ended.result.phase is None:
        return status
    known = {"usage": _counted(status.usage, ended), "learned_sizes": _learned(status.learned_sizes, ended)}
    return status.model_copy(update=known)


def without_old_sizes(status: TableStatus, now: datetime) -> TableStatus:
    """The status without the learned sizes that have ended."""
    kept = tuple(each for each in status.learned_sizes if now - each.time < LEARNED_FOR)
    return status if kept == status.learned_sizes else status.model_copy(update={"learned_sizes": kept})


def day_of(moment: datetime) -> str:
    """The day, in UTC, for which budgets hold."""
    return moment.date().isoformat()


def _counted(before: Usage | None, ended: RunOutcome) -> Usage:
    cost, at = ended.result.cost or _NOTHING, to_the_second(ended.at)
    known = before or Usage(since=at, runs=0, failed=0, pod_seconds=0, core_seconds=0, gib_seconds=0)
    sums = {
        "runs": known.runs + 1,
        "failed": known.failed + (0 if ended.succeeded else 1),
        "pod_seconds": known.pod_seconds + cost.pod_seconds,
        "core_seconds": known.core_seconds + cost.core_seconds,
        "gib_seconds": known.gib_seconds + cost.gib_seconds,
    }
    return known.model_copy(update=sums | _predicted(known, ended) | _of_the_day(known, ended, cost.pod_seconds))


def _predicted(known: Usage, ended: RunOutcome) -> dict[str, object]:
    """What was expected of the runs that succeeded, and what became of it."""
    expected, found = ended.active.expected, dict[str, object]()
    if expected is None or not ended.succeeded:
        return found
    if expected.seconds is not None and ended.duration is not None:
        found["expected_seconds"] = (known.expected_seconds or 0) + expected.seconds
        found["actual_seconds"] = (known.actual_seconds or 0) + round(ended.duration.total_seconds())
    removed = _files_removed(ended)
    if expected.files is not None and removed is not None:
        found["expected_files"] = (known.expected_files or 0) + expected.files
        found["actual_files"] = (known.actual_files or 0) + removed
    return found


def _files_removed(ended: RunOutcome) -> int | None:
    """Files, or snapshots of an expiry, that the run has removed; None if it has not counted them."""
    if ended.result.expired is not None:
        return ended.result.expired
    before, after = ended.result.before, ended.result.after
    if before is None or after is None or before.files is None or after.files is None:
        return None
    return max(before.files - after.files, 0)


def _of_the_day(known: Usage, ended: RunOutcome, pod_seconds: int) -> dict[str, object]:
    """The use of the budget. A run counts on the day on which it ends."""
    if not registry.OPERATIONS.of(ended.active.type).in_windows:
        return {}
    day = day_of(ended.at)
    earlier = known.maintenance_pod_seconds or 0 if known.maintenance_day == day else 0
    return {"maintenance_day": day, "maintenance_pod_seconds": earlier + pod_seconds}


def _learned(before: tuple[LearnedSize, ...], ended: RunOutcome) -> tuple[LearnedSize, ...]:
    """The learned sizes, the last one last."""
    kind = ended.active.type, ended.active.subject
    attempts = ended.result.attempts
    if not any(grown_mib(each) for each in attempts):
        return before
    sizes = (units.mebibytes(each.memory) for each in attempts if each.memory is not None)
    memory = max(*sizes, grown_mib(attempts[-1]))
    new = LearnedSize(
        type=kind[0], subject=kind[1], memory=f"{memory}Mi", run=ended.active.name, time=to_the_second(ended.at)
    )
    others = (each for each in before if (each.type, each.subject) != kind)
    return (*others, new)[-MAX_LEARNED:]
