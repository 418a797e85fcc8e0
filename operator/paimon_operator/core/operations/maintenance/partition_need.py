"""Whether any partition is due: the time of the partition with the smallest values against `expirationTime`.

A measurement names that partition and no other one. It is the oldest one only where values are ordered like their
times: dates and timestamps, and texts and numbers of fixed width. Paimon's own notation lets `2026-9-15` follow
`2026-10-12`, so without a formatter texts say that a partition is due, and never that none is.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from paimon_operator.api.base import rfc3339
from paimon_operator.api.retention import PartitionStrategy
from paimon_operator.api.table.effective import EffectivePartitionRetention
from paimon_operator.api.table.schedule_state import Check
from paimon_operator.api.table.status import TableStatus
from paimon_operator.api.units import delta, readable_duration
from paimon_operator.core.operations.causes import Cause
from paimon_operator.core.operations.need import UNKNOWN, Need, Verdict, by_checks, holding_measurement
from paimon_operator.core.spec.context import TableContext
from paimon_schema import type_parser
from paimon_schema.plain_times import earliest_moment, keys_in, reader_of, text_of_time

_ORDERED: Final = ("DATE", "TIMESTAMP")
"""Types whose values are ordered like the times that are read from them, whatever the formatter."""


def partition_need(context: TableContext, status: TableStatus) -> Need:
    """Whether the oldest partition is due. Unknown where another one may be, or where only Java reads its time."""
    health = holding_measurement(context, status)
    block = context.effective.retention.partitions if context.effective.retention else None
    if health is None or health.oldest_partition is None or block is None:
        return UNKNOWN
    try:
        moment = _moment(context, block, health.oldest_partition)
        next_run = "" if moment is None else _next_run(block, moment)
    except OverflowError:  # (such as 9999-12-31, which means that a row has no time)
        return UNKNOWN
    if moment is None:
        return UNKNOWN
    need = by_checks(
        [_check(context, block, moment)],
        health.observed_at,
        cause=Cause.NO_PARTITION,
        found=f"the oldest partition is {health.oldest_partition}",
        next_run=next_run,
    )
    is_certain = need.verdict is Verdict.NEEDED or _is_oldest(context, block)
    return need if is_certain else replace(need, verdict=Verdict.UNKNOWN, message="")


def _next_run(block: EffectivePartitionRetention, moment: datetime) -> str:
    return f"A run starts at the first tick after {rfc3339(moment + delta(block.expiration_time))}"


def _check(context: TableContext, block: EffectivePartitionRetention, moment: datetime) -> Check:
    """As the driver compares: a partition that is exactly as old stays."""
    age = context.now - moment
    return Check(
        name="expirationTime",
        measured=readable_duration(max(age, timedelta())),
        threshold=block.expiration_time,
        reached=age > delta(block.expiration_time),
    )


def _moment(context: TableContext, block: EffectivePartitionRetention, partition: str) -> datetime | None:
    """The time of the partition in the table's time zone; None where it cannot be read here. UpdateTime has none."""
    values = _values(context.spec.table_schema.partition_keys, partition)
    read = reader_of(block.timestamp_formatter)
    if block.strategy is PartitionStrategy.UPDATE_TIME or values is None or read is None:
        return None
    text = text_of_time(values, block.timestamp_pattern)
    local = None if text is None else read(text)
    return None if local is None else earliest_moment(local, context.zone)


def _values(keys: tuple[str, ...], partition: str) -> dict[str, str | None] | None:
    """Key -> value of `day=2026-11-22/hour=7`."""
    found = re.fullmatch("/".join(f"{re.escape(key)}=(.*)" for key in keys), partition)
    return None if found is None or not keys else dict(zip(keys, found.groups(), strict=True))


def _is_oldest(context: TableContext, block: EffectivePartitionRetention) -> bool:
    """Whether the partition with the smallest values is the oldest one: the time is that of the first key alone."""
    first, pattern = context.spec.table_schema.partition_keys[0], block.timestamp_pattern
    if pattern is not None and keys_in(pattern, context.spec.table_schema.partition_keys) != [first]:
        return False
    types = (each.type for each in context.spec.table_schema.columns if each.name == first)
    return block.timestamp_formatter is not None or any(type_parser.parse(each).name in _ORDERED for each in types)
