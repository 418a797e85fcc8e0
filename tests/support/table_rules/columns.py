"""Rules about keys, partitions and default values."""

# ruff: noqa: E501  (a table: one rule in few lines)

from __future__ import annotations

from tests.support.manifests import Manifest, append_table, keyed_table
from tests.support.table_rules.rule import TableRule
from tests.support.wrong_manifest import WrongManifest, later

_SCHEMA = "TableSchema, Schema"
_PRIMITIVE = "SchemaValidation.validateOnlyContainPrimitiveType"
_DEFAULTS = "tests/spark/test_default_values.py"

KEYS = [
    TableRule("key-column", "A primary key is a column.", _SCHEMA, keyed_table(),
        WrongManifest("a primary key that is no column", keyed_table(spec__schema__primaryKeys=["dt", "id"]), "spec.schema.primaryKeys", "one of the columns")),
    TableRule("key-once", "A primary key is named once.", _SCHEMA, keyed_table(spec__schema__primaryKeys=["order_id", "dt"]),
        WrongManifest("a primary key twice", keyed_table(spec__schema__primaryKeys=["dt", "order_id", "dt"]), "spec.schema.primaryKeys", "twice")),
    TableRule("partition-column", "A partition key is a column.", _SCHEMA, append_table(spec__schema__partitionKeys=["page"]),
        WrongManifest("a partition key that is no column", keyed_table(spec__schema__partitionKeys=["day"]), "spec.schema.partitionKeys", "one of the columns")),
    TableRule("partition-once", "A partition key is named once.", _SCHEMA, append_table(spec__schema__partitionKeys=["page"]),
        WrongManifest("a partition key twice", append_table(spec__schema__partitionKeys=["page", "page"]), "spec.schema.partitionKeys", "twice")),
    TableRule("partition-in-key", "A partition key is part of the primary key.", "CompactProcedure refuses KEY_DYNAMIC", keyed_table(),
        WrongManifest("a partition key outside the primary key", keyed_table(spec__schema__partitionKeys=["state"]), "spec.schema.partitionKeys", "part of the primary key")),
    TableRule("key-not-partition", "A primary key has a column that is no partition key.", "TableSchema.trimmedPrimaryKeys", keyed_table(),
        WrongManifest("a primary key that is the partition", keyed_table(spec__schema__primaryKeys=["dt"]), "spec.schema.primaryKeys", "single row")),
    TableRule("key-type", "A key is of a plain type.", _PRIMITIVE, keyed_table(spec__schema__primaryKeys=["dt", "state"]),
        later("a primary key of a nested type", keyed_table(spec__schema__primaryKeys=["dt", "tags"]), "spec.schema.primaryKeys", "tags")),
]  # fmt: skip

PARTITIONS = [
    TableRule("partition-type", "A partition key is no binary.", "tests/spark/test_key_types.py", append_table(spec__schema__partitionKeys=["page"]),
        later("partitions of bytes", append_table(spec__schema__columns__1__type="BYTES", spec__schema__partitionKeys=["page"]), "spec.schema.partitionKeys[0]", "of type BYTES")),
    TableRule("partition-name-needs-partitions", "partitionDefaultName needs partition keys.", "ours: nothing has the name", keyed_table(spec__schema__partitionDefaultName="none"),
        WrongManifest("a name of partitions without partitions", append_table(spec__schema__partitionDefaultName="none"), "spec.schema.partitionDefaultName", "without partitionKeys")),
    TableRule("partition-name-directory", "partitionDefaultName is the name of a directory.", "PartitionPathUtils", keyed_table(spec__schema__partitionDefaultName="none.1-a"),
        WrongManifest("a partition that climbs out of its table", keyed_table(spec__schema__partitionDefaultName="../x"), "spec.schema.partitionDefaultName", "should match")),
]  # fmt: skip


def _default(text: str, column: int = 2, **edits: object) -> Manifest:
    return keyed_table(**{f"spec__schema__columns__{column}__defaultValue": text}, **edits)


_BUCKET = {"type": "Fixed", "fixed": {"count": 4, "keys": ["page"]}}
_VALUE = f"{_DEFAULTS}: test_a_text_that_is_no_value_of_the_type_is_stored_as_another_value"

DEFAULTS = [
    TableRule("default-not-key", "A primary key has no default value: it is never NULL.", "TableWriteImpl.checkNullability", _default("new"),
        WrongManifest("a default of a primary key", _default("7", 0), "spec.schema.columns", "a primary key must not have a defaultValue")),
    TableRule("default-not-partition", "A partition key has no default value.", "0.9: SchemaValidation.validateDefaultValues", append_table(spec__schema__columns__1__defaultValue="home"),
        WrongManifest("a default of a partition key", append_table(spec__schema__columns__1__defaultValue="home", spec__schema__partitionKeys=["page"]), "spec.schema.columns", "a partition key must not have a defaultValue")),
    TableRule("default-not-bucket-key", "A bucket key has no default value: Spark computes the bucket before it is filled in.", f"{_DEFAULTS}: test_a_default_of_a_bucket_key_is_filled_in_after_the_bucket_was_chosen", append_table(spec__bucket=_BUCKET, spec__schema__columns__2={"name": "n", "type": "INT", "defaultValue": "1"}),
        WrongManifest("a default of a bucket key", append_table(spec__bucket=_BUCKET, spec__schema__columns__1__defaultValue="home"), "spec.schema.columns", "a bucket key must not have a defaultValue")),
    TableRule("default-not-merged", "PartialUpdate and Aggregation exclude default values: a value would merge into rows where the column is absent.", f"{_DEFAULTS}: test_a_default_value_would_overwrite_what_a_row_leaves_out", _default("new", spec__mergeEngine={"type": "FirstRow"}),
        WrongManifest("a default that would overwrite", _default("new", spec__mergeEngine={"type": "PartialUpdate"}), "spec.schema.columns", "it would merge into rows")),
    TableRule("default-nullable", "A column with a default value allows NULL.", f"{_DEFAULTS}: test_a_column_that_is_not_null_gets_no_default_value", _default("1", spec__schema__columns__2__type="INT"),
        WrongManifest("a default of a column that is never NULL", _default("1", spec__schema__columns__2__type="INT NOT NULL"), "spec.schema.columns[2].defaultValue", "that is NOT NULL")),
    TableRule("default-type", "Columns of nested and binary types and TIMESTAMP_LTZ have no default value.", "ours: the text would have no single meaning", _default("2026-01-31 12:00:00", 5),
        WrongManifest("a default of a list", _default("[]", 4), "spec.schema.columns[4].defaultValue", "must not have a defaultValue")),
    TableRule("default-decimal", "A default value fits its type without rounding.", _VALUE, _default("9999999999.99", 3),
        later("a default with more digits than its column", _default("1.555", 3), "spec.schema.columns[3].defaultValue", "is no value of type DECIMAL(12,2)")),
    TableRule("default-whole", "A default value of an integer is a whole number in its range.", _VALUE, _default("-128", spec__schema__columns__2__type="TINYINT"),
        later("a default that is a fraction", _default("1.5", spec__schema__columns__2__type="INT"), "spec.schema.columns[2].defaultValue", "is no value of type INT")),
    TableRule("default-time", "A default value of a time has a space between date and time.", _VALUE, _default("2026-01-31 12:00:00.123456", 5),
        later("a default with a T in its time", _default("2026-01-31T12:00:00", 5), "spec.schema.columns[5].defaultValue", "is no value of type TIMESTAMP(6)")),
    TableRule("default-quotes", "A default text has no quotes around it: Paimon takes them off.", _VALUE, _default("it's"),
        later("a default in quotes", _default("'new'"), "spec.schema.columns[2].defaultValue", "without quotes")),
    TableRule("default-engine", "The engine must store default values.", f"{_DEFAULTS}: test_an_engine_without_default_values_stores_null", _default("new"),
        later("a default value on an engine without them", _default("new"), "spec.schema.columns[2].defaultValue", "paimon-0.9", "UnsupportedByEngine", engine="paimon-0.9")),
]  # fmt: skip
