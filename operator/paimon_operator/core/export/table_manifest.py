"""The manifest of an existing table, in the smallest form: nothing that is a default."""

from __future__ import annotations

from typing import Any, Final

from paimon_engines.engine import Engine
from paimon_operator.api.base import API_VERSION, Json
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.policies import AdoptionPolicy, ExternalWriters
from paimon_operator.api.tags import TagCreation
from paimon_operator.core.export.table_settings import Remaining, aggregate_of, settings_of
from paimon_operator.core.spec.capabilities import supports_foreign_writers
from paimon_schema.data_types import NOT_NULL
from paimon_schema.option_changes import ASSIGNED_BY_PAIMON, OUR_PREFIX
from paimon_schema.table_schema import Column, TableSchema
from paimon_schema.uses import MANAGED_OPTION, listed

_DEFAULT_NAME: Final = "partition.default-name"


def table_manifest(
    schema: TableSchema, database: str, table: str, *, name: str, catalog: PaimonCatalog, engine: Engine
) -> Json:
    """The PaimonTable `name` in the catalog's namespace. Options that no field can hold are left out."""
    left = Remaining(_options_of(schema, engine))
    columns = [_column(each, schema, left) for each in schema.columns]
    default_name = left.take(_DEFAULT_NAME, "partitionDefaultName", str)
    spec: dict[str, Any] = {
        "catalogRef": {"name": catalog.metadata.name},
        "database": database,
        "table": table,
        "schema": {
            "comment": schema.comment,
            "columns": columns,
            "primaryKeys": list(schema.primary_keys),
            "partitionKeys": list(schema.partition_keys),
            **default_name,
        },
        **_with_writers(settings_of(left, catalog), keyed=bool(schema.primary_keys)),
        "adoptionPolicy": AdoptionPolicy.ADOPT_IF_IDENTICAL.value,
    }
    spec["schema"] = {field: value for field, value in spec["schema"].items() if value}
    metadata = {"name": name, "namespace": catalog.metadata.namespace}
    return {"apiVersion": API_VERSION, "kind": "PaimonTable", "metadata": metadata, "spec": spec}


def _with_writers(settings: Json, *, keyed: bool) -> Json:
    """The settings, and that there are other writers where tags follow their watermarks: the operator has none."""
    if settings.get("tags", {}).get("automaticCreation") != TagCreation.WATERMARK:
        return settings
    may_be_active = supports_foreign_writers(settings.get("bucket", {}).get("type"), has_primary_key=keyed)
    return settings | {"externalWriters": (ExternalWriters.ACTIVE if may_be_active else ExternalWriters.PAUSED).value}


def is_foreign(key: str, engine: Engine) -> bool:
    """Whether the option means nothing to Paimon, as properties of Hive and Flink: it stays, and no manifest has it."""
    return not engine.knows(key) and engine.changeable(key)


def _options_of(schema: TableSchema, engine: Engine) -> dict[str, str]:
    """The options to declare, by their present names: without values that mean the default.

    A default that an earlier manifest has set stays: it would be removed from the table otherwise.
    """
    managed = listed(schema.options.get(MANAGED_OPTION, ""))
    return {
        key: value
        for key, value in engine.canonical(schema.options).items()
        if key not in ASSIGNED_BY_PAIMON
        and not key.startswith(OUR_PREFIX)
        and not is_foreign(key, engine)
        and (key in managed or not engine.means_the_same(key, value, None))
    }


def _column(column: Column, schema: TableSchema, left: Remaining) -> Json:
    text = str(column.type)
    given = {
        "name": column.name,
        "type": text.removesuffix(NOT_NULL) if column.name in schema.primary_keys else text,
        "comment": column.comment,
        "defaultValue": column.default,
        "aggregate": aggregate_of(left, column.name) or None,
    }
    return {field: value for field, value in given.items() if value is not None}
