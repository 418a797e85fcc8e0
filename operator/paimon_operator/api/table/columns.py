"""Columns, keys and aggregates of a table."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import (
    MAX_COLUMNS,
    ApiModel,
    ColumnName,
    Json,
    Positive,
    cel_list,
    keyed_by,
    rule,
    validated,
    with_rules,
)

TYPE_WORDS = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "CHAR", "VARCHAR", "STRING",
    "BINARY", "VARBINARY", "BYTES", "DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "ARRAY", "MAP", "ROW",
)  # fmt: skip
"""First words of the types that Spark can create in a Paimon table. Reconcile checks their parameters."""

SYSTEM_FIELDS = ("_SEQUENCE_NUMBER", "_VALUE_KIND", "_LEVEL", "_ROW_ID", "rowkind")
"""Names that Paimon reserves in every table. It also reserves all names that begin with `_KEY_`."""

MAX_DROPPED: Final = 200
ColumnPath = Annotated[
    str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$", min_length=1, max_length=256)
]
"""A column, or the path to a nested field."""

NO_DEFAULT = ("ARRAY", "MAP", "ROW", "BINARY", "VARBINARY", "BYTES", "TIMESTAMP_LTZ")
"""First words of the types without a defaultValue: its text would have no single meaning."""

TypeText = Annotated[
    str,
    Field(
        pattern=r"^(?i:" + "|".join(sorted(TYPE_WORDS, key=len, reverse=True)) + r")([ (<][A-Za-z0-9_ ,()<>]*)?$",
        min_length=1,
        max_length=2048,
        json_schema_extra=with_rules(
            rule(
                "!(self.upperAscii() in ['TIMESTAMP', 'TIMESTAMP NOT NULL',"
                " 'TIMESTAMP_LTZ', 'TIMESTAMP_LTZ NOT NULL'])",
                "Spark and Paimon read a timestamp without precision differently: "
                "write TIMESTAMP(6) (no time zone) or TIMESTAMP_LTZ(6) (an instant)",
            ),
            rule(
                "!(self.upperAscii() in ['DECIMAL', 'CHAR', 'ARRAY', 'MAP', 'ROW'])",
                "this type needs its parameters: DECIMAL(12,2), CHAR(8), ARRAY<INT>, MAP<STRING, INT>, ROW<a INT>",
            ),
        ),
    ),
]
_NOT_RESERVED: Final = rule(
    f"!self.matches('^({'|'.join(SYSTEM_FIELDS)}|_KEY_.*)$')", "this name is reserved by Paimon: choose another"
)


def _no_key_twice(kind: str) -> Json:
    return rule("self.all(k, self.exists_one(o, o == k))", f"a {kind} key must not be listed twice")


_WITH_DEFAULT = "self.columns.filter(c, has(c.defaultValue)).map(c, c.name)"


class AggregateFunction(StrEnum):
    """Paimon's aggregate functions. The engine data lists the functions of each engine."""

    SUM = "sum"
    PRODUCT = "product"
    MAX = "max"
    MIN = "min"
    LAST_VALUE = "last_value"
    LAST_NON_NULL_VALUE = "last_non_null_value"
    FIRST_VALUE = "first_value"
    FIRST_NON_NULL_VALUE = "first_non_null_value"
    LISTAGG = "listagg"
    BOOL_AND = "bool_and"
    BOOL_OR = "bool_or"
    COLLECT = "collect"
    MERGE_MAP = "merge_map"
    NESTED_UPDATE = "nested_update"
    NESTED_PARTIAL_UPDATE = "nested_partial_update"
    THETA_SKETCH = "theta_sketch"
    HLL_SKETCH = "hll_sketch"
    RBM32 = "rbm32"
    RBM64 = "rbm64"


RETRACTING = ("sum", "product", "last_value", "last_non_null_value", "collect", "merge_map", "nested_update")
"""Aggregate functions that can take a value back, on every engine. The others fail at a delete."""


class Aggregate(ApiModel):
    """Aggregate function of one column."""

    model_config = validated(
        rule(
            "!has(self.delimiter) || self.function == 'listagg'",
            "delimiter must not be set unless function is listagg",
            path=".delimiter",
        ),
        rule(
            "!has(self.distinct) || self.function in ['listagg', 'collect']",
            "distinct must not be set unless function is listagg or collect",
            path=".distinct",
        ),
        rule(
            "!has(self.nestedKey) || self.function in ['nested_update', 'nested_partial_update']",
            "nestedKey must not be set unless function is nested_update or nested_partial_update",
            path=".nestedKey",
        ),
        rule(
            "has(self.nestedKey) || self.function != 'nested_partial_update'",
            "nestedKey must be set when function is nested_partial_update",
            path=".nestedKey",
        ),
        rule(
            "!has(self.countLimit) || self.function == 'nested_update'",
            "countLimit must not be set unless function is nested_update",
            path=".countLimit",
        ),
    )

    function: AggregateFunction
    """Paimon's name of the function: sum, max, last_non_null_value, ... The operator checks the column type before it
    creates the table."""
    ignore_retract: bool | None = None
    """Ignores deletes and update-before records in this column, for functions that cannot retract."""
    delimiter: Annotated[str, Field(min_length=1, max_length=16)] | None = None
    """Text between the values of listagg. Absent: a comma."""
    distinct: bool | None = None
    """Keeps each value once. For listagg and collect only."""
    nested_key: Annotated[tuple[ColumnName, ...], Field(min_length=1, max_length=16)] = ()
    """Fields that identify a nested row. For nested_update and nested_partial_update only."""
    count_limit: Positive | None = None
    """Largest number of nested rows. For nested_update only."""


class Column(ApiModel):
    """One column of the table."""

    model_config = validated(
        rule(
            f"!has(self.defaultValue) || !{cel_list(NO_DEFAULT)}.exists(w, self.type.upperAscii().startsWith(w))",
            f"a column of type {', '.join(NO_DEFAULT)} must not have a defaultValue",
            path=".defaultValue",
            reason="FieldValueForbidden",
        ),
        rule(
            "!has(self.defaultValue) || !self.type.upperAscii().endsWith('NOT NULL')",
            "a column that is NOT NULL must not have a defaultValue: Paimon refuses the absent value first",
            path=".defaultValue",
            reason="FieldValueForbidden",
        ),
    )

    name: Annotated[ColumnName, Field(json_schema_extra=with_rules(_NOT_RESERVED))]
    """Name of the column. To rename a column, set renamedFrom to its old name."""
    type: TypeText
    """Type in Paimon's notation: BIGINT, DECIMAL(12,2), TIMESTAMP(6), ARRAY<ROW<sku STRING, n INT>>; add NOT NULL to
    reject nulls. Primary key columns are always NOT NULL."""
    renamed_from: ColumnName | None = None
    """Old name of the column. A table that has the old name and not the new one is altered, and keeps its data."""
    comment: Annotated[str, Field(max_length=1024)] | None = None
    """Description of the column, stored in the table's schema."""
    default_value: Annotated[str, Field(max_length=256)] | None = None
    """Value that writes store in place of NULL and of an absent column, as text. For merge engines Deduplicate and
    FirstRow and for append tables, on columns that are no key."""
    aggregate: Aggregate | None = None
    """Aggregate function of the column. For the merge engines Aggregation and PartialUpdate only."""


class TableSchema(ApiModel):
    """Columns and keys of the table."""

    model_config = validated(
        rule(
            "!has(self.primaryKeys) || sets.contains(self.columns.map(c, c.name), self.primaryKeys)",
            "every primary key must be one of the columns",
            path=".primaryKeys",
        ),
        rule(
            "!has(self.partitionKeys) || sets.contains(self.columns.map(c, c.name), self.partitionKeys)",
            "every partition key must be one of the columns",
            path=".partitionKeys",
        ),
        rule(
            "!has(self.primaryKeys) || !self.columns.exists(c, has(c.aggregate) && c.name in self.primaryKeys)",
            "aggregate must not be set on a primary key",
            path=".columns",
            reason="FieldValueForbidden",
        ),
        rule(
            "!has(self.droppedColumns) || !sets.intersects(self.columns.map(c, c.name), self.droppedColumns)",
            "droppedColumns must not name one of the columns",
            path=".droppedColumns",
        ),
        rule(
            "!has(self.droppedColumns) || !has(self.primaryKeys)"
            " || !sets.intersects(self.primaryKeys, self.droppedColumns)",
            "a primary key cannot be dropped",
            path=".droppedColumns",
        ),
        rule(
            "self.columns.all(c, !has(c.renamedFrom) || c.renamedFrom != c.name)",
            "renamedFrom must be another name than name",
            path=".columns",
        ),
        rule(
            "!has(self.droppedColumns) || !sets.intersects("
            "self.columns.filter(c, has(c.renamedFrom)).map(c, c.renamedFrom), self.droppedColumns)",
            "droppedColumns must not name a column that is renamed",
            path=".droppedColumns",
        ),
        rule(
            "!has(self.partitionKeys) || !has(self.primaryKeys) || self.partitionKeys.all(k, k in self.primaryKeys)",
            "partition keys must be part of the primary key:"
            " Spark cannot compact a table whose keys move between partitions",
            path=".partitionKeys",
        ),
        rule(
            "!has(self.partitionKeys) || !has(self.primaryKeys)"
            " || self.primaryKeys.exists(k, !(k in self.partitionKeys))",
            "the primary key must have a column that is not a partition key: each partition would hold a single row",
            path=".primaryKeys",
        ),
        rule(
            f"!has(self.primaryKeys) || !sets.intersects(self.primaryKeys, {_WITH_DEFAULT})",
            "a primary key must not have a defaultValue",
            path=".columns",
            reason="FieldValueForbidden",
        ),
        rule(
            f"!has(self.partitionKeys) || !sets.intersects(self.partitionKeys, {_WITH_DEFAULT})",
            "a partition key must not have a defaultValue",
            path=".columns",
            reason="FieldValueForbidden",
        ),
        rule(
            "!has(self.partitionDefaultName) || has(self.partitionKeys)",
            "partitionDefaultName must not be set without partitionKeys",
            path=".partitionDefaultName",
            reason="FieldValueForbidden",
        ),
    )

    comment: Annotated[str, Field(max_length=1024)] | None = None
    """Description of the table, stored in the table's schema."""
    columns: Annotated[
        tuple[Column, ...], Field(min_length=1, max_length=MAX_COLUMNS, json_schema_extra=keyed_by("name"))
    ]
    """The columns, in order. A table follows an edit: columns are added, renamed, widened and moved. A column that is
    removed from the list stays in the table unless droppedColumns names it."""
    dropped_columns: Annotated[tuple[ColumnPath, ...], Field(max_length=MAX_DROPPED)] = ()
    """Columns that are dropped from the table with their data. A nested field is named by its path: address.street. In
    it, element is the element of an array and value the value of a map."""
    primary_keys: Annotated[
        tuple[ColumnName, ...],
        Field(min_length=1, max_length=16, json_schema_extra=with_rules(_no_key_twice("primary"))),
    ] = ()
    """Columns that identify a row. Rows with the same key merge. Absent: an append table. Immutable once the table
    exists."""
    partition_keys: Annotated[
        tuple[ColumnName, ...],
        Field(min_length=1, max_length=8, json_schema_extra=with_rules(_no_key_twice("partition"))),
    ] = ()
    """Columns that partition the table into directories. They must be part of the primary key, if there is one.
    Immutable once the table exists."""
    partition_default_name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$", max_length=128)] | None = (
        None
    )
    """Name of the partition of rows whose partition key is NULL or empty. Absent: __DEFAULT_PARTITION__. Immutable once
    the table exists."""
