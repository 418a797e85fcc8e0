"""The rules of Kubernetes for a structural schema and our own rules, checked in one pass over a schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]
FORBIDDEN = {"$ref", "$defs", "const", "definitions", "additionalItems", "patternProperties", "uniqueItems", "title"}
SCALARS = {"string", "integer", "boolean", "number"}


def nodes(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """Every node of a schema with its path; `[]` stands for a list's items, `*` for a map's values."""
    yield path, schema
    for name, child in schema.get("properties", {}).items():
        yield from nodes(child, f"{path}.{name}")
    if isinstance(schema.get("items"), dict):
        yield from nodes(schema["items"], f"{path}[]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from nodes(schema["additionalProperties"], f"{path}.*")


def faults(schema: Schema) -> list[str]:
    """The faults of a schema, one line each."""
    return [f"{path}: {fault}" for path, node in nodes(schema) for fault in _faults(path, node)]


def _faults(path: str, node: Schema) -> Iterator[str]:
    kind = node.get("type")
    if kind not in SCALARS | {"object", "array"}:
        yield f"type is {kind}"
    for keyword in FORBIDDEN & node.keys():
        yield f"{keyword} is not structural"
    if not node.get("description") and not path.endswith(("[]", "*")) and path.startswith((".spec", ".status")):
        yield "has no description"
    if "properties" in node and "additionalProperties" in node:
        yield "properties beside additionalProperties"
    yield from _unbounded(path, node)
    yield from _list_faults(node)
    for validation in node.get("x-kubernetes-validations", []):
        if not validation.get("message"):
            yield f"a rule without a message: {validation['rule']}"
        yield from _field_path_faults(node, validation)


def _unbounded(path: str, node: Schema) -> Iterator[str]:
    if not path.startswith((".spec", ".status")):
        return
    kind = node.get("type")
    if kind == "string" and "maxLength" not in node and "enum" not in node and node.get("format") != "date-time":
        yield "an unbounded string"
    if kind == "array" and "maxItems" not in node:
        yield "an unbounded list"
    if kind == "object" and "additionalProperties" in node and "maxProperties" not in node:
        yield "an unbounded map"
    kubernetes_own = ".podOverlay." in path and node.get("x-kubernetes-preserve-unknown-fields")
    if kind == "object" and not {"properties", "additionalProperties"} & node.keys() and not kubernetes_own:
        yield "an object of anything"


def _list_faults(node: Schema) -> Iterator[str]:
    if node.get("type") != "array":
        return
    list_type = node.get("x-kubernetes-list-type")
    if list_type not in {"atomic", "map", "set"}:
        yield f"list type is {list_type}"
    for key in node.get("x-kubernetes-list-map-keys", []):
        if key not in node["items"].get("required", []):
            yield f"list key {key} is not required"


def _field_path_faults(node: Schema, validation: Schema) -> Iterator[str]:
    for step in validation.get("fieldPath", "").split(".")[1:]:
        if step not in node.get("properties", {}):
            yield f"fieldPath {validation['fieldPath']} names no property"
            return
        node = node["properties"][step]
