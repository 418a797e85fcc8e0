"""Expiry of partitions by the operator, on the schedule of retention.partitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from paimon_contract.parameters.expire_partitions import ExpirePartitionsParameters
from paimon_contract.result import Result
from paimon_operator.api import units
from paimon_operator.api.retention import PartitionStrategy
from paimon_operator.api.run.result import partition_expiry
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.table.effective import EffectiveRetention
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.operations.base import DueRun
from paimon_operator.core.operations.maintenance.block_schedule import BlockSchedule
from paimon_operator.core.operations.maintenance.partition_need import partition_need
from paimon_operator.core.operations.need import Need
from paimon_operator.core.operations.operation import OperationSpec
from paimon_operator.core.spec.context import PARTITIONS, TableContext
from paimon_operator.errors import SpecError


def job(context: TableContext, run: PaimonRun) -> ExpirePartitionsParameters:  # noqa: ARG001
    """The effective retention of partitions, in the time zone of the table.

    Raises SpecError while the retention or the zone is broken: what an older one allowed to expire may be meant to
    stay. The same for a user's run on a table without it.
    """
    if (error := context.stops_schedule(PARTITIONS)) is not None:
        raise error
    block = context.effective.retention.partitions if context.effective.retention else None
    if block is None:
        raise SpecError(PARTITIONS, "the table has no retention of partitions", "Set expirationTime there.")
    return ExpirePartitionsParameters(
        expiration_seconds=units.seconds(block.expiration_time, field=f"{PARTITIONS}.expirationTime"),
        strategy=(block.strategy or PartitionStrategy.VALUES_TIME).value,
        time_zone=context.zone,
        timestamp_pattern=block.timestamp_pattern,
        timestamp_formatter=block.timestamp_formatter,
    )


def need(context: TableContext, status: TableStatus, work: DueRun) -> Need:  # noqa: ARG001
    """Whether any partition is due."""
    return partition_need(context, status)


def status_fields(result: Result) -> Mapping[str, Any]:
    """The partitions that expired, and those that stay."""
    return {"partitions": partition_expiry(result)}


def summary(result: Result) -> str:
    """What was done, and what was left."""
    found = result.partitions
    if found is None:
        return "nothing was reported"
    said = f"{found.expired} of {found.total} partitions expired"
    if found.remaining:
        said += f"; {found.remaining} more are due, and the next run drops them"
    if found.unreadable:
        said += f"; {found.unreadable} without a time that can be read, such as {found.example}"
    return said


_EXPIRY: Final = BlockSchedule(
    type="ExpirePartitions",
    path=PARTITIONS,
    effective=lambda settings: (settings.retention or EffectiveRetention()).partitions,
    memory="partition_expiry",
)
OPERATION: Final = OperationSpec(
    type=_EXPIRY.type,
    order=25,
    scheduled=_EXPIRY,
    on_demand=_EXPIRY,
    job=job,
    summary=summary,
    status_fields=status_fields,
    memory="partitionExpiry",
    record_result=_EXPIRY.record_result,
    is_still_asked_for=_EXPIRY.is_still_asked_for,
    skips_empty_table=True,
    need=need,
    in_windows=True,
    may_end_without_jvm=True,
    small=True,
)
