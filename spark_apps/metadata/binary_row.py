"""Rows in Paimon's binary form, in manifest entries: partitions, and the least values of a file's columns.

A serialized row is its number of fields (4 bytes, big-endian) and the row: a header with the null bits, 8 bytes a field
(little-endian), then the values that do not fit there.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from paimon_schema.data_types import DataType
from spark_apps.metadata.base import UnreadableError

Value = Any
"""None, or a bool, int, str, Decimal, date or datetime; values of one type can be compared."""
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001  (TIMESTAMP is without a time zone)
_COMPACT_TIMESTAMP: Final = 3
_COMPACT_DECIMAL: Final = 18
_INLINE: Final = 0x80
"""Bit of a field's last byte: the value is in the field itself, and the other bits are its length."""
_MALFORMED: Final = (struct.error, ValueError, IndexError, OverflowError, ArithmeticError)
_INTEGERS: Final = frozenset({"INT", "BIGINT"})
_TIMESTAMPS: Final = frozenset({"TIMESTAMP", "TIMESTAMP_LTZ"})
_NUMBERS: Final = {"BOOLEAN": "<?", "TINYINT": "<b", "SMALLINT": "<h", "INT": "<i", "BIGINT": "<q"}


def partition_values(serialized: bytes, types: Sequence[DataType]) -> tuple[Value, ...]:
    """The values of a partition, one for each type. Raises UnreadableError for types that cannot be decoded."""
    try:
        arity, row = struct.unpack_from(">i", serialized)[0], serialized[4:]
        if arity != len(types):
            raise UnreadableError(f"a partition has {arity} values, and the table {len(types)} partition keys")
        start = _start(len(types))
        return tuple(_field(row, start + 8 * i, type_, i) for i, type_ in enumerate(types))
    except _MALFORMED as error:
        raise UnreadableError(f"a partition cannot be decoded: {error}") from error


def number_at(serialized: bytes, index: int, columns: int, type_: DataType) -> int | None:
    """The integer in one column of a row of so many, or the milliseconds of a timestamp; None for NULL.

    Raises UnreadableError, also for a column of another type.
    """
    try:
        (arity,) = struct.unpack_from(">i", serialized)
        if arity != columns or type_.name not in _INTEGERS | _TIMESTAMPS:
            raise UnreadableError(f"a row of {arity} values has no number of type {type_.name} in {columns} columns")
        row, at = serialized[4:], _start(columns) + 8 * index
        if _is_null(row, index):
            return None
        return _millis(row, at, type_)[0] if type_.name in _TIMESTAMPS else _integer(row, at, type_)
    except _MALFORMED as error:
        raise UnreadableError(f"a value of type {type_.name} cannot be decoded: {error}") from error


def _integer(row: bytes, at: int, type_: DataType) -> int:
    return int(struct.unpack_from(_NUMBERS[type_.name], row, at)[0])


def _is_null(row: bytes, index: int) -> bool:
    bit = index + 8  # the first byte is the kind of the row
    return bool(row[bit // 8] >> bit % 8 & 1)


def _start(columns: int) -> int:
    """Where the first field of a row is."""
    return (columns + 63 + 8) // 64 * 8


def _field(row: bytes, at: int, type_: DataType, index: int) -> Value:
    if _is_null(row, index):
        return None
    decode = _DECODERS.get(type_.name)
    if decode is not None:
        return decode(row, at, type_)
    if type_.name not in _NUMBERS:
        raise UnreadableError(f"values of type {type_.name} cannot be decoded")
    return struct.unpack_from(_NUMBERS[type_.name], row, at)[0]


def _text(row: bytes, at: int, type_: DataType) -> str:
    del type_
    return _bytes(row, at).decode()


def _bytes(row: bytes, at: int) -> bytes:
    if row[at + 7] & _INLINE:
        return row[at : at + (row[at + 7] & ~_INLINE)]
    length, offset = struct.unpack_from("<ii", row, at)
    return _slice(row, offset, length)


def _slice(row: bytes, offset: int, length: int) -> bytes:
    if not 0 <= offset <= offset + length <= len(row):
        raise ValueError("a value lies outside of its row")
    return row[offset : offset + length]


def _date(row: bytes, at: int, type_: DataType) -> date:
    del type_
    return _EPOCH.date() + timedelta(days=struct.unpack_from("<i", row, at)[0])


def _timestamp(row: bytes, at: int, type_: DataType) -> datetime:
    """Digits below a microsecond are cut off. A type with local time zone is an instant in UTC."""
    millis, nanos = _millis(row, at, type_)
    found = _EPOCH + timedelta(milliseconds=millis, microseconds=nanos // 1000)
    return found.replace(tzinfo=UTC) if type_.name == "TIMESTAMP_LTZ" else found


def _millis(row: bytes, at: int, type_: DataType) -> tuple[int, int]:
    """The milliseconds, and the nanoseconds beyond them."""
    nanos, place = 0, at
    if not type_.args or type_.args[0] > _COMPACT_TIMESTAMP:  # (without a precision it is 6)
        nanos, place = struct.unpack_from("<ii", row, at)
        _slice(row, place, 8)
    return struct.unpack_from("<q", row, place)[0], nanos


def _decimal(row: bytes, at: int, type_: DataType) -> Decimal:
    precision, scale = type_.args
    if precision <= _COMPACT_DECIMAL:
        (unscaled,) = struct.unpack_from("<q", row, at)
    else:
        length, offset = struct.unpack_from("<ii", row, at)
        unscaled = int.from_bytes(_slice(row, offset, length), "big", signed=True)
    digits = tuple(map(int, str(abs(unscaled))))
    return Decimal((int(unscaled < 0), digits, -scale))


_DECODERS: Final[dict[str, Callable[[bytes, int, DataType], Value]]] = {
    **dict.fromkeys(("CHAR", "VARCHAR", "STRING"), _text),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_LTZ"), _timestamp),
    "DATE": _date,
    "DECIMAL": _decimal,
}
