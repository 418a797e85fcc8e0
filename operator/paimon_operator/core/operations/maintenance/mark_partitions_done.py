"""Marks partitions as done on the schedule of markPartitionsDone. It commits nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from paimon_contract.parameters.mark_partitions_done import MarkPartitionsDoneParameters
from paimon_contract.result import Result
from paimon_operator.api import units
from paimon_operator.api.run.result import partitions_done
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.core.operations.maintenance.block_schedule import BlockSchedule
from paimon_operator.core.operations.operation import OperationSpec
from paimon_operator.core.spec.context import MARK_PARTITIONS_DONE, TableContext
from paimon_operator.errors import SpecError


def job(context: TableContext, run: PaimonRun) -> MarkPartitionsDoneParameters:  # noqa: ARG001
    """When a partition of the table is done, in the time zone of the table.

    Raises SpecError while the block or the zone is broken: nobody takes back a mark that came too early. The same for
    a user's run on a table without it.
    """
    if (error := context.stops_schedule(MARK_PARTITIONS_DONE)) is not None:
        raise error
    block = context.effective.mark_partitions_done
    if block is None:
        raise SpecError(
            MARK_PARTITIONS_DONE,
            "the table does not say when a partition is done",
            "Set timeInterval and idleTime there.",
        )
    return MarkPartitionsDoneParameters(
        interval_seconds=units.seconds(block.time_interval, field=f"{MARK_PARTITIONS_DONE}.timeInterval"),
        idle_seconds=units.seconds(block.idle_time, field=f"{MARK_PARTITIONS_DONE}.idleTime"),
        time_zone=context.zone,
        timestamp_pattern=block.timestamp_pattern,
        timestamp_formatter=block.timestamp_formatter,
    )


def status_fields(result: Result) -> Mapping[str, Any]:
    """The partitions that were marked, and the others."""
    return {"partitions_done": partitions_done(result)}


def summary(result: Result) -> str:
    """What was marked, and what was not."""
    found = result.partitions_done
    if found is None:
        return "nothing was reported"
    said = (
        f"{found.marked} partitions marked as done, {found.already_marked} were before, {found.not_yet_done} are not"
        " done yet"
    )
    if found.remaining:
        said += f"; {found.remaining} more are done, and the next run marks them"
    if found.unreadable:
        said += f"; {found.unreadable} without a time that can be read, such as {found.example}"
    return said


_MARKS: Final = BlockSchedule(
    type="MarkPartitionsDone",
    path=MARK_PARTITIONS_DONE,
    effective=lambda settings: settings.mark_partitions_done,
    memory="partitions_done",
)
OPERATION: Final = OperationSpec(
    type=_MARKS.type,
    order=26,
    scheduled=_MARKS,
    on_demand=_MARKS,
    job=job,
    summary=summary,
    status_fields=status_fields,
    memory="partitionsDone",
    record_result=_MARKS.record_result,
    is_still_asked_for=_MARKS.is_still_asked_for,
    skips_empty_table=True,
    only_reads=True,
    is_maintenance=True,
    may_end_without_jvm=True,
    small=True,
)
