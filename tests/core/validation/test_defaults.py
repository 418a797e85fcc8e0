"""Default values of columns: texts that are a value of their type, and texts that Paimon would refuse or change."""

from __future__ import annotations

import pytest

from paimon_operator.core.validation.table import broken_rules
from tests.support import builders

VALUES = [
    ("BOOLEAN", ["true", "false"], ["yes", "1", "TRUE", ""]),
    ("TINYINT", ["-128", "127", "0"], ["128", "-129", "1.0", "", " 1", "one"]),
    ("SMALLINT", ["32767"], ["32768"]),
    ("INT", ["-2147483648"], ["2147483648", "1e3", "+1"]),
    ("BIGINT", ["9223372036854775807"], ["9223372036854775808", "1" * 30]),
    ("FLOAT", ["1.5", "-2"], ["NaN", "one", ""]),
    ("DOUBLE", ["0.001"], ["1e3"]),
    ("DECIMAL(6,2)", ["9999.99", "-0.5", "7", "7.10", "0"], ["10000", "1.555", "0.001", "x", ""]),
    ("DECIMAL(4)", ["9999"], ["10000", "1.5"]),
    ("STRING", ["", "new", "it's", "a 'b' c", "'"], ["'new'", "''"]),
    ("VARCHAR(3)", ["abc", ""], ["abcd"]),
    ("CHAR(3)", ["abc", "a"], ["abcd"]),
    ("DATE", ["2026-01-31", "2024-02-29"], ["2026-02-29", "today", "2026-1-1", "20260131", ""]),
    (
        "TIMESTAMP(3)",
        ["2026-01-31 12:00:00", "2026-01-31 12:00:00.123"],
        ["2026-01-31", "2026-01-31T12:00:00", "2026-01-31 25:00:00", "2026-01-31 12:00:00.1234", "now"],
    ),
    ("BINARY(3)", [], ["abc"]),
    ("BYTES", [], ["abc"]),
    ("TIMESTAMP_LTZ(6)", [], ["2026-01-31 12:00:00"]),
    ("ARRAY<INT>", [], ["[]"]),
    ("INT NOT NULL", [], ["1"]),
]


def fields_blamed(type_: str, text: str) -> list[str]:
    columns = [{"name": "id", "type": "BIGINT"}, {"name": "v", "type": type_, "defaultValue": text}]
    table = builders.table(schema={"columns": columns, "primaryKeys": ["id"]})
    return [error.field for error in broken_rules(builders.context(table))]


@pytest.mark.parametrize(("type_", "text"), [(type_, text) for type_, right, _ in VALUES for text in right])
def test_a_value_of_the_type_is_accepted(type_: str, text: str) -> None:
    assert fields_blamed(type_, text) == []


@pytest.mark.parametrize(("type_", "text"), [(type_, text) for type_, _, wrong in VALUES for text in wrong])
def test_a_text_that_is_no_value_of_the_type_is_refused(type_: str, text: str) -> None:
    assert fields_blamed(type_, text) == ["spec.schema.columns[1].defaultValue"]
