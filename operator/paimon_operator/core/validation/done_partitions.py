"""Rules about the marks of partitions that are done: the table has partitions, and their time can be read."""

from __future__ import annotations

from collections.abc import Iterator

from paimon_operator.api import units
from paimon_operator.api.base import LONGEST_DURATION_D
from paimon_operator.core.spec.context import MARK_PARTITIONS_DONE, TableContext
from paimon_operator.core.validation.partition_times import formatter_of, pattern_of, types_of
from paimon_operator.errors import SpecError


def done_partitions_of(context: TableContext) -> Iterator[SpecError]:
    """The block markPartitionsDone."""
    block, keys = context.spec.mark_partitions_done, context.spec.table_schema.partition_keys
    if block is None:
        return
    for name, duration in (("timeInterval", block.time_interval), ("idleTime", block.idle_time)):
        yield from units.too_long(duration, LONGEST_DURATION_D, field=f"{MARK_PARTITIONS_DONE}.{name}")
    if not keys:
        yield SpecError(MARK_PARTITIONS_DONE, "the table has no partitions", "Remove it, or set partitionKeys.")
        return
    yield from pattern_of(MARK_PARTITIONS_DONE, block.timestamp_pattern, keys)
    yield from types_of(
        MARK_PARTITIONS_DONE, context, block, otherwise="or mark its partitions with the program that loads them"
    )
    yield from formatter_of(MARK_PARTITIONS_DONE, block.timestamp_formatter, "no partition is ever done")
