"""The columns and nested fields of a schema, by what they keep when they are renamed: Paimon's ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from paimon_schema.data_types import NOT_NULL, DataType
from paimon_schema.nested_changes import ELEMENT, VALUE
from paimon_schema.table_schema import TableSchema

KEY: Final = "key"
Identity = tuple[int | str, ...]
"""The ids that lead to a member, with ELEMENT, KEY and VALUE for what arrays and maps hold; names without ids."""


@dataclass(frozen=True, kw_only=True)
class Member:
    """A column, a field of a ROW, or what an array or a map holds."""

    path: tuple[str, ...]
    type: DataType
    comment: str | None = None
    default: str | None = None

    @property
    def name(self) -> str:
        """The path with dots."""
        return ".".join(self.path)

    @property
    def plain_type(self) -> str:
        """The type, whether or not it allows NULL."""
        return str(self.type).removesuffix(NOT_NULL)


def members_of(schema: TableSchema) -> dict[Identity, Member]:
    """All columns and nested fields, in their order, each before its own members."""
    return dict(_of_schema(schema))


def _of_schema(schema: TableSchema) -> Iterator[tuple[Identity, Member]]:
    for column in schema.columns:
        member = Member(path=(column.name,), type=column.type, comment=column.comment, default=column.default)
        identity: Identity = (column.name if column.id is None else column.id,)
        yield identity, member
        yield from _inside(identity, member)


def _inside(parent: Identity, of: Member) -> Iterator[tuple[Identity, Member]]:
    for part, name, type_, comment in _parts(of.type):
        identity, member = (*parent, part), Member(path=(*of.path, name), type=type_, comment=comment)
        yield identity, member
        yield from _inside(identity, member)


def _parts(of: DataType) -> Iterator[tuple[int | str, str, DataType, str | None]]:
    """Identity, name, type and comment of each part of a nested type."""
    if of.name == "ROW":
        ids: tuple[int | str, ...] = of.ids if len(of.ids) == len(of.fields) else of.fields
        comments = of.comments or (None,) * len(of.fields)
        yield from zip(ids, of.fields, of.children, comments, strict=True)
        return
    names = (KEY, VALUE) if of.name == "MAP" else (ELEMENT,)
    yield from ((name, name, child, None) for name, child in zip(names, of.children, strict=False))
