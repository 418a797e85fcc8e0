"""A value of any type, as JSON, and values that Spark or pypaimon has read in the same form."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, Final

from paimon_schema.data_types import DataType

Row = dict[str, Any]
UNCHECKED: Final = object()
"""A value that a model does not know."""
_BYTES: Final = ("BINARY", "VARBINARY", "BYTES")
_TEXTS: Final = ("CHAR", "VARCHAR", "STRING")

_VALUES: Final[dict[str, Callable[[int], Any]]] = {
    "BOOLEAN": lambda number: number % 2 == 0,
    "FLOAT": lambda number: number + 0.5,
    "DOUBLE": lambda number: number + 0.5,
    "DECIMAL": lambda number: number + 0.25,
    "DATE": lambda number: f"2026-01-{number + 1:02d}",
    "TIMESTAMP": lambda number: f"2026-01-01T10:00:{number:02d}",
    "TIMESTAMP_LTZ": lambda number: f"2026-01-01T10:00:{number:02d}Z",
    **dict.fromkeys(_BYTES, lambda number: base64.b64encode(bytes([number] * 3)).decode()),
    **dict.fromkeys(_TEXTS, lambda number: f"t{number:02d}"),
}
"""Name of a type -> its values. Others have the numbers themselves."""


def value(of: DataType, number: int) -> Any:
    """A value as JSON. Greater numbers have greater values, except of BOOLEAN."""
    if of.name == "ARRAY":
        return [value(of.children[0], number)]
    if of.name == "MAP":
        return {"a": value(of.children[1], number)}
    if of.name == "ROW":
        return {name: value(child, number) for name, child in zip(of.fields, of.children, strict=True)}
    made = _VALUES.get(of.name)
    return number if made is None else made(number)


def plain(of: DataType, read: Any, *, hexadecimal: bool = False) -> Any:
    """A value that was read, in the form of `value`; `hexadecimal`: bytes are."""
    if read is None or read is UNCHECKED:
        return read
    if of.children:
        return _plain_nested(of, read, hexadecimal=hexadecimal)
    if of.name in _BYTES and hexadecimal:
        return base64.b64encode(bytes.fromhex(read)).decode()
    if of.name in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        return read[:19]
    return float(read) if of.name == "DECIMAL" else read


def _plain_nested(of: DataType, read: Any, *, hexadecimal: bool) -> Any:
    if of.name == "ARRAY":
        return [plain(of.children[0], each, hexadecimal=hexadecimal) for each in read]
    if of.name == "MAP":
        pairs = read.items() if isinstance(read, dict) else read
        return {key: plain(of.children[1], each, hexadecimal=hexadecimal) for key, each in pairs}
    children = zip(of.fields, of.children, strict=True)
    row = {name: plain(child, read[name], hexadecimal=hexadecimal) for name, child in children}
    return row if any(each is not None for each in row.values()) else None  # 0.9 reads a row of NULLs as NULL
