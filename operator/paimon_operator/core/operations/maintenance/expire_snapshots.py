"""Expiry of snapshots by the operator, on the schedule of retention.snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from paimon_contract.parameters.expire_snapshots import ExpireSnapshotsParameters
from paimon_contract.result import Result
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.table.effective import EffectiveRetention
from paimon_operator.api.table.schedule_state import MaintenanceState
from paimon_operator.api.table.status import TableStatus
from paimon_operator.api.units import paimon_duration
from paimon_operator.core.operations.base import DueRun
from paimon_operator.core.operations.maintenance.block_schedule import BlockSchedule
from paimon_operator.core.operations.maintenance.expiry_need import expiry_need, snapshots_gained
from paimon_operator.core.operations.need import Need
from paimon_operator.core.operations.operation import OperationSpec
from paimon_operator.core.spec.context import CHANGELOGS, CONSUMERS, SNAPSHOTS, TAGS, TableContext


def need(context: TableContext, status: TableStatus, work: DueRun) -> Need:  # noqa: ARG001
    """Whether any snapshot may expire."""
    return expiry_need(context, status)


def job(context: TableContext, run: PaimonRun) -> ExpireSnapshotsParameters:  # noqa: ARG001
    """The effective retention. Absent values are the table's own options, or Paimon's defaults.

    Raises SpecError while the retention is broken: what an older one allowed to expire may be meant to stay.
    """
    if (error := context.broken_in(SNAPSHOTS)) is not None:
        raise error
    block = context.effective.retention.snapshots if context.effective.retention else None
    if block is None:
        return ExpireSnapshotsParameters()
    return ExpireSnapshotsParameters(
        time_retained=paimon_duration(block.time_retained) if block.time_retained else None,
        num_retained_min=block.num_retained_min,
        num_retained_max=block.num_retained_max,
    )


def status_fields(result: Result) -> Mapping[str, Any]:
    """How many snapshots expired."""
    return {"expired": result.expired}


def summary(result: Result) -> str:
    """What was done."""
    return f"{result.expired or 0} snapshots expired"


def applied(context: TableContext) -> tuple[str, ...]:
    """The other blocks of the manifest that its runs apply."""
    retention = context.effective.retention or EffectiveRetention()
    blocks = {CHANGELOGS: retention.changelogs, CONSUMERS: retention.consumers, TAGS: context.effective.tags}
    return tuple(path.removeprefix("spec.") for path, block in blocks.items() if block is not None)


_EXPIRY: Final = BlockSchedule(
    type="ExpireSnapshots",
    path=SNAPSHOTS,
    effective=lambda settings: (settings.retention or EffectiveRetention()).snapshots,
    memory="retention",
    empty=MaintenanceState(),
    applies=applied,
)
OPERATION: Final = OperationSpec(
    type=_EXPIRY.type,
    order=40,
    scheduled=_EXPIRY,
    on_demand=_EXPIRY,
    job=job,
    summary=summary,
    status_fields=status_fields,
    memory="retention",
    record_result=_EXPIRY.record_result,
    is_still_asked_for=_EXPIRY.is_still_asked_for,
    skips_empty_table=True,
    need=need,
    gain=snapshots_gained,
    in_windows=True,
    may_end_without_jvm=True,
    small=True,
)
