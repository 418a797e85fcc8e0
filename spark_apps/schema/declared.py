"""The declared schema of a job, and the schema of a table, in the terms in which they are compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from paimon_contract.parameters.provision import JobColumn, ProvisionParameters
from paimon_schema.bucket_count import with_count_of
from paimon_schema.members import members_of
from paimon_schema.paimon_json import from_paimon_json
from paimon_schema.table_schema import DeclaredColumn, DeclaredSchema, TableSchema, read_schema_file
from spark_apps.schema.column_types import json_form


def declared_schema(provision: ProvisionParameters) -> DeclaredSchema:
    """What the manifest declares. Raises RunError for a job of release 0.1 with nested types."""
    return DeclaredSchema(
        columns=tuple(_column(each, provision.primary_keys) for each in provision.columns),
        dropped=provision.dropped or (),
        primary_keys=provision.primary_keys,
        partition_keys=provision.partition_keys,
        comment=provision.comment or None,
        options=provision.options,
    )


def declared_with_count_of(has: TableSchema, provision: ProvisionParameters) -> DeclaredSchema:
    """What the manifest declares of a table with the schema `has`.

    The number of buckets is that of the table, where a rescale will change it. Nothing is dropped that was added since
    a run made the table as this manifest says: it is somebody else's, with data that nobody has asked to lose.
    """
    declared = with_count_of(has, declared_schema(provision), rescales=bool(provision.rescales))
    if not provision.verifies:
        return declared
    present = {each.name for each in members_of(has).values()}
    return replace(declared, dropped=tuple(name for name in declared.dropped if name not in present))


def schema_of(table: Any) -> TableSchema:
    """The schema of an open table (Java FileStoreTable), which may have options of this session."""
    return read_schema_file(table.schema().toString())


def _column(column: JobColumn, keys: tuple[str, ...]) -> DeclaredColumn:
    type_ = from_paimon_json(json_form(column))
    if column.name in keys:
        type_ = replace(type_, nullable=False)
    return DeclaredColumn(
        name=column.name,
        type=type_,
        comment=column.comment or None,
        default=column.default_value,
        renamed_from=column.renamed_from,
    )
