"""Values of partition keys, as Paimon stores them, as SQL text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from spark_apps.failures.errors import spec_failure
from spark_apps.sql.identifiers import literal, quote
from spark_apps.sql.partitions import TEXTS, WHOLE_NUMBERS

EPOCH: Final = date(1970, 1, 1)


@dataclass(frozen=True)
class PartitionKey:
    """One key of a partition: its column, the root of the column's type, and its value. A DATE is its days."""

    name: str
    root: str
    value: str | int | None


def condition_of(keys: Iterable[PartitionKey]) -> str:
    """SQL that holds for the rows of one partition. Raises RunError (Spec) for a type that cannot be named."""
    return " AND ".join(
        f"{quote(each.name)} IS NULL" if each.value is None else f"{quote(each.name)} = {literal_of(each)}"
        for each in keys
    )


def literal_of(key: PartitionKey) -> str:
    """The value as a literal of its column's type, without a conversion. Raises RunError (Spec) where none exists."""
    value = key.value
    if key.root in TEXTS and value is not None:
        return literal(str(value))
    if isinstance(value, int):
        if key.root == "BOOLEAN":
            return literal(bool(value))
        if key.root == "DATE":
            return f"DATE '{(EPOCH + timedelta(days=value)).isoformat()}'"
        if key.root in WHOLE_NUMBERS:
            return f"{value}{WHOLE_NUMBERS[key.root][0]}"
    raise spec_failure(
        "RescaleRefused",
        f"the partition key {key.name!r} is of type {key.root}, by which a partition cannot be named",
        "keep bucket.fixed.count, or create another table and load the data into it",
        field="spec.bucket.fixed.count",
    )
