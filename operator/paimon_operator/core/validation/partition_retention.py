"""Rules about the retention of partitions: what the time of a partition is, and with which writers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from paimon_operator.api import units
from paimon_operator.api.base import LONGEST_DURATION_D
from paimon_operator.api.policies import ExternalWriters
from paimon_operator.api.retention import LEAST_WITH_OTHER_WRITERS_D, PartitionStrategy
from paimon_operator.api.table.effective import EffectivePartitionRetention
from paimon_operator.core.spec.context import PARTITIONS, TableContext
from paimon_operator.core.validation.partition_times import formatter_of, pattern_of, types_of
from paimon_operator.errors import SpecError

_PATTERN: Final = f"{PARTITIONS}.timestampPattern"
_FORMATTER: Final = f"{PARTITIONS}.timestampFormatter"


def partitions_of(context: TableContext, block: EffectivePartitionRetention) -> Iterator[SpecError]:
    """The retention of partitions: the table has some, and their time can be read."""
    yield from units.too_long(block.expiration_time, LONGEST_DURATION_D, field=f"{PARTITIONS}.expirationTime")
    keys = context.spec.table_schema.partition_keys
    if not keys:
        yield SpecError(PARTITIONS, "the table has no partitions", "Remove it, or set partitionKeys.")
    elif block.strategy is PartitionStrategy.UPDATE_TIME:
        yield from _unused(block)
        yield from _of_other_writers(context, block)
    else:
        yield from pattern_of(PARTITIONS, block.timestamp_pattern, keys)
        yield from types_of(PARTITIONS, context, block, otherwise="or strategy UpdateTime")
        yield from formatter_of(PARTITIONS, block.timestamp_formatter, "no partition ever expires")


def _unused(block: EffectivePartitionRetention) -> Iterator[SpecError]:
    for field, value in ((_PATTERN, block.timestamp_pattern), (_FORMATTER, block.timestamp_formatter)):
        if value is not None:
            yield SpecError(field, "UpdateTime reads no time from the partition keys", "Remove the field.")


def _of_other_writers(context: TableContext, block: EffectivePartitionRetention) -> Iterator[SpecError]:
    """Active ones commit rows between the look at a partition and its drop. Of paused ones the times are not exact."""
    others = context.spec.external_writers
    if others is ExternalWriters.ACTIVE:
        yield SpecError(
            f"{PARTITIONS}.strategy",
            "UpdateTime would drop what other writers commit meanwhile, and externalWriters is Active",
            "Use strategy ValuesTime, or set externalWriters to None or Paused.",
        )
        return
    least = f"{LEAST_WITH_OTHER_WRITERS_D}d"
    field, given = f"{PARTITIONS}.expirationTime", block.expiration_time
    if others is ExternalWriters.PAUSED and units.delta(given, field=field) < units.delta(least):
        yield SpecError(
            field,
            f"{given} is too short with UpdateTime: other writers store times of files in the time zones of their JVMs",
            f"Use at least {least}, or strategy ValuesTime.",
        )
