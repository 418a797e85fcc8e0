"""Rules about times in the values of partition keys, for each block that reads some."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Protocol

from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.validation.columns import column_types
from paimon_operator.errors import SpecError
from paimon_schema.plain_times import keys_in

_WHOLE: Final = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_READABLE: Final = (*_WHOLE, "STRING", "CHAR", "VARCHAR", "DATE", "TIMESTAMP")
"""Roots of the types of partition keys whose values can be part of a time."""


class Times(Protocol):
    """A block that says how the time of a partition is read."""

    @property
    def timestamp_pattern(self) -> str | None:
        """Text with the time; None: the first key."""

    @property
    def timestamp_formatter(self) -> str | None:
        """How Java reads it; None: Paimon's own notations."""


def pattern_of(block: str, pattern: str | None, keys: tuple[str, ...]) -> Iterator[SpecError]:
    """The pattern of the block at this path: each $ begins the name of a partition key."""
    if pattern is None:
        return
    if len(keys_in(pattern, keys)) < pattern.count("$"):
        yield SpecError(
            f"{block}.timestampPattern",
            f"{pattern!r} has a $ that does not begin the name of a partition key",
            f"Use {', '.join(f'${key}' for key in keys)}.",
        )


def types_of(block: str, context: TableContext, times: Times, *, otherwise: str) -> Iterator[SpecError]:
    """The types of the keys that are read. `otherwise`: what else to do than to read other keys."""
    known, pattern, keys = column_types(context.spec), times.timestamp_pattern, context.spec.table_schema.partition_keys
    for key in keys[:1] if pattern is None else dict.fromkeys(keys_in(pattern, keys)):
        if key in known and known[key].name not in _READABLE:
            yield SpecError(
                block,
                f"no time can be read from the partition key {key!r}, which is of type {known[key]}",
                f"Use a timestampPattern with other keys, {otherwise}.",
            )
        elif key in known and known[key].name in _WHOLE and pattern is None and times.timestamp_formatter is None:
            yield SpecError(
                f"{block}.timestampFormatter",
                f"the partition key {key!r} is of type {known[key]}, and no number is a time like 2026-11-25",
                "Set timestampFormatter, as yyyyMMdd for 20261125.",
            )


def formatter_of(block: str, formatter: str | None, effect: str) -> Iterator[SpecError]:
    """As in CEL. Other faults only Java finds: the run names the field then. `effect`: of one without a whole day."""
    if formatter is None:
        return
    has_day = re.search("D|M.*d|d.*M", formatter) is not None
    if re.search("[yu]", formatter) is None or not has_day:
        yield SpecError(
            f"{block}.timestampFormatter",
            f"{formatter!r} does not read year, month and day, so that {effect}",
            "Write it like yyyyMMdd. For months, use a timestampPattern like '$month-01' without a formatter.",
        )
