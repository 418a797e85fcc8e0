"""Differences between a table and its manifest that cannot be altered, each with the field of the manifest.

An option's field is named by its key, `spec.options[bucket]`; the operator knows which typed field sets it.

A table that the PaimonTable does not own is described in the manifest's own words: who may name a table in a manifest
may not learn its columns or the values of its options.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from paimon_engines.engine import Engine

COLUMNS = "spec.schema.columns"
ASSIGNED_BY_PAIMON = frozenset({"path", "type"})
OF_FIELDS = "fields."
"""What the names of options of columns begin with; a name, or several with commas, and the option follow."""
OUR_PREFIX = "paimon-operator."
"""Options with which the operator marks its tables."""


@dataclass(frozen=True)
class Difference:
    """The field to edit, and one short sentence."""

    field: str
    sentence: str


@dataclass(frozen=True)
class _Side:
    """What the table has, in messages: its values, or that it differs if it is another's."""

    is_own: bool

    def says(self, what: str, has: str, wants: str) -> str:
        """The sentence about a part that both have, with different values."""
        if self.is_own:
            return f"{what}: table has {has}, manifest has {wants}"
        return f"{what}: the table differs from the manifest, which has {wants}"


def differences(schema: Any, wanted: Any, engine: Engine, *, all_options: bool, is_own: bool) -> list[Difference]:
    """Keys, columns and options of `schema` (Java TableSchema) that are not as in `wanted` (Java Schema).

    Without `all_options`, only options that cannot be altered are compared. Keys come first: a column of the primary
    key is NOT NULL by that alone. `is_own`: the PaimonTable owns the table, and may read what it has.
    """
    found, side = [], _Side(is_own)
    for what, field, has, wants in (
        ("primary key", "spec.schema.primaryKeys", schema.primaryKeys(), wanted.primaryKeys()),
        ("partition keys", "spec.schema.partitionKeys", schema.partitionKeys(), wanted.partitionKeys()),
    ):
        if list(has) != list(wants):
            found.append(Difference(field, side.says(what, _listed(has), _listed(wants))))
    found += _columns(schema.fields(), wanted.fields(), side)
    has, wants = (engine.canonical(dict(each.options())) for each in (schema, wanted))
    names = has.keys() | wants.keys()
    compared = {name for name in names if not engine.changeable(name) or (all_options and engine.knows(name))}
    columns = {field.name() for field in wanted.fields()}
    nameable = {
        name for name in compared if is_own or name in engine.options or name in wants or _names_own(name, columns)
    }
    return [*found, *_options(_compared(has, wants, compared, engine), nameable, side)]


def _columns(has: Any, wants: Any, side: _Side) -> list[Difference]:
    table = {field.name(): field.type().asSQLString() for field in has}
    manifest = {field.name(): field.type().asSQLString() for field in wants}
    found = _only_in_table([name for name in table if name not in manifest], side)
    found += [
        Difference(f"{COLUMNS}[{name}]", f"column {name}: only the manifest has it")
        for name in manifest
        if name not in table
    ]
    found += [
        Difference(f"{COLUMNS}[{name}].type", side.says(f"column {name}", table[name], manifest[name]))
        for name in manifest
        if name in table and table[name] != manifest[name]
    ]
    if not found and list(table) != list(manifest):
        found.append(Difference(COLUMNS, side.says("column order", _listed(table), _listed(manifest))))
    return found


def _only_in_table(names: list[str], side: _Side) -> list[Difference]:
    if side.is_own or not names:
        return [Difference(COLUMNS, f"column {name}: only the table has it") for name in names]
    return [Difference(COLUMNS, f"columns: {len(names)} of the table are not in {COLUMNS}")]


def _compared(
    has: dict[str, str], wants: dict[str, str], names: set[str], engine: Engine
) -> Iterator[tuple[str, str | None, str | None]]:
    """Name, the table's value and the manifest's value of each option that differs."""
    for name in sorted(name for name in names if name not in ASSIGNED_BY_PAIMON and not name.startswith(OUR_PREFIX)):
        table, manifest = (options.get(name, engine.default_of(name)) for options in (has, wants))
        if table != manifest:
            yield name, table, manifest


def _options(
    different: Iterable[tuple[str, str | None, str | None]], nameable: set[str], side: _Side
) -> Iterator[Difference]:
    hidden = 0
    for name, table, manifest in different:
        if name not in nameable:
            hidden += 1
            continue
        yield Difference(f"spec.options[{name}]", side.says(f"option {name}", _said(table), _said(manifest)))
    if hidden:
        yield Difference("spec.options", f"options: {hidden} of the table are not named, because they may name columns")


def _names_own(option: str, columns: set[str]) -> bool:
    """Whether the option is one of the manifest's own columns: `fields.amount.aggregate-function`."""
    named = option.removeprefix(OF_FIELDS).rpartition(".")[0]
    return option.startswith(OF_FIELDS) and bool(named) and set(named.split(",")) <= columns


def _said(value: str | None) -> str:
    return "unset" if value is None else value


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
