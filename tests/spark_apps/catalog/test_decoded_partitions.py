"""The keys of partitions, decoded without a JVM, are those that a JVM reads."""

from __future__ import annotations

import struct

import pytest

from spark_apps.catalog.decoded_partitions import keys_of
from spark_apps.catalog.partitions import text_of_keys
from spark_apps.sql.partition_values import PartitionKey
from tests.support.fabricated_table import schema_of

DAY = 20_782
"""2026-11-25, in days since 1970."""


def row(value: bytes) -> bytes:
    """A serialized BinaryRow of one field: the number of fields, the header, and 8 bytes."""
    return struct.pack(">i", 1) + bytes(8) + value.ljust(8, b"\0")


@pytest.mark.parametrize(
    ("type_", "value", "root", "text"),
    [
        ("DATE", struct.pack("<i", DAY), "DATE", "2026-11-25"),
        ("TIMESTAMP(3)", struct.pack("<q", DAY * 86_400_000), "TIMESTAMP_WITHOUT_TIME_ZONE", "2026-11-25 00:00:00"),
        ("BOOLEAN", b"\1", "BOOLEAN", "true"),
        ("INT", struct.pack("<i", 20_261_125), "INTEGER", "20261125"),
        ("BIGINT", struct.pack("<q", -7), "BIGINT", "-7"),
        ("STRING", b"late\0\0\0\x84", "VARCHAR", "late"),
    ],
)
def test_a_key_of_each_type(type_: str, value: bytes, root: str, text: str) -> None:
    schema = schema_of(fields=[{"id": 0, "name": "day", "type": f"{type_} NOT NULL"}], primaryKeys=["day"])
    (key,) = keys_of(row(value), schema)
    assert (key.name, key.root) == ("day", root)
    assert text_of_keys([key]) == f"day={text}"


def test_a_key_without_a_value() -> None:
    schema = schema_of(fields=[{"id": 0, "name": "day", "type": "STRING"}], primaryKeys=[])
    null = struct.pack(">i", 1) + b"\0\1" + bytes(14)
    assert keys_of(null, schema) == (PartitionKey("day", "VARCHAR", None),)
