"""Reads the engines' data from the files of this package. The only place that does."""

from __future__ import annotations

import functools
import json
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import yaml

from paimon_engines.bounds import Bounds, parse_bounds
from paimon_engines.engine import Engine, parse_engine, parse_engines

if TYPE_CHECKING:
    from collections.abc import Mapping

_PACKAGE = resources.files("paimon_engines")


@functools.cache
def supported_engines() -> Mapping[str, Engine]:
    """All engines by id, oldest first, without generated data: enough to fetch jars and to generate."""
    return MappingProxyType({name: parse_engine(name, entry) for name, entry in _listed().items()})


@functools.cache
def load_engines() -> Mapping[str, Engine]:
    """All engines by id, oldest first, with generated data. An engine that has none yet is left out."""
    listed = _listed()
    documents = {name: _document(name) for name in listed if (_PACKAGE / f"{name}.json").is_file()}
    return MappingProxyType(parse_engines(listed, documents, _bounds()))


@functools.cache
def load_engine(identifier: str) -> Engine:
    """One engine with its generated data. Raises KeyError for an id that engines.yaml does not list."""
    entry = _listed()[identifier]
    return parse_engine(identifier, entry, _document(identifier), _bounds())


def _document(identifier: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((_PACKAGE / f"{identifier}.json").read_text(encoding="utf-8"))
    return document


def _bounds() -> Bounds:
    return parse_bounds(yaml.safe_load((_PACKAGE / "option_bounds.yaml").read_text(encoding="utf-8")))


def _listed() -> dict[str, Any]:
    listed: dict[str, Any] = yaml.safe_load((_PACKAGE / "engines.yaml").read_text(encoding="utf-8"))["engines"]
    return listed
