"""Rules about what the manifest says of changes: renamed and dropped columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from paimon_operator.api.table.spec import PaimonTableSpec
from paimon_operator.errors import SpecError

_DROPPED: Final = "spec.schema.droppedColumns"


def changes_of(spec: PaimonTableSpec) -> Iterator[SpecError]:
    """`renamedFrom` of the columns, then `droppedColumns`."""
    yield from _renames(spec)
    schema = spec.table_schema
    columns = {column.name for column in schema.columns}
    renamed = {column.renamed_from for column in schema.columns}
    for index, dropped in enumerate(schema.dropped_columns):
        path, column = f"{_DROPPED}[{index}]", dropped.partition(".")[0]
        if dropped in columns:
            yield SpecError(path, f"{dropped!r} is one of the columns", "Remove it from one of the two lists.")
        elif dropped in renamed:
            yield SpecError(path, f"{dropped!r} is renamed", "Remove it here: the renamed column keeps its data.")
        elif column in renamed and column not in columns:
            yield SpecError(path, f"{column!r} is renamed", "Begin the path with the new name of the column.")
        elif dropped in schema.primary_keys:
            yield SpecError(path, f"{dropped!r} is a primary key", "Create another table: keys never change.")


def _renames(spec: PaimonTableSpec) -> Iterator[SpecError]:
    seen: dict[str, str] = {}
    old_names = {column.name: column.renamed_from for column in spec.table_schema.columns}
    for index, column in enumerate(spec.table_schema.columns):
        old, path = column.renamed_from, f"spec.schema.columns[{index}].renamedFrom"
        if old is None:
            continue
        if old == column.name:
            yield SpecError(path, "it is the column's own name", "Write the old name, or remove renamedFrom.")
        elif _is_circle(column.name, old_names):
            yield SpecError(path, "the columns are renamed in a circle", "Rename them in two edits, by a third name.")
        elif old in seen:
            yield SpecError(path, f"{old!r} is renamed to {seen[old]!r} as well", "Keep one of the two.")
        seen.setdefault(old, column.name)


def _is_circle(name: str, old_names: Mapping[str, str | None]) -> bool:
    """Whether the renames lead from a column back to it: then none of the new names is ever free."""
    old = old_names[name]
    for _ in old_names:
        if old is None or old == name:
            break
        old = old_names.get(old)
    return old == name
