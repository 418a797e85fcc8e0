"""Dataclasses as JSON documents: one writer and one strict reader. Keys are the fields' names in camelCase."""

from __future__ import annotations

import json
import types
import typing
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, Final, TypeVar

VERSION: Final = 1
"""Version of both documents. A change of meaning raises it."""

FormT = TypeVar("FormT")


class DocumentError(ValueError):
    """A document has not the expected form. The message names the key by its path, `job.catalog.options`."""


def json_name(name: str) -> str:
    """The JSON key of a field: lower camel case, `class_` is `class`."""
    head, *tail = name.rstrip("_").split("_")
    return head + "".join(part.capitalize() for part in tail)


class Document:
    """Base of every part of a document."""

    # The operator validates with pydantic, which takes the JSON keys of a dataclass from this attribute.
    __pydantic_config__: ClassVar[dict[str, Any]] = {"alias_generator": json_name}


def to_json(value: Any) -> Any:
    """A dataclass as JSON values, its fields in order; None is left out."""
    if is_dataclass(value):
        pairs = ((json_name(each.name), to_json(getattr(value, each.name))) for each in fields(value))
        return {key: each for key, each in pairs if each is not None}
    return [to_json(each) for each in value] if isinstance(value, tuple) else value


def to_text(document: Any) -> str:
    """JSON values as text without spaces: the same text for the same values in the same order."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def read(form: type[FormT], value: Any, where: str) -> FormT:
    """The dataclass `form` from JSON values. `where` is the path for messages.

    Raises DocumentError for an unknown key, a missing key or a value of another type.
    """
    read_value: FormT = _read(form, value, where)
    return read_value


def _read(form: Any, value: Any, where: str) -> Any:
    if is_dataclass(form):
        return _read_object(form, value, where)
    origin, arguments = typing.get_origin(form), typing.get_args(form)
    if origin is types.UnionType:
        return None if value is None else _read(arguments[0], value, where)
    if origin is tuple:
        _expect(value, list, where)
        return tuple(_read(arguments[0], each, f"{where}[{index}]") for index, each in enumerate(value))
    if origin is dict:
        _expect(value, dict, where)
        return {key: _read(arguments[1], each, f"{where}.{key}") for key, each in value.items()}
    _expect(value, form, where)
    return value


def _read_object(form: Any, value: Any, where: str) -> Any:
    _expect(value, dict, where)
    hints = typing.get_type_hints(form)
    members = {json_name(each.name): each.name for each in fields(form)}
    unknown = sorted(value.keys() - members.keys())
    if unknown:
        raise DocumentError(f"{where} has an unknown key {unknown[0]}")
    given = {members[key]: _read(hints[members[key]], each, f"{where}.{key}") for key, each in value.items()}
    try:
        return form(**given)
    except TypeError as error:
        raise DocumentError(f"{where} lacks a key: {error}") from error


def _expect(value: Any, form: type, where: str) -> None:
    if not isinstance(value, form) or (form is int and isinstance(value, bool)):
        raise DocumentError(f"{where} must be a {form.__name__}, not {type(value).__name__}")
