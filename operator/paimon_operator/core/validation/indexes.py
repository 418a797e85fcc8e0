"""Rules about file indexes: Paimon fails at the first write if an index does not take the type of its column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.validation.columns import column_types
from paimon_operator.errors import SpecError
from paimon_schema.data_types import DataType

_COLUMNS: Final = re.compile(r"file-index\.(?P<index>[a-z-]+)\.columns")
_KEY_OF_MAP: Final = re.compile(r"(?P<column>[^\[]+)\[.+\]")
"""`tags[colour]`: the values of one key of a map."""


def indexes_of(context: TableContext) -> Iterator[SpecError]:
    """Columns of file indexes whose type the engine cannot index. Unknown columns are an error of the option."""
    types = column_types(context.spec)
    for key, value in context.spec.options.items():
        listed = _COLUMNS.fullmatch(key)
        taken = context.engine.file_indexes.get(listed["index"]) if listed else None
        if listed is None or taken is None:
            continue
        for name in (each.strip() for each in value.split(",")):
            indexed = _indexed_type(types, name)
            if indexed is not None and indexed.name not in taken:
                yield SpecError(
                    f"spec.options[{key}]",
                    f"{name!r} is of type {indexed}, which a {listed['index']} index does not take",
                    f"Use columns of the types {', '.join(sorted(taken))}.",
                )


def _indexed_type(types: dict[str, DataType], name: str) -> DataType | None:
    key_of_map = _KEY_OF_MAP.fullmatch(name)
    found = types.get(key_of_map["column"] if key_of_map else name)
    if found is None or key_of_map is None or found.name != "MAP":
        return found
    return found.children[-1]
