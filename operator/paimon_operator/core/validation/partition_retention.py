"""Rules about the retention of partitions: what a time can be read from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from paimon_operator.api import units
from paimon_operator.api.base import LONGEST_DURATION_D
from paimon_operator.api.policies import ExternalWriters
from paimon_operator.api.retention import LEAST_WITH_OTHER_WRITERS_D, PartitionStrategy
from paimon_operator.api.table.effective import EffectivePartitionRetention
from paimon_operator.core.spec.context import PARTITIONS, TableContext
from paimon_operator.core.validation.columns import column_types
from paimon_operator.errors import SpecError
from paimon_schema.plain_times import keys_in

_PATTERN: Final = f"{PARTITIONS}.timestampPattern"
_FORMATTER: Final = f"{PARTITIONS}.timestampFormatter"
_WHOLE: Final = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_READABLE: Final = (*_WHOLE, "STRING", "CHAR", "VARCHAR", "DATE", "TIMESTAMP")
"""Roots of the types of partition keys whose values can be part of a time."""


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
        yield from _pattern(block.timestamp_pattern, keys)
        yield from _types(context, block, keys)
        yield from _formatter(block.timestamp_formatter)


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


def _pattern(pattern: str | None, keys: tuple[str, ...]) -> Iterator[SpecError]:
    if pattern is None:
        return
    if len(keys_in(pattern, keys)) < pattern.count("$"):
        yield SpecError(
            _PATTERN,
            f"{pattern!r} has a $ that does not begin the name of a partition key",
            f"Use {', '.join(f'${key}' for key in keys)}.",
        )


def _types(context: TableContext, block: EffectivePartitionRetention, keys: tuple[str, ...]) -> Iterator[SpecError]:
    known, pattern = column_types(context.spec), block.timestamp_pattern
    for key in keys[:1] if pattern is None else dict.fromkeys(keys_in(pattern, keys)):
        if key in known and known[key].name not in _READABLE:
            yield SpecError(
                PARTITIONS,
                f"no time can be read from the partition key {key!r}, which is of type {known[key]}",
                "Use a timestampPattern with other keys, or strategy UpdateTime.",
            )
        elif key in known and known[key].name in _WHOLE and pattern is None and block.timestamp_formatter is None:
            yield SpecError(
                _FORMATTER,
                f"the partition key {key!r} is of type {known[key]}, and no number is a time like 2026-11-25",
                "Set timestampFormatter, as yyyyMMdd for 20261125.",
            )


def _formatter(formatter: str | None) -> Iterator[SpecError]:
    """As in CEL. Other faults only Java finds: the run names the field then."""
    if formatter is None:
        return
    has_day = re.search("D|M.*d|d.*M", formatter) is not None
    if re.search("[yu]", formatter) is None or not has_day:
        yield SpecError(
            _FORMATTER,
            f"{formatter!r} does not read year, month and day, so that no partition ever expires",
            "Write it like yyyyMMdd. For months, use a timestampPattern like '$month-01' without a formatter.",
        )
