"""A filter on partitions as SQL text. Paimon's own notation (`dt=a;dt=b`) would evaluate values as expressions.

Each value becomes a literal of its column's type: Paimon accepts no filter in which Spark has to convert.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from spark_apps.failures.errors import spec_failure
from spark_apps.sql.identifiers import literal, quote

FIELD = "spec.compact.partitions"
WHOLE_NUMBERS = {"TINYINT": ("Y", 8), "SMALLINT": ("S", 16), "INTEGER": ("", 32), "BIGINT": ("L", 64)}
"""Type -> the suffix of its literals, its bits."""
TEXTS = ("CHAR", "VARCHAR")
BOOLEANS = ("true", "false")


def partition_filter(table: Any, partitions: Sequence[Mapping[str, str]]) -> str:
    """SQL that holds for rows of these partitions. Raises RunError (Spec) for a value that its column cannot have."""
    types = {str(field.name()): field.type() for field in table.rowType().getFields()}
    wanted = (" AND ".join(_equals(types, key, value) for key, value in each.items()) for each in partitions)
    return " OR ".join(f"({each})" for each in wanted)


def _equals(types: Mapping[str, Any], key: str, value: str) -> str:
    if key not in types:
        raise spec_failure("InvalidSpec", f"the table has no column {key!r}", "name its partition keys", field=FIELD)
    root, written = str(types[key].getTypeRoot().toString()), None
    if root in TEXTS:
        written = literal(value)
    elif root in WHOLE_NUMBERS:
        written = _number(value, *WHOLE_NUMBERS[root])
    elif root == "DATE":
        written = _date(value)
    elif root == "BOOLEAN":
        written = value if value in BOOLEANS else None
    else:
        message = f"{key!r} is of type {root}, by which partitions cannot be named"
        raise spec_failure("InvalidSpec", message, "leave partitions out, or name them by another key", field=FIELD)
    if written is None:
        message = f"{value!r} is no value of {key!r}, which is of type {root}"
        raise spec_failure("InvalidSpec", message, "write it as the column has it", field=FIELD)
    return f"{quote(key)} = {written}"


def _number(value: str, suffix: str, bits: int) -> str | None:
    if not re.fullmatch(r"-?[0-9]{1,19}", value):
        return None
    number = int(value)
    return f"{number}{suffix}" if -(2 ** (bits - 1)) <= number < 2 ** (bits - 1) else None


def _date(value: str) -> str | None:
    try:
        return f"DATE '{date.fromisoformat(value).isoformat()}'"
    except ValueError:
        return None
