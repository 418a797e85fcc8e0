"""The CRD's rule for the size of a spec reads no column of a table that is small anyway."""

from __future__ import annotations

from typing import Any, Final

from paimon_operator.api.base import MAX_SPEC_BYTES, SPEC_REST_BYTES
from paimon_operator.api.table.columns import MAX_DROPPED
from paimon_operator.api.table.size_rule import FEW_COLUMNS
from paimon_operator.api.table.writes import MAX_WRITES
from paimon_operator.generate.crd import RESOURCES, definition

BYTES_IN_UTF_8: Final = 4
"""Of one character. A text with a pattern has only ASCII, except the values of options."""
NUMBER: Final = 20


def most_bytes(schema: dict[str, Any]) -> int:
    """Bytes of the largest value that a schema admits, as compact JSON without escapes. It has no map."""
    match schema["type"]:
        case "string" if "enum" in schema:
            return max(map(len, schema["enum"])) + 2
        case "string":
            return int(schema["maxLength"]) * (1 if "pattern" in schema else BYTES_IN_UTF_8) + 2
        case "array":
            return int(schema["maxItems"]) * (most_bytes(schema["items"]) + 1) + 2
        case "object":
            members = schema["properties"].items()
            return sum(len(name) + 4 + most_bytes(member) for name, member in members) + 2
        case "integer" | "boolean":
            return NUMBER
    raise AssertionError(schema)


def test_what_the_rule_admits_without_counting_it_is_small_enough() -> None:
    (table,) = (definition(each) for each in RESOURCES if each.kind == "PaimonTable")
    spec = table["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    schema = spec["schema"]["properties"]
    columns = FEW_COLUMNS * (most_bytes(schema["columns"]["items"]) + 1)
    dropped = MAX_DROPPED * (most_bytes(schema["droppedColumns"]["items"]) + 1)
    write = spec["writes"]["items"]
    del write["properties"]["options"]  # with them, all is counted
    writes = MAX_WRITES * (most_bytes(write) + 1)
    assert columns + dropped + writes <= MAX_SPEC_BYTES - SPEC_REST_BYTES
