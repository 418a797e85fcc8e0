"""Rules about what the manifest says of changes: renamed and dropped columns."""

from __future__ import annotations

from collections.abc import Iterator
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
        path = f"{_DROPPED}[{index}]"
        if dropped in columns:
            yield SpecError(path, f"{dropped!r} is one of the columns", "Remove it from one of the two lists.")
        elif dropped in renamed:
            yield SpecError(path, f"{dropped!r} is renamed", "Remove it here: the renamed column keeps its data.")
        elif dropped in schema.primary_keys:
            yield SpecError(path, f"{dropped!r} is a primary key", "Create another table: keys never change.")


def _renames(spec: PaimonTableSpec) -> Iterator[SpecError]:
    seen: dict[str, str] = {}
    for index, column in enumerate(spec.table_schema.columns):
        old, path = column.renamed_from, f"spec.schema.columns[{index}].renamedFrom"
        if old is None:
            continue
        if old == column.name:
            yield SpecError(path, "it is the column's own name", "Write the old name, or remove renamedFrom.")
        elif old in seen:
            yield SpecError(path, f"{old!r} is renamed to {seen[old]!r} as well", "Keep one of the two.")
        seen.setdefault(old, column.name)
