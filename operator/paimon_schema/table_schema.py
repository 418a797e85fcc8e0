"""A table's schema: as Paimon has it, and as a manifest declares it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from paimon_schema.data_types import DataType
from paimon_schema.paimon_json import from_paimon_json, paimon_json

NULL_COMMENT: Final = "null"
"""What Paimon's Java reads as the comment of a table to which pypaimon has given none, and stores at the next ALTER."""
_VERSION: Final = 3
"""Of the files that Paimon writes since 0.9."""
_FIRST_VERSION: Final = 1
"""Of a file that names none: Paimon before 0.8 wrote it."""
_OLD_DEFAULTS: Final = ((1, "bucket", "1"), (2, "file.format", "orc"))
"""Last version with a default, option, default: Paimon reads a file as if it had the option."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column. `default` is the value that Paimon gives a row without one, as text."""

    name: str
    type: DataType
    comment: str | None = None
    default: str | None = None
    id: int | None = field(default=None, compare=False)
    """Paimon's id, which a column keeps when it is renamed. None: it is not of a schema file."""


@dataclass(frozen=True, kw_only=True)
class TableSchema:
    """A table as one of its schema files describes it."""

    id: int = 0
    columns: tuple[Column, ...]
    primary_keys: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    time_ms: int | None = field(default=None, compare=False)
    """When the schema was committed, by the committer's clock, in milliseconds since 1970. Older files have none."""

    @property
    def digest(self) -> str:
        """Identifies everything that an ALTER can change: equal for equal schema files, by any reader."""
        columns = [[each.id, each.name, _in_full(each.type), each.comment, each.default] for each in self.columns]
        keys = [self.primary_keys, self.partition_keys]
        return _digest([columns, keys, self.comment, sorted(_stored(self.options).items())])

    @property
    def columns_digest(self) -> str:
        """Identifies columns, in their order with types and defaults, and keys: equal for equal ones."""
        columns = [[each.name, str(each.type), each.default] for each in self.columns]
        return _digest([columns, self.primary_keys, self.partition_keys])

    @property
    def by_name(self) -> dict[str, Column]:
        """The columns by name."""
        return {column.name: column for column in self.columns}


@dataclass(frozen=True, kw_only=True)
class DeclaredColumn(Column):
    """A column of the manifest. `renamed_from`: the name that it may still have in the table."""

    renamed_from: str | None = None


@dataclass(frozen=True, kw_only=True)
class DeclaredSchema:
    """What a manifest declares.

    A column or nested field that it does not declare stays in the table, unless `dropped` names it: `colour`,
    `address.street`; `element` is the element of an array and `value` the value of a map (`items.element.colour`).
    """

    columns: tuple[DeclaredColumn, ...]
    dropped: tuple[str, ...] = ()
    primary_keys: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def dropped_columns(self) -> frozenset[str]:
        """The columns of `dropped`. A name with a dot is the path to a nested field, also where a column has it."""
        return frozenset(name for name in self.dropped if "." not in name)

    @property
    def digest(self) -> str:
        """Identifies what is declared: equal for equal declarations."""
        columns = [[each.name, str(each.type), each.comment, each.default, each.renamed_from] for each in self.columns]
        keys = [self.primary_keys, self.partition_keys]
        return _digest([columns, self.dropped, keys, self.comment, sorted(self.options.items())])


def read_schema_file(text: str) -> TableSchema:
    """The schema from the text of a schema file, which is JSON. Raises ValueError for anything else."""
    return table_schema(json.loads(text))


def table_schema(document: Any) -> TableSchema:
    """The schema from the JSON values of a schema file. Raises ValueError for anything else."""
    try:
        time_ms = document.get("timeMillis")
        return TableSchema(
            id=int(document["id"]),
            columns=tuple(_column(each) for each in document["fields"]),
            primary_keys=tuple(document["primaryKeys"]),
            partition_keys=tuple(document["partitionKeys"]),
            comment=_table_comment(document.get("comment")),
            options=_options(document),
            time_ms=None if time_ms is None else int(time_ms),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"this is no schema file of Paimon: {error!r}") from error


def schema_file_of(schema: TableSchema) -> str:
    """The text that `read_schema_file` reads as this schema."""
    fields = [
        {"name": each.name, "type": paimon_json(each.type), "description": each.comment, "defaultValue": each.default}
        for each in schema.columns
    ]
    document = {
        "version": _VERSION,
        "id": schema.id,
        "fields": [{key: value for key, value in each.items() if value is not None} for each in fields],
        "primaryKeys": schema.primary_keys,
        "partitionKeys": schema.partition_keys,
        "comment": schema.comment,
        "options": dict(schema.options),
    }
    return json.dumps(document, separators=(",", ":"))


def _stored(options: Mapping[str, str]) -> dict[str, str]:
    """The options of the schema file: Paimon adds `path` when it opens a table."""
    return {key: value for key, value in options.items() if key != "path"}


def _in_full(of: DataType) -> object:
    return [str(of), of.ids, of.comments, [_in_full(each) for each in of.children]]


def _digest(document: object) -> str:
    return hashlib.sha256(json.dumps(document).encode()).hexdigest()[:16]


def _options(document: Mapping[str, Any]) -> dict[str, str]:
    version = int(document.get("version", _FIRST_VERSION))
    return {option: default for last, option, default in _OLD_DEFAULTS if version <= last} | dict(document["options"])


def _table_comment(text: str | None) -> str | None:
    return None if text in ("", NULL_COMMENT) else text


def _column(document: Mapping[str, Any]) -> Column:
    return Column(
        name=str(document["name"]),
        type=from_paimon_json(document["type"]),
        comment=document.get("description") or None,
        default=document.get("defaultValue"),
        id=document.get("id"),
    )
