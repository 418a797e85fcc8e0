"""The configuration of kube-state-metrics reads only fields that the CRDs have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "charts" / "paimon-operator" / "files" / "kube-state-metrics.yaml").read_text())
RESOURCES = {each["groupVersionKind"]["kind"]: each for each in CONFIG["spec"]["resources"]}
DEFINITIONS = [yaml.safe_load(file.read_text()) for file in sorted((ROOT / "crds").glob("*.yaml"))]
CRDS = {each["spec"]["names"]["kind"]: each["spec"] for each in DEFINITIONS}


def schema_of(kind: str) -> dict[str, Any]:
    found: dict[str, Any] = CRDS[kind]["versions"][0]["schema"]["openAPIV3Schema"]
    return found


def at(schema: dict[str, Any], path: list[str]) -> dict[str, Any]:
    """The schema of the field at `path`, in the entries of a list."""
    for name in path:
        schema = schema.get("items", schema)["properties"][name]
    return schema


def fields_read(kind: str) -> Iterator[list[str]]:
    """Paths from the root of the object, for each metric and label."""
    for metric in RESOURCES[kind]["metrics"]:
        each = metric["each"]
        source = each[each["type"].lower()]
        base: list[str] = source.get("path", [])
        yield base
        yield from ([*base, *path] for path in source.get("labelsFromPath", {}).values())
        yield [*base, *source.get("valueFrom", [])]


def test_every_kind_is_read_in_its_version() -> None:
    assert RESOURCES.keys() == CRDS.keys() - {"PaimonExecutorRights"}, "it has no status"
    for kind, resource in RESOURCES.items():
        assert resource["groupVersionKind"]["group"] == CRDS[kind]["group"]
        assert resource["groupVersionKind"]["version"] == CRDS[kind]["versions"][0]["name"]


@pytest.mark.parametrize("kind", RESOURCES)
def test_every_field_that_is_read_exists(kind: str) -> None:
    paths = list(fields_read(kind))
    assert len(paths) > 5
    for path in paths:
        assert at(schema_of(kind), path)


@pytest.mark.parametrize("kind", RESOURCES)
def test_a_field_that_does_not_exist_is_found(kind: str) -> None:
    with pytest.raises(KeyError):
        at(schema_of(kind), ["status", "conditions", "color"])
