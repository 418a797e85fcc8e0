"""Creates, alters and writes tables with pypaimon, in its environment: JSON on standard input (see pypaimon_tables)."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import pyarrow
from pypaimon import CatalogFactory, Schema
from pypaimon.schema.data_types import AtomicType, DataField, PyarrowFieldParser
from pypaimon.schema.schema_change import SchemaChange

ALLOWS_NOT_NULL = "alter-column-null-to-not-null.disabled"


def _create(catalog: Any, table: Mapping[str, Any]) -> None:
    fields = [DataField.from_dict(each) for each in table["fields"]]
    schema = Schema(
        fields=fields,
        partition_keys=table["partitionKeys"],
        primary_keys=table["primaryKeys"],
        options=table["options"],
        comment=table["comment"],
    )
    catalog.create_table(table["name"], schema, False)
    if table["rows"]:
        _write(catalog.get_table(table["name"]), table["rows"])


def _write(table: Any, rows: list[Mapping[str, Any]], overwritten: Mapping[str, Any] | None = None) -> None:
    """Appends the rows, or puts them in the place of a partition; an empty one: of all partitions that they have."""
    builder = table.new_batch_write_builder()
    if overwritten is not None:
        builder.overwrite(dict(overwritten))
    write, commit = builder.new_write(), builder.new_commit()
    write.write_arrow(pyarrow.Table.from_pylist(rows, schema=PyarrowFieldParser.from_paimon_schema(table.fields)))
    commit.commit(write.prepare_commit())
    write.close()
    commit.close()


request = json.load(sys.stdin)
made_in = CatalogFactory.create(request["catalog"])
made_in.create_database(request["database"], True)
for each in request["tables"]:
    _create(made_in, each)
for name, column in request["notNull"]:
    for change in (
        SchemaChange.set_option(ALLOWS_NOT_NULL, "false"),
        SchemaChange.update_column_nullability(column, False),
        SchemaChange.remove_option(ALLOWS_NOT_NULL),
    ):
        made_in.alter_table(name, [change])
for written in request["written"]:
    _write(made_in.get_table(written["table"]), written["rows"], written.get("overwritten"))
for name, tag in request["tagged"]:
    made_in.get_table(name).create_tag(tag)
for name, branch, tag in request["branched"]:
    made_in.get_table(name).branch_manager().create_branch(branch, tag)
for altered in request["alter"]:
    for key, value in altered["options"].items():
        made_in.alter_table(altered["table"], [SchemaChange.set_option(key, value)])
    for column, type_ in altered["added"].items():
        made_in.alter_table(altered["table"], [SchemaChange.add_column(column, AtomicType(type_))])
