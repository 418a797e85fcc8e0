"""A table's schema: as Paimon has it, and as a manifest declares it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paimon_schema.data_types import DataType
from paimon_schema.paimon_json import from_paimon_json


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column. `default` is the value that Paimon gives a row without one, as text."""

    name: str
    type: DataType
    comment: str | None = None
    default: str | None = None


@dataclass(frozen=True, kw_only=True)
class TableSchema:
    """A table as one of its schema files describes it."""

    id: int = 0
    columns: tuple[Column, ...]
    primary_keys: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)

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
    def digest(self) -> str:
        """Identifies what is declared: equal for equal declarations."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:16]


def read_schema_file(text: str) -> TableSchema:
    """The schema from the text of a schema file, which is JSON. Raises ValueError for anything else."""
    document = json.loads(text)
    try:
        return TableSchema(
            id=int(document["id"]),
            columns=tuple(_column(each) for each in document["fields"]),
            primary_keys=tuple(document["primaryKeys"]),
            partition_keys=tuple(document["partitionKeys"]),
            comment=document.get("comment") or None,
            options=dict(document["options"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"this is no schema file of Paimon: {error!r}") from error


def _column(document: Mapping[str, Any]) -> Column:
    return Column(
        name=str(document["name"]),
        type=from_paimon_json(document["type"]),
        comment=document.get("description") or None,
        default=document.get("defaultValue"),
    )
