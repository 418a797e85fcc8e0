"""Marks partitions as done on the schedule of markPartitionsDone. It commits nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from paimon_contract.parameters.mark_partitions_done import MarkPartitionsDoneParameters
from paimon_contract.result import Result
from paimon_operator.api import units
from paimon_operator.api.run.result import partitions_done
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.table.schedule_state import Check
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import PartitionsDoneState, TableStatus
from paimon_operator.core.operations.base import DueRun, RunOutcome
from paimon_operator.core.operations.causes import Cause
from paimon_operator.core.operations.maintenance.block_schedule import BlockSchedule
from paimon_operator.core.operations.need import UNKNOWN, Need, by_checks, holding_measurement, unknown_with
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


def need(context: TableContext, status: TableStatus, work: DueRun) -> Need:  # noqa: ARG001
    """Whether there may be a partition without a mark: one that the last run has left, or one with a later commit."""
    state, health = status.partitions_done, holding_measurement(context, status)
    if state is None or state.unmarked is None or state.last_time is None:
        return UNKNOWN
    unmarked = Check(name="unmarkedPartitions", measured=str(state.unmarked), threshold="1", reached=state.unmarked > 0)
    if health is None or state.snapshot is None or health.snapshot_id != state.snapshot:
        return unknown_with([unmarked], state.last_time)
    found = "nothing was committed since the last run"
    cause = Cause.EVERY_PARTITION_MARKED
    return by_checks([unmarked], state.last_time, cause=cause, found=found, next_run=_NEXT_RUN)


def record_result(status: TableStatus, ended: RunOutcome, key: str) -> TableStatus:
    """The status after a run, with what it has left without a mark."""
    after, found = _MARKS.record_result(status, ended, key), ended.result.partitions_done
    if after.partitions_done is None or found is None or not ended.succeeded:
        return after
    unmarked = found.not_yet_done + found.remaining + found.unreadable
    snapshot = None if ended.result.after is None else ended.result.after.snapshot_id
    state = after.partitions_done.model_copy(update={"unmarked": unmarked, "snapshot": snapshot})
    return after.model_copy(update={"partitions_done": state})


def on_spec_change(status: TableStatus, table: PaimonTable, now: datetime) -> TableStatus:  # noqa: ARG001
    """After any edit the next tick starts a run: the block may ask for something else, or the table was rolled back."""
    state = status.partitions_done
    if state is None or state.snapshot is None or table.metadata.generation == status.observed_generation:
        return status
    return status.model_copy(update={"partitions_done": state.model_copy(update={"snapshot": None})})


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


_NEXT_RUN: Final = "A run starts at the first tick after the next commit"
_MARKS: Final = BlockSchedule(
    type="MarkPartitionsDone",
    path=MARK_PARTITIONS_DONE,
    effective=lambda settings: settings.mark_partitions_done,
    memory="partitions_done",
    empty=PartitionsDoneState(),
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
    record_result=record_result,
    need=need,
    on_spec_change=on_spec_change,
    is_still_asked_for=_MARKS.is_still_asked_for,
    skips_empty_table=True,
    only_reads=True,
    is_maintenance=True,
    may_end_without_jvm=True,
    small=True,
)
