"""Paths of the fields of a manifest, and of those of a CRD: `spec.schema.columns[].name`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.support.crd_schema import schema


def paths_of(value: Any, path: str) -> Iterator[str]:
    """Paths of all values at or below `path`."""
    yield path
    members = value.items() if isinstance(value, dict) else ()
    for name, member in members:
        yield from paths_of(member, f"{path}.{name}")
    for member in value if isinstance(value, list) else ():
        yield from paths_of(member, f"{path}[]")


def paths_of_schema(kind: str) -> list[str]:
    """Paths of all fields of a spec, without the keys of maps."""
    return [f"spec.{each}" for each in _fields(schema(kind, "spec"))]


def _fields(of: Any) -> Iterator[str]:
    for name, member in of.get("properties", {}).items():
        yield name
        inner, mark = (member["items"], "[]") if "items" in member else (member, "")
        yield from (f"{name}{mark}.{each}" for each in _fields(inner))
