"""Differences between a table and its manifest that cannot be altered, each with the field of the manifest.

An option's field is named by its key, `spec.options[bucket]`; the operator knows which typed field sets it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from paimon_engines.engine import Engine

COLUMNS = "spec.schema.columns"
ASSIGNED_BY_PAIMON = frozenset({"path", "type"})
OUR_PREFIX = "paimon-operator."
"""Options with which the operator marks its tables."""


@dataclass(frozen=True)
class Difference:
    """The field to edit, and one short sentence."""

    field: str
    sentence: str


def differences(schema: Any, wanted: Any, engine: Engine, *, all_options: bool) -> list[Difference]:
    """Keys, columns and options of `schema` (Java TableSchema) that are not as in `wanted` (Java Schema).

    Without `all_options`, only options that cannot be altered are compared. Keys come first: a column of the primary
    key is NOT NULL by that alone.
    """
    found = []
    for what, field, has, wants in (
        ("primary key", "spec.schema.primaryKeys", schema.primaryKeys(), wanted.primaryKeys()),
        ("partition keys", "spec.schema.partitionKeys", schema.partitionKeys(), wanted.partitionKeys()),
    ):
        if list(has) != list(wants):
            found.append(Difference(field, f"{what}: table has {_listed(has)}, manifest has {_listed(wants)}"))
    found += _columns(schema.fields(), wanted.fields())
    has, wants = (engine.canonical(dict(each.options())) for each in (schema, wanted))
    names = has.keys() | wants.keys()
    compared = {name for name in names if not engine.changeable(name) or (all_options and engine.knows(name))}
    return [*found, *_options(has, wants, compared, engine)]


def _columns(has: Any, wants: Any) -> list[Difference]:
    table = {field.name(): field.type().asSQLString() for field in has}
    manifest = {field.name(): field.type().asSQLString() for field in wants}
    found = [Difference(COLUMNS, f"column {name}: only the table has it") for name in table if name not in manifest]
    found += [
        Difference(f"{COLUMNS}[{name}]", f"column {name}: only the manifest has it")
        for name in manifest
        if name not in table
    ]
    found += [
        Difference(f"{COLUMNS}[{name}].type", f"column {name}: table has {table[name]}, manifest has {manifest[name]}")
        for name in manifest
        if name in table and table[name] != manifest[name]
    ]
    if not found and list(table) != list(manifest):
        sentence = f"column order: table has {_listed(table)}, manifest has {_listed(manifest)}"
        found.append(Difference(COLUMNS, sentence))
    return found


def _options(has: dict[str, str], wants: dict[str, str], names: set[str], engine: Engine) -> Iterator[Difference]:
    for name in sorted(name for name in names if name not in ASSIGNED_BY_PAIMON and not name.startswith(OUR_PREFIX)):
        table, manifest = (options.get(name, engine.default_of(name)) for options in (has, wants))
        if table != manifest:
            sentence = f"option {name}: table has {_said(table)}, manifest has {_said(manifest)}"
            yield Difference(f"spec.options[{name}]", sentence)


def _said(value: str | None) -> str:
    return "unset" if value is None else value


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
