"""Rules about columns and keys: names, types, and what may be a key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from paimon_operator.api.table.columns import SYSTEM_FIELDS
from paimon_operator.api.table.spec import PaimonTableSpec
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.validation.column_changes import changes_of
from paimon_operator.errors import SpecError
from paimon_schema import type_parser
from paimon_schema.data_types import DataType, not_writable

KEY_PREFIX: Final = "_KEY_"
"""Paimon puts it before the names of key columns in its files."""

_BYTES: Final = ("BINARY", "VARBINARY", "BYTES")


def columns_of(context: TableContext) -> Iterator[SpecError]:
    """Names and types of all columns, then the keys."""
    yield from _names(context.spec)
    yield from _types(context.spec)
    schema = context.spec.table_schema
    yield from keys_of(context, schema.primary_keys, "spec.schema.primaryKeys", "primary key")
    yield from keys_of(context, schema.partition_keys, "spec.schema.partitionKeys", "partition key")
    yield from _partition_types(context.spec)
    yield from _partitions(context.spec)
    yield from changes_of(context.spec)


def column_types(spec: PaimonTableSpec) -> dict[str, DataType]:
    """Column -> type, without columns of an invalid type, which have their own error."""
    found = {}
    for column in spec.table_schema.columns:
        try:
            found[column.name] = type_parser.parse(column.type)
        except type_parser.TypeTextError:
            continue
    return found


def keys_of(context: TableContext, keys: tuple[str, ...], path: str, kind: str) -> Iterator[SpecError]:
    """Errors of `keys` at `path`: each must name a column, once, of a type that can be compared and hashed."""
    spec, known = context.spec, column_types(context.spec)
    names = {column.name for column in spec.table_schema.columns}
    for index, key in enumerate(keys):
        if key not in names:
            yield missing_column(spec, key, f"{path}[{index}]")
        elif key in keys[:index]:
            yield SpecError(f"{path}[{index}]", f"{key!r} is named twice", "Name it once.")
        elif key in known and known[key].is_nested:
            yield SpecError(
                f"{path}[{index}]",
                f"{key!r} is of type {known[key]}, which cannot be a {kind}",
                "Use a column of a plain type.",
            )


def missing_column(spec: PaimonTableSpec, name: str, path: str) -> SpecError:
    """The error for `name`, which is not a column. It suggests a column that differs in case only."""
    same = next((c.name for c in spec.table_schema.columns if c.name.lower() == name.lower()), None)
    remedy = f"Write {same!r}." if same else "Add the column to spec.schema.columns, or correct the name."
    return SpecError(path, f"{name!r} is not a column of the table", remedy)


def _names(spec: PaimonTableSpec) -> Iterator[SpecError]:
    seen: dict[str, str] = {}
    for index, column in enumerate(spec.table_schema.columns):
        path = f"spec.schema.columns[{index}].name"
        if column.name in SYSTEM_FIELDS or column.name.startswith(KEY_PREFIX):
            yield SpecError(path, f"Paimon keeps the name {column.name!r} for itself", "Use another name.")
        before = seen.get(column.name.lower())
        if before == column.name:
            yield SpecError(path, f"two columns are called {column.name!r}", "Rename or remove one of them.")
        elif before is not None:
            problem = f"Spark does not distinguish {column.name!r} from {before!r}, which differs in case only"
            yield SpecError(path, problem, "Rename one of them.")
        seen.setdefault(column.name.lower(), column.name)


def _types(spec: PaimonTableSpec) -> Iterator[SpecError]:
    for index, column in enumerate(spec.table_schema.columns):
        path = f"spec.schema.columns[{index}].type"
        try:
            problem = not_writable(type_parser.parse(column.type))
        except type_parser.TypeTextError as error:
            yield SpecError(path, error.problem, error.remedy)
        else:
            if problem:
                yield SpecError(path, problem, "Use a type that Spark has, such as TIMESTAMP(6), BYTES or STRING.")


def _partition_types(spec: PaimonTableSpec) -> Iterator[SpecError]:
    known = column_types(spec)
    for index, key in enumerate(spec.table_schema.partition_keys):
        if key in known and known[key].name in _BYTES:
            yield SpecError(
                f"spec.schema.partitionKeys[{index}]",
                f"{key!r} is of type {known[key]}, and Spark fails at the directories of such partitions",
                "Use a column of text, a number or a date.",
            )


def _partitions(spec: PaimonTableSpec) -> Iterator[SpecError]:
    primary, partition = spec.table_schema.primary_keys, spec.table_schema.partition_keys
    if not primary:
        return
    for index, key in enumerate(partition):
        if key not in primary:
            yield SpecError(
                f"spec.schema.partitionKeys[{index}]",
                f"{key!r} is not part of the primary key, and a table whose keys move between partitions "
                "cannot be compacted by Spark",
                "Add it to primaryKeys, or remove it from partitionKeys.",
            )
    if partition and set(primary) <= set(partition):
        yield SpecError(
            "spec.schema.primaryKeys",
            "every primary key is a partition key, so that each partition would hold one row",
            "Add a column that distinguishes the rows of a partition.",
        )
