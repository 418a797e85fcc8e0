"""The export of a table: its schema file becomes a manifest that adopts it, or the reasons why there is none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from paimon_contract.description import DescribedTable
from paimon_engines.engine import Engine
from paimon_operator.api.base import Json
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.policies import AdoptionPolicy
from paimon_operator.core.export.object_name import object_name
from paimon_operator.core.export.proof import COLUMNS, Problem, problems_of
from paimon_operator.core.export.table_manifest import is_foreign, table_manifest
from paimon_schema.option_changes import ASSIGNED_BY_PAIMON, OUR_PREFIX, OWNER_OPTION
from paimon_schema.table_schema import TableSchema, read_schema_file

_PARTS_OF_A_MARK: Final = 3
_NESTED_TYPES: Final = ("element", "key", "value", "type")


@dataclass(frozen=True, kw_only=True)
class Export:
    """A table's manifest. With `problems` or a foreign `owner` it must not be applied as it is.

    `owner` is the mark of the PaimonTable to which the table belongs: `<cluster>/<namespace>/<name>`. `kept` are the
    options of the table that no manifest sets, and that stay as they are.
    """

    database: str
    table: str
    manifest: Json | None = None
    problems: tuple[Problem, ...] = ()
    owner: str | None = None
    kept: tuple[str, ...] = ()


def export(table: DescribedTable, catalog: PaimonCatalog, engine: Engine, now: datetime) -> Export:
    """The export of one table. `now` stands in for the time of a reconcile."""
    try:
        schema = _schema_of(table)
    except ValueError as error:
        unreadable = Problem(field="spec.table", problem=str(error), remedy="Leave the table to its present owner.")
        return Export(database=table.database, table=table.name, problems=(unreadable,))
    owner = schema.options.get(OWNER_OPTION)
    name = _name_in(owner, catalog.metadata.namespace) or object_name(
        table.database, table.name, catalog.metadata.namespace
    )
    manifest = table_manifest(schema, table.database, table.name, name=name, catalog=catalog, engine=engine)
    found = (*problems_of(manifest, schema, catalog, engine, now), *_nested_comments(json.loads(table.schema or "")))
    if found and all(each.stays for each in found):
        manifest["spec"]["adoptionPolicy"] = AdoptionPolicy.ADOPT.value
    return Export(
        database=table.database,
        table=table.name,
        manifest=manifest,
        problems=found,
        owner=owner,
        kept=tuple(sorted(key for key in schema.options if _is_kept(key, engine))),
    )


def _schema_of(table: DescribedTable) -> TableSchema:
    """The schema. Raises ValueError with the problem."""
    if table.schema is None:
        raise ValueError(table.problem or "its schema file was not read")
    return read_schema_file(table.schema)


def _name_in(owner: str | None, namespace: str) -> str | None:
    """The name in a mark of this namespace: only a PaimonTable of that name is the owner again."""
    parts = (owner or "").split("/")
    return parts[2] if len(parts) == _PARTS_OF_A_MARK and parts[1] == namespace else None


def _is_kept(key: str, engine: Engine) -> bool:
    return key not in ASSIGNED_BY_PAIMON and not key.startswith(OUR_PREFIX) and is_foreign(key, engine)


def _nested_comments(document: Json) -> Iterator[Problem]:
    """Comments of nested fields, for which a manifest has no place. AdoptIfIdentical compares them."""
    for column in document["fields"]:
        if _has_comment(column["type"]):
            yield Problem(
                field=f"{COLUMNS}[{column['name']}].type",
                problem="a field inside of it has a comment, for which a manifest has no place",
                remedy="Set adoptionPolicy to Adopt, which keeps the comment, or remove it from the table.",
                stays=True,
            )


def _has_comment(type_: Any) -> bool:
    if not isinstance(type_, dict):
        return False
    if any(each.get("description") or _has_comment(each["type"]) for each in type_.get("fields", ())):
        return True
    return any(_has_comment(type_[member]) for member in _NESTED_TYPES if member in type_)
