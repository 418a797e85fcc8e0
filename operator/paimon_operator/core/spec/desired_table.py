"""The table that the manifest declares, and a hash that changes only when an edit declares another one."""

from __future__ import annotations

import hashlib
import json
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, Final

from paimon_operator.api.policies import AdoptionPolicy
from paimon_operator.api.table.effective import Effective
from paimon_operator.api.table.spec import PaimonTableSpec
from paimon_operator.core.spec.paimon_options import table_options
from paimon_schema import type_parser
from paimon_schema.data_types import NOT_NULL

HASH_LENGTH: Final = 16


class Hashed(Enum):
    """When a field is part of the hash."""

    ALWAYS = "always"
    """Fields of release 0.1, which hashed them at their defaults too: its stored hashes stay valid."""
    UNLESS_DEFAULT = "unless default"
    """Every later field, which therefore changes no hash of a table that does not use it."""
    NEVER = "never"


ALWAYS: Final = MappingProxyType({"hashed": Hashed.ALWAYS})
NEVER: Final = MappingProxyType({"hashed": Hashed.NEVER})


@dataclass(frozen=True, kw_only=True)
class DesiredColumn:
    """A column. `type` is the text of Paimon's type. Give a new field a default and no metadata."""

    name: str = field(metadata=ALWAYS)
    type: str = field(metadata=ALWAYS)
    comment: str | None = field(default=None, metadata=ALWAYS)
    renamed_from: str | None = None
    default_value: str | None = None


@dataclass(frozen=True, kw_only=True)
class DesiredTable:
    """A table in Paimon. `options` are all that the manifest asks for. Give a new field a default and no metadata."""

    columns: tuple[DesiredColumn, ...] = field(metadata=ALWAYS)
    primary_keys: tuple[str, ...] = field(default=(), metadata=ALWAYS)
    partition_keys: tuple[str, ...] = field(default=(), metadata=ALWAYS)
    comment: str = field(default="", metadata=ALWAYS)
    options: dict[str, str] = field(default_factory=dict, metadata=ALWAYS)
    dropped: tuple[str, ...] = ()
    adoption: AdoptionPolicy = field(metadata=NEVER)
    """What to do with a table that exists already. No part of what the table is."""


def desired_table(spec: PaimonTableSpec, effective: Effective) -> DesiredTable:
    """The whole table. Raises TypeTextError for a type that cannot be read."""
    schema = spec.table_schema
    columns = (
        DesiredColumn(
            name=c.name,
            type=_stored_type(c.type, c.name in schema.primary_keys),
            comment=c.comment,
            renamed_from=c.renamed_from,
            default_value=c.default_value,
        )
        for c in schema.columns
    )
    return DesiredTable(
        columns=tuple(columns),
        primary_keys=schema.primary_keys,
        partition_keys=schema.partition_keys,
        comment=schema.comment or "",
        options=table_options(spec, effective),
        dropped=schema.dropped_columns,
        adoption=spec.adoption_policy,
    )


def fingerprint(table: DesiredTable) -> str:
    """Hash of the desired table. Status stores it, so it must not change for a table whose manifest does not."""
    return digest(_hashed(table))


def digest(document: Any) -> str:
    """Hash of a JSON document: equal for equal documents, however their keys are ordered."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]


def _hashed(value: Any) -> Any:
    """The part of `value` that is hashed, as JSON."""
    if is_dataclass(value):
        return {each.name: _hashed(getattr(value, each.name)) for each in fields(value) if _is_hashed(each, value)}
    if isinstance(value, (tuple, list)):
        return [_hashed(each) for each in value]
    return value


def _is_hashed(of: Field[Any], value: Any) -> bool:
    when = of.metadata.get("hashed", Hashed.UNLESS_DEFAULT)
    if when is not Hashed.UNLESS_DEFAULT:
        return when is Hashed.ALWAYS
    default = of.default_factory() if of.default_factory is not MISSING else of.default
    return bool(getattr(value, of.name) != default)


def _stored_type(text: str, is_key: bool) -> str:
    """The type as Paimon will store it: primary key columns are NOT NULL by themselves."""
    written = type_parser.canonical(text)
    return written + NOT_NULL if is_key and not written.endswith(NOT_NULL) else written
