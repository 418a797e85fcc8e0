"""What the API server checks of a status: the schema of the committed CRD, with its formats and map lists."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import jsonschema
import yaml

_CRDS: Final = Path(__file__).parents[2] / "crds"
_BOUNDS: Final = {"int32": 2**31, "int64": 2**63}


def problems(kind: str, status: Mapping[str, Any]) -> list[str]:
    """Why the API server would refuse this status; empty if it stores it."""
    stored = schema(kind, "status")
    refused = [f"{error.json_path}: {error.message}"[:300] for error in _validator(kind).iter_errors(status)]
    return [*refused, *unknown_fields(status, stored)]


def unknown_fields(value: Any, schema: Mapping[str, Any]) -> Iterator[str]:
    """What a JSON schema admits and the API server does not: unknown fields, large integers, keys of map lists."""
    return _others("$", value, schema)


def _others(path: str, value: Any, schema: Mapping[str, Any]) -> Iterator[str]:
    """What JSON schema does not check: ranges of integers, unknown fields, and keys of map lists."""
    bound = _BOUNDS.get(schema.get("format", ""))
    if bound is not None and isinstance(value, int) and not -bound <= value < bound:
        yield f"{path}: {value} is no {schema['format']}"
    if isinstance(value, Mapping):
        for name, member in value.items():
            known = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
            if known is None and not schema.get("x-kubernetes-preserve-unknown-fields"):
                yield f"{path}.{name}: the server drops this unknown field"
            elif known is not None:
                yield from _others(f"{path}.{name}", member, known)
    if isinstance(value, list):
        keys = schema.get("x-kubernetes-list-map-keys", [])
        named = [tuple(member.get(key) for key in keys) for member in value] if keys else []
        if len(named) != len(set(named)):
            yield f"{path}: two entries have the same {keys}"
        for index, member in enumerate(value):
            yield from _others(f"{path}[{index}]", member, schema["items"])


@functools.cache
def schema(kind: str, part: str) -> Mapping[str, Any]:
    """The schema of `spec` or `status`."""
    crd = yaml.safe_load((_CRDS / f"paimon-operator.dev_{kind.lower()}s.yaml").read_text(encoding="utf-8"))
    (version,) = crd["spec"]["versions"]
    return dict(version["schema"]["openAPIV3Schema"]["properties"][part])


@functools.cache
def _validator(kind: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema(kind, "status"))
