"""Whether a type may become another: only without losing a value, and only as the engine was shown to read it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, Protocol

from paimon_schema.data_types import DataType

_DIGITS: Final = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}
"""Most decimal digits of an integer type."""
_LENGTH_LAST: Final = {"STRING": 2147483647, "BYTES": 2147483647}
_LENGTHS: Final = frozenset({"CHAR", "VARCHAR", "STRING", "BINARY", "VARBINARY", "BYTES"})
_PRECISIONS: Final = frozenset({"TIMESTAMP", "TIMESTAMP_LTZ", "TIME"})
_EXACT: Final = {
    "TINYINT": ("SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE"),
    "SMALLINT": ("INT", "BIGINT", "FLOAT", "DOUBLE"),
    "INT": ("BIGINT", "DOUBLE"),
    "BIGINT": (),
    "FLOAT": ("DOUBLE",),
}
"""Type -> the types without parameters that hold each of its values exactly."""
_FORMATS: Final = ("file.format", "changelog-file.format")
_FORMATS_OF_LEVELS: Final = "file.format.per.level"
"""Its value is like `0:avro,3:parquet`."""
_FAMILIES: Final = (
    frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"}),
    frozenset({"CHAR", "VARCHAR", "STRING"}),
    frozenset({"BINARY", "VARBINARY", "BYTES"}),
    frozenset({"TIMESTAMP"}),
    frozenset({"TIMESTAMP_LTZ"}),
    frozenset({"TIME"}),
)


class Widenings(Protocol):
    """What is known of an engine."""

    def widens(self, old: str, new: str, formats: Collection[str]) -> bool:
        """Whether the engine reads old values rightly after a column of type `old` became one of type `new`.

        Both are names of types without their parameters. `formats` are file formats that the table's options name.
        """


def named_formats(*options: Mapping[str, str]) -> frozenset[str]:
    """The file formats that options of a table name, in lower case, as Paimon reads them."""
    found = {each[key] for each in options for key in _FORMATS if key in each}
    for each in options:
        found |= {level.rpartition(":")[2] for level in each.get(_FORMATS_OF_LEVELS, "").split(",") if level.strip()}
    return frozenset(name.strip().lower() for name in found)


def widening_problem(old: DataType, new: DataType, engine: Widenings, formats: Collection[str]) -> str | None:
    """Why a plain type cannot become `new`, as a clause; None if it can. Whether NULL is allowed does not count."""
    if not _same_family(old, new):
        return f"{_bare(old)} and {_bare(new)} are of different families"
    if not _holds(new, old):
        return f"{_bare(new)} does not hold every value of {_bare(old)}"
    if not engine.widens(old.name, new.name, formats):
        return f"this engine does not read {_bare(old)} as {_bare(new)} in every file format"
    return None


def _same_family(old: DataType, new: DataType) -> bool:
    return any({old.name, new.name} <= family for family in _FAMILIES)


def _holds(new: DataType, old: DataType) -> bool:
    """Whether each value of `old` is exactly one of `new`. Both are of one family."""
    if old.name in _LENGTHS:
        # Values of CHAR and BINARY have one length each; longer ones would be other values.
        fixed = new.name in ("CHAR", "BINARY")
        return not fixed and _length(new) >= _length(old)
    if old.name in _PRECISIONS:
        return new.args >= old.args
    if new.name == "DECIMAL":
        return _decimal_holds(new, old)
    return new.name in _EXACT.get(old.name, ())


def _decimal_holds(new: DataType, old: DataType) -> bool:
    if old.name != "DECIMAL" and old.name not in _DIGITS:
        return False
    digits, scale = old.args if old.name == "DECIMAL" else (_DIGITS[old.name], 0)
    return new.args[0] - new.args[1] >= digits - scale and new.args[1] >= scale


def _length(of: DataType) -> int:
    return of.args[0] if of.args else _LENGTH_LAST[of.name]


def _bare(data_type: DataType) -> str:
    return str(data_type).removesuffix(" NOT NULL")
