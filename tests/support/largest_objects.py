"""The largest object that the schema of a CRD admits: every field is set, every text and list has its full length.

CEL rules are ignored, so it is an upper bound. Not every such object is valid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tests.support import crd_schema

_TIME: Final = "2026-11-21T08:00:00Z"
_QUANTITY: Final = "1" * 20
_SCALARS: Final = {"boolean": False, "integer": 2**63 - 1}
Schema = Mapping[str, Any]


def largest(kind: str, part: str) -> Any:
    """The largest `spec` or `status` of a kind."""
    return _largest(crd_schema.schema(kind, part))


def _largest(schema: Schema) -> Any:
    if schema.get("enum"):
        return max(schema["enum"], key=len)
    match schema.get("type"):
        case "string":
            return _TIME if schema.get("format") == "date-time" else _letter(schema) * schema["maxLength"]
        case "array":
            return [_largest(schema["items"])] * schema["maxItems"]
        case "object":
            return _largest_object(schema)
    return _SCALARS.get(schema.get("type", ""), _QUANTITY)


def _letter(schema: Schema) -> str:
    """The largest character that the text may have: four bytes in UTF-8, unless its pattern lists ASCII."""
    pattern = schema.get("pattern")
    return "x" if pattern is not None and "[^" not in pattern else "\U0001f600"


def _largest_object(schema: Schema) -> dict[str, Any]:
    fields = {name: _largest(each) for name, each in schema.get("properties", {}).items()}
    if "additionalProperties" in schema:
        value = _largest(schema["additionalProperties"])
        fields |= {f"{number:0>128}": value for number in range(schema["maxProperties"])}
    return fields
