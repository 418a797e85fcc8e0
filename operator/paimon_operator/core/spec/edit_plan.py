"""The plan of an edit, made before any run starts: from the schema that the last run has read, and the manifest.

The run makes the plan again, from the table itself. What it finds counts: the recorded schema may be out of date.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import Final

from paimon_engines.engine import Engine
from paimon_operator.api.table.status import MAX_SCHEMA_RECORD, ProvisionState
from paimon_operator.core.spec.desired_table import DesiredTable
from paimon_schema.bucket_count import with_count_of
from paimon_schema.plan import Plan, make_plan
from paimon_schema.table_schema import DeclaredColumn, DeclaredSchema, TableSchema, read_schema_file, schema_file_of
from paimon_schema.type_parser import parse

_MAX_TEXT: Final = 2**20
"""Bytes of a schema as text. A status comes from the API server, and no record may fill the memory."""


def declared_schema(table: DesiredTable) -> DeclaredSchema:
    """The desired table in the terms in which schemas are compared. Raises TypeTextError for an invalid type."""
    columns = (
        DeclaredColumn(
            name=each.name,
            type=parse(each.type),
            comment=each.comment,
            default=each.default_value,
            renamed_from=each.renamed_from,
        )
        for each in table.columns
    )
    return DeclaredSchema(
        columns=tuple(columns),
        dropped=table.dropped,
        primary_keys=table.primary_keys,
        partition_keys=table.partition_keys,
        comment=table.comment or None,
        options=table.options,
    )


def known_schema(state: ProvisionState) -> TableSchema | None:
    """The recorded schema; None without one, or if the last run has left other columns than the recorded ones."""
    known = None if state.schema_record is None else read_record(state.schema_record)
    return known if known is not None and known.columns_digest == state.columns_digest else None


def plan_of_edit(known: TableSchema, table: DesiredTable, engine: Engine, *, rescales: bool) -> Plan:
    """The plan from the recorded schema to the desired table; a number of buckets may be left to a rescale."""
    return make_plan(known, with_count_of(known, declared_schema(table), rescales=rescales), engine)


def record_of(schema: TableSchema) -> str | None:
    """The schema as a status holds it; None if it is too large for one."""
    record = base64.b64encode(zlib.compress(schema_file_of(schema).encode(), 9)).decode()
    return record if len(record) <= MAX_SCHEMA_RECORD else None


def read_record(record: str) -> TableSchema | None:
    """The recorded schema; None for a text that is none: another release may have written it."""
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(base64.b64decode(record, validate=True), _MAX_TEXT)
        return read_schema_file(text.decode())
    except (binascii.Error, zlib.error, ValueError, AttributeError, OverflowError, RecursionError):
        return None
