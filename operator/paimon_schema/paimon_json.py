"""Types as they stand in Paimon's schema files: a text, or an object for a nested type."""

from __future__ import annotations

from typing import Any, Final

from paimon_schema.data_types import NOT_NULL, DataType
from paimon_schema.type_parser import TypeTextError, parse

_MEMBERS: Final = {"ARRAY": ("element",), "MULTISET": ("element",), "MAP": ("key", "value")}
"""Nested type -> the members of its JSON object that hold the nested types."""


def paimon_json(data_type: DataType) -> str | dict[str, Any]:
    """The type in the JSON form of Paimon's schema files. The numbers of a ROW's fields mean nothing in it."""
    if not data_type.children:
        return str(data_type)
    name = data_type.name + ("" if data_type.nullable else NOT_NULL)
    children = [paimon_json(child) for child in data_type.children]
    if data_type.name == "ROW":
        named = enumerate(zip(data_type.fields, children, strict=True))
        fields = [{"id": number, "name": field, "type": child} for number, (field, child) in named]
        return {"type": name, "fields": fields}
    if data_type.name == "MAP":
        return {"type": name, "key": children[0], "value": children[1]}
    return {"type": name, "element": children[0]}


def from_paimon_json(form: Any) -> DataType:
    """The type from its JSON form, with the ids and comments of a ROW's fields.

    A type that this release cannot read, as of a column that a newer Paimon made, keeps its text as its name. It equals
    itself only. Raises TypeError or KeyError for a form that no schema file has.
    """
    if isinstance(form, str):
        return _plain(form)
    name, nullable = _name(form["type"])
    if name == "ROW":
        return _row(form["fields"], nullable)
    if name not in _MEMBERS:
        return DataType(str(form), nullable=nullable)
    return DataType(name, (), tuple(from_paimon_json(form[member]) for member in _MEMBERS[name]), (), nullable)


def _row(fields: Any, nullable: bool) -> DataType:
    return DataType(
        "ROW",
        (),
        tuple(from_paimon_json(each["type"]) for each in fields),
        tuple(str(each["name"]) for each in fields),
        nullable,
        ids=tuple(int(each["id"]) for each in fields if "id" in each),
        comments=tuple(each.get("description") or None for each in fields),
    )


def _plain(text: str) -> DataType:
    try:
        return parse(text)
    except TypeTextError:
        name, nullable = _name(text)
        return DataType(name, nullable=nullable)


def _name(text: str) -> tuple[str, bool]:
    return (text.removesuffix(NOT_NULL), False) if text.endswith(NOT_NULL) else (text, True)
