"""Partition values in Paimon's binary form. Spark's own bytes are decoded in tests/spark."""

from __future__ import annotations

import struct
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from paimon_schema.type_parser import parse
from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.binary_row import partition_values
from tests.support.fabricated_avro import binary_row


def row_of(field: bytes, rest: bytes = b"", arity: int = 1) -> bytes:
    return struct.pack(">i", arity) + bytes(8) + field.ljust(8, b"\0") + rest


FAR = struct.pack("<ii", 9, 16)
"""A value of 9 bytes, 16 bytes after the beginning of the row."""
VALUES: dict[str, tuple[str, bytes, Any]] = {
    "a boolean": ("BOOLEAN", row_of(b"\1"), True),
    "a small number": ("TINYINT", row_of(b"\xff"), -1),
    "a short number": ("SMALLINT", row_of(struct.pack("<h", -300)), -300),
    "a number": ("INT", row_of(struct.pack("<i", -7)), -7),
    "a large number": ("BIGINT", row_of(struct.pack("<q", -(2**63))), -(2**63)),
    "a day": ("DATE", row_of(struct.pack("<i", 20_000)), date(2024, 10, 4)),
    "a day before 1970": ("DATE", row_of(struct.pack("<i", -1)), date(1969, 12, 31)),
    "a decimal": ("DECIMAL(10,2)", row_of(struct.pack("<q", -1234)), Decimal("-12.34")),
    "the longest decimal in a field": ("DECIMAL(18,0)", row_of(struct.pack("<q", 10**18 - 1)), Decimal(10**18 - 1)),
    "a long decimal": ("DECIMAL(38,3)", row_of(FAR, (-(10**20)).to_bytes(9, "big", signed=True)), Decimal(-(10**17))),
    "milliseconds": ("TIMESTAMP(3)", row_of(struct.pack("<q", -1)), datetime.fromisoformat("1969-12-31 23:59:59.999")),
    "microseconds": (
        "TIMESTAMP(6)",
        row_of(struct.pack("<ii", 7_000, 16), struct.pack("<q", 1_700_000_000_123)),
        datetime.fromisoformat("2023-11-14 22:13:20.123007"),
    ),
    "an instant": ("TIMESTAMP_LTZ(3)", row_of(struct.pack("<q", 0)), datetime(1970, 1, 1, tzinfo=UTC)),
    "no text": ("STRING", binary_row(""), ""),
    "the longest text in a field": ("VARCHAR(20)", binary_row("1234567"), "1234567"),
    "a text of 8 bytes": ("CHAR(8)", binary_row("12345678"), "12345678"),
    "a text of other letters": ("STRING", binary_row("Größe in ☃"), "Größe in ☃"),
    "no value": ("STRING", binary_row(None), None),
}


@pytest.mark.parametrize(("type_", "row", "value"), VALUES.values(), ids=VALUES)
def test_a_value_is_decoded_by_the_type_of_its_key(type_: str, row: bytes, value: Any) -> None:
    (found,) = partition_values(row, [parse(type_)])
    assert (found, type(found)) == (value, type(value))


def test_many_keys_have_a_longer_header() -> None:
    values = [None if n % 7 == 0 else f"value number {n}" for n in range(70)]
    assert partition_values(binary_row(*values), [parse("STRING")] * 70) == tuple(values)


UNDECODABLE: dict[str, tuple[str, bytes, str]] = {
    "another number of keys": ("INT", row_of(b"", arity=2), "has 2 values, and the table 1 partition keys"),
    "cut off": ("BIGINT", row_of(b"\1")[:-1], "cannot be decoded"),
    "no bytes": ("INT", b"", "cannot be decoded"),
    "a text outside of the row": ("STRING", row_of(struct.pack("<ii", 9, 99)), "lies outside of its row"),
    "a text of a negative length": ("STRING", row_of(struct.pack("<ii", -9, 16)), "lies outside of its row"),
    "a text that is not UTF-8": ("STRING", row_of(b"\xff" + bytes(6) + b"\x81"), "cannot be decoded"),
    "a day after the last": ("DATE", row_of(struct.pack("<i", 2**31 - 1)), "cannot be decoded"),
    "a type that is not decoded": ("DOUBLE", row_of(bytes(8)), "values of type DOUBLE cannot be decoded"),
}


@pytest.mark.parametrize(("type_", "row", "reason"), UNDECODABLE.values(), ids=UNDECODABLE)
def test_what_is_no_value_of_its_type_is_not_guessed(type_: str, row: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError, match=reason):
        partition_values(row, [parse(type_)])
