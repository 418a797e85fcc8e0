"""Differences between a manifest and a table that its PaimonTable does not own, each with the field of the manifest.

An option's field is named by its key, `spec.options[bucket]`; the operator knows which typed field sets it.

The table is described in the manifest's own words: who may name a table in a manifest may not learn its columns or the
values of its options.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from paimon_engines.engine import Engine
from paimon_schema.option_changes import options_that_differ
from paimon_schema.uses import columns_of_option

COLUMNS: Final = "spec.schema.columns"


@dataclass(frozen=True)
class Difference:
    """The field to edit, and one short sentence."""

    field: str
    sentence: str


def differences(schema: Any, wanted: Any, engine: Engine) -> list[Difference]:
    """Keys, columns and options of `schema` (Java TableSchema) that are not as in `wanted` (Java Schema).

    Keys come first: a column of the primary key is NOT NULL by that alone.
    """
    found = []
    for what, field, has, wants in (
        ("primary key", "spec.schema.primaryKeys", schema.primaryKeys(), wanted.primaryKeys()),
        ("partition keys", "spec.schema.partitionKeys", schema.partitionKeys(), wanted.partitionKeys()),
    ):
        if list(has) != list(wants):
            found.append(Difference(field, _sentence(what, _listed(wants))))
    found += _columns(schema.fields(), wanted.fields())
    wants = engine.canonical(dict(wanted.options()))
    columns = {field.name() for field in wanted.fields()}
    different = list(options_that_differ(dict(schema.options()), wants, engine))
    nameable = {name for name, *_ in different if name in engine.options or name in wants or _names_own(name, columns)}
    wanted_values = ((name, engine.default_of(name) if value is None else value) for name, _, value in different)
    return [*found, *_options(wanted_values, nameable)]


def _sentence(what: str, wants: str) -> str:
    return f"{what}: the table differs from the manifest, which has {wants}"


def _columns(has: Any, wants: Any) -> list[Difference]:
    table = {field.name(): field.type().asSQLString() for field in has}
    manifest = {field.name(): field.type().asSQLString() for field in wants}
    missing = sum(name not in manifest for name in table)
    found = [Difference(COLUMNS, f"columns: {missing} of the table are not in {COLUMNS}")] if missing else []
    found += [
        Difference(f"{COLUMNS}[{name}]", f"column {name}: only the manifest has it")
        for name in manifest
        if name not in table
    ]
    found += [
        Difference(f"{COLUMNS}[{name}].type", _sentence(f"column {name}", manifest[name]))
        for name in manifest
        if name in table and table[name] != manifest[name]
    ]
    if not found and list(table) != list(manifest):
        found.append(Difference(COLUMNS, _sentence("column order", _listed(manifest))))
    return found


def _options(different: Iterable[tuple[str, str | None]], nameable: set[str]) -> Iterator[Difference]:
    hidden = 0
    for name, manifest in different:
        if name not in nameable:
            hidden += 1
            continue
        yield Difference(f"spec.options[{name}]", _sentence(f"option {name}", _said(manifest)))
    if hidden:
        yield Difference("spec.options", f"options: {hidden} of the table are not named, because they may name columns")


def _names_own(option: str, columns: set[str]) -> bool:
    """Whether the option is one of the manifest's own columns: `fields.amount.aggregate-function`."""
    named = columns_of_option(option)
    return bool(named) and set(named) <= columns


def _said(value: str | None) -> str:
    return "unset" if value is None else value


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
