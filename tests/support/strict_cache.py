"""A cache for tests that refuses every read of a field that it does not keep: the field is absent for that reader."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.base import ApiModel
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.core.spec.table_head import NamedTable, TableHead
from paimon_operator.runtime import change_router
from paimon_operator.runtime.cache import Cache
from paimon_operator.runtime.projection import Fields, Kept, kept_fields


class NotKeptError(AssertionError):
    """A reader of the cache needs a field that `runtime/projection.py` does not keep."""


class OnlyKept(dict[str, Any]):
    """A part of a cached object."""

    def __init__(self, document: Manifest, fields: Fields) -> None:
        super().__init__({name: only_kept(value, fields[name]) for name, value in document.items()})
        self._fields = fields

    def __getitem__(self, name: str) -> Any:
        return super().__getitem__(self._checked(name))

    def __contains__(self, name: object) -> bool:
        return super().__contains__(self._checked(name))

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(self._checked(name), default)

    def _checked(self, name: Any) -> Any:
        if name not in self._fields:
            raise NotKeptError(f"the cache does not keep the field {name!r}, only {', '.join(self._fields)}")
        return name


def only_kept(value: Any, fields: Fields | Kept) -> Any:
    """`value`, whose reads are checked."""
    if isinstance(fields, Kept):
        return value
    if isinstance(value, list):
        return [only_kept(each, fields) for each in value]
    return OnlyKept(value, fields) if isinstance(value, dict) else value


def plain(value: Any) -> Any:
    """`value` without the checks."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


def make_strict(patch: pytest.MonkeyPatch) -> None:
    """Lets every cache, and every model of an object in it, raise at a read of a field that is not kept."""
    get, read = Cache.get, change_router.read

    def strict_get(self: Cache, kind: Kind, namespace: str, name: str) -> Manifest | None:
        found: Manifest | None = only_kept(get(self, kind, namespace, name), kept_fields(kind))
        return found

    def strict_read(model: type[ApiModel], body: Manifest) -> ApiModel | None:
        if model not in (PaimonCatalog, TableHead, NamedTable):
            raise NotKeptError(f"the cache has not all fields of {model.__name__}")
        found = read(model, plain(body))
        return without_dropped_fields(found) if isinstance(found, PaimonCatalog) else found

    patch.setattr(Cache, "get", strict_get)
    patch.setattr(change_router, "read", strict_read)


def without_dropped_fields(catalog: PaimonCatalog) -> PaimonCatalog:
    """The catalog, whose attributes that the cache does not keep raise AttributeError."""
    fields = kept_fields(Kind.CATALOG)
    parts = {name: _without(getattr(catalog, name), fields[name]) for name in ("metadata", "status")}
    return catalog.model_copy(update=parts)


def _without(part: ApiModel, fields: Fields | Kept) -> ApiModel:
    copy = part.model_copy()
    for name, field in type(part).model_fields.items():
        if isinstance(fields, Kept) or field.alias not in fields:
            del copy.__dict__[name]
    return copy
