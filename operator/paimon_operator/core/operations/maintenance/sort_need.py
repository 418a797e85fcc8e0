"""Whether a sort compaction is needed: the thresholds of `compaction.sort.when` against the measurement.

The engine's clustering leaves no file on level 0, and writers leave all of theirs there. So files of level 0 are those
that no sort compaction has made. Which of the others were sorted in an earlier order, the driver reads from the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from paimon_contract.parameters.compact import CompactThresholds, RowOrder
from paimon_operator.api.table.facts import Health
from paimon_operator.api.table.schedule_state import Check
from paimon_operator.api.table.status import CompactionState, StrategyState, TableStatus
from paimon_operator.core.operations.causes import Cause
from paimon_operator.core.operations.need import (
    AFTER_A_COMMIT,
    UNKNOWN,
    Need,
    Verdict,
    age_check,
    by_checks,
    holding_measurement,
    sentence,
)
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.desired_table import digest
from paimon_operator.core.spec.paimon_options import CLUSTERING_COLUMNS as COLUMNS
from paimon_operator.core.spec.paimon_options import CLUSTERING_STRATEGY as STRATEGY
from paimon_operator.core.spec.paimon_options import table_options

_ANY: Final = 1
"""Unsorted files once maxDelay is over."""
_TO_SORT: Final = "A run starts at the first tick that finds unsorted files and a threshold reached"
_WITHOUT_THE_OTHER: Final = "A run starts once that writer has stopped and externalWriters was edited"


def sort_need(context: TableContext, status: TableStatus) -> Need:
    """Whether the table has unsorted files that the thresholds ask for.

    Unknown after an edit of sort: only the files tell in which order they are sorted.
    """
    beside = other_writer(context, status)
    if beside is not None:
        return beside
    health, state = holding_measurement(context, status), _state(status)
    unsorted = None if health is None else health.level0_files_max
    if health is None or unsorted is None or state.compacted_for != sort_hash(context):
        return UNKNOWN
    if unsorted == 0:
        found = "every file is sorted"
        return by_checks((), health.observed_at, cause=Cause.EVERY_FILE_SORTED, found=found, next_run=_TO_SORT)
    late = [*_of_time(context, state)]
    if health.snapshot_id is not None and state.compacted_snapshot == health.snapshot_id:
        found = "nothing was committed since the last sort compaction"
        return by_checks(late, health.observed_at, cause=Cause.NOTHING_COMMITTED, found=found, next_run=AFTER_A_COMMIT)
    return by_checks([*_of_files(context, health), *late], health.observed_at)


def sort_thresholds(context: TableContext, status: TableStatus) -> CompactThresholds | None:
    """What the run compares each partition with. None: sort has no schedule."""
    sort = context.compaction.sort
    if sort is None or sort.when is None:
        return None
    is_late = any(each.reached for each in _of_time(context, _state(status)))
    return CompactThresholds(unsorted_files=_ANY if is_late else sort.when.unsorted_files_per_partition)


def unsorted_files(context: TableContext, status: TableStatus) -> str:
    """What the last measurement shows beyond the threshold of files, also where it may not hold any more."""
    checks = _of_files(context, status.health) if status.health is not None else ()
    return ", ".join(sentence(each) for each in checks if each.reached)


def sort_hash(context: TableContext) -> str:
    """Identifies order, columns and thresholds. An edit of the schedule changes nothing."""
    sort = context.compaction.sort
    return digest({} if sort is None else sort.model_copy(update={"schedule": ""}).to_json())


def row_order(context: TableContext) -> RowOrder | None:
    """The order that the table must have before it is sorted; None: it has none."""
    options = table_options(context.spec, context.effective)
    return RowOrder(columns=options[COLUMNS], strategy=options[STRATEGY]) if context.compaction.sort else None


def other_writer(context: TableContext, status: TableStatus) -> Need | None:
    """An undeclared foreign commit counts as externalWriters Active, which excludes sort."""
    record = status.outside_writers
    if record is None or record.commit is None or record.stated != context.spec.external_writers:
        return None
    said = f"snapshot {record.commit.snapshot_id} is of another writer, and sort does not run beside others"
    return Need(verdict=Verdict.NOT_NEEDED, message=said, next_run=_WITHOUT_THE_OTHER, cause=Cause.OTHER_WRITER)


def _of_files(context: TableContext, health: Health) -> Iterator[Check]:
    sort = context.compaction.sort
    least = sort.when.unsorted_files_per_partition if sort is not None and sort.when is not None else None
    measured = health.level0_files_max
    if least is not None and measured is not None:
        reached = measured >= least
        yield Check(name="unsortedFilesPerPartition", measured=str(measured), threshold=str(least), reached=reached)


def _of_time(context: TableContext, state: StrategyState) -> Iterator[Check]:
    sort = context.compaction.sort
    if sort is not None and sort.when is not None:
        yield from age_check(context, "maxDelay", state.last_time, sort.when.max_delay)


def _state(status: TableStatus) -> StrategyState:
    return (status.compaction or CompactionState()).sort or StrategyState()
