"""The manifest of an existing table, and the tables that have none."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from typing import Any

import pytest

from paimon_contract.description import DescribedTable
from paimon_operator.core.export.export import Export, export
from tests.core.export.schema_files import APPEND, KEYED, schema_file
from tests.support import builders


def exported(schema: str | None, *, table: str = "orders", engine: str = "paimon-1.4", **catalog: Any) -> Export:
    described = DescribedTable(database="shop", name=table, schema=schema)
    return export(described, builders.catalog(**catalog), builders.engines()[engine], builders.NOW)


def spec_of(found: Export) -> dict[str, Any]:
    """What the export says beside identity, columns and keys."""
    assert found.problems == ()
    assert found.manifest is not None
    usual = ("catalogRef", "database", "table", "schema", "adoptionPolicy")
    return {key: value for key, value in found.manifest["spec"].items() if key not in usual}


def test_the_manifest_of_a_table_has_nothing_that_is_a_default() -> None:
    text = schema_file(
        **KEYED,
        options={
            "bucket": "-1",
            "path": "s3://lake/warehouse/shop.db/orders",
            "file.format": "parquet",
            "write-only": "FALSE",
        },
    )
    assert exported(text).manifest == {
        "apiVersion": "paimon-operator.dev/v1alpha1",
        "kind": "PaimonTable",
        "metadata": {"name": "orders", "namespace": "shop"},
        "spec": {
            "catalogRef": {"name": "lake"},
            "database": "shop",
            "table": "orders",
            "schema": {
                "columns": [{"name": "id", "type": "BIGINT"}, {"name": "v", "type": "STRING"}],
                "primaryKeys": ["id"],
            },
            "adoptionPolicy": "AdoptIfIdentical",
        },
    }


@pytest.mark.parametrize(
    ("sentence", "table", "options", "expected"),
    [
        ("a number of buckets", KEYED, {"bucket": "4"}, {"bucket": {"type": "Fixed", "fixed": {"count": 4}}}),
        ("and their keys", APPEND, {"bucket": "4", "bucket-key": "v"}, {"bucket": {"type": "Fixed", "fixed": {"count": 4, "keys": ["v"]}}}),
        ("automatic buckets are the default", APPEND, {"bucket": "-1"}, {}),
        ("another merge engine", KEYED, {"merge-engine": "First-Row"}, {"mergeEngine": {"type": "FirstRow"}}),
        ("ignore-delete by its older name", KEYED, {"deduplicate.ignore-delete": "true"}, {"mergeEngine": {"type": "Deduplicate", "ignoreDelete": True}}),
        ("false is the default", KEYED, {"ignore-delete": "false"}, {}),
        ("sequence groups", KEYED, {"merge-engine": "partial-update", "fields.s.sequence-group": "v"}, {"mergeEngine": {"type": "PartialUpdate", "partialUpdate": {"sequenceGroups": [{"sequenceFields": ["s"], "columns": ["v"]}]}}}),
        ("partial updates by deletes", KEYED, {"merge-engine": "partial-update", "partial-update.remove-record-on-delete": "true"}, {"mergeEngine": {"type": "PartialUpdate", "partialUpdate": {"removeRecordOnDelete": True}}}),
        ("row kinds", KEYED, {"rowkind.field": "v"}, {"mergeEngine": {"type": "Deduplicate", "rowKindField": "v"}}),
        ("a sequence", KEYED, {"sequence.field": "s", "sequence.field.sort-order": "descending"}, {"sequence": {"fields": ["s"], "sortOrder": "Descending"}}),
        ("a changelog by lookup, with its cache", KEYED, {"changelog-producer": "lookup", "lookup.cache-max-memory-size": "512 mb", "lookup.cache-file-retention": "90 min"}, {"changelogProducer": {"type": "Lookup", "lookup": {"cacheMaxMemorySize": "512Mi", "cacheFileRetention": "90m"}}}),
        ("a cache without a changelog", KEYED, {"lookup.cache-max-memory-size": "512 mb"}, {"options": {"lookup.cache-max-memory-size": "512 mb"}}),
        ("a changelog by compaction", KEYED, {"changelog-producer": "full-compaction", "full-compaction.delta-commits": "5", "changelog-producer.row-deduplicate": "true"}, {"changelogProducer": {"type": "FullCompaction", "rowDeduplicate": True, "fullCompaction": {"deltaCommits": 5}}}),
        ("deletion vectors", KEYED, {"deletion-vectors.enabled": "true"}, {"deletionVectors": {"enabled": True}}),
        ("writers that do not compact", KEYED, {"write-only": "true"}, {"compaction": {"mode": "External"}}),
        ("the same by its older name", KEYED, {"write.compaction-skip": "TRUE"}, {"compaction": {"mode": "External"}}),
        ("retention", KEYED, {"snapshot.time-retained": "24 h", "snapshot.num-retained.max": "50"}, {"retention": {"snapshots": {"timeRetained": "1d", "numRetainedMax": 50}}}),
        ("retention that means the default", KEYED, {"snapshot.time-retained": "60 min"}, {}),
        ("changelogs that are kept longer", KEYED, {"changelog-producer": "input", "changelog.time-retained": "3 d"}, {"changelogProducer": {"type": "Input"}, "retention": {"changelogs": {"timeRetained": "3d"}}}),
        ("consumers that expire", APPEND, {"consumer.expiration-time": "7 d"}, {"retention": {"consumers": {"expirationTime": "7d"}}}),
        ("records that expire", KEYED, {"record-level.expire-time": "90 d", "record-level.time-field": "s"}, {"retention": {"records": {"expireTime": "90d", "timeField": "s"}}}),
        ("automatic tags", APPEND, {"tag.automatic-creation": "Process-Time", "tag.creation-period": "hourly", "tag.creation-delay": "10 min", "tag.num-retained-max": "30", "tag.default-time-retained": "30 d"}, {"tags": {"automaticCreation": "ProcessTime", "creationPeriod": "Hourly", "creationDelay": "10m", "numRetainedMax": 30, "defaultTimeRetained": "30d"}}),
        ("tags by the watermarks of other writers", APPEND, {"tag.automatic-creation": "watermark"}, {"tags": {"automaticCreation": "Watermark"}, "externalWriters": "Active"}),
        ("those of a table that allows one writer", KEYED, {"tag.automatic-creation": "watermark"}, {"tags": {"automaticCreation": "Watermark"}, "externalWriters": "Paused"}),
        ("postponed buckets", KEYED, {"bucket": "-2", "write-only": "true"}, {"bucket": {"type": "Postpone"}, "compaction": {"mode": "External"}}),
        ("other options", KEYED, {"file.format": "orc", "file-index.bloom-filter.columns": "v", "target-file-size": "1 gb"}, {"options": {"file.format": "orc", "file-index.bloom-filter.columns": "v", "target-file-size": "1 gb"}}),
        ("properties that mean nothing to Paimon", KEYED, {"transient_lastDdlTime": "1", "sink.parallelism": "4"}, {}),
    ],
)  # fmt: skip
def test_options_become_fields(sentence: str, table: dict[str, Any], options: dict[str, str], expected: Any) -> None:
    fields = [*table["fields"], ("s", "INT")]
    found = exported(schema_file(fields, table.get("keys"), options=options))
    assert spec_of(found) == expected, sentence


@pytest.mark.parametrize("none", [None, "", "null"])
def test_a_table_without_a_comment_gets_none_by_whatever_program_it_was_made(none: str | None) -> None:
    found = exported(schema_file(**KEYED, comment=none))
    assert found.manifest is not None
    assert "comment" not in found.manifest["spec"]["schema"]


def test_columns_have_their_types_comments_defaults_and_aggregates() -> None:
    nested = {"type": "ARRAY NOT NULL", "element": {"type": "ROW", "fields": [{"id": 9, "name": "n", "type": "INT"}]}}
    options = {
        "merge-engine": "aggregation",
        "fields.v.aggregate-function": "listagg",
        "fields.v.list-agg-delimiter": ";",
        "fields.v.distinct": "true",
    }
    text = schema_file(
        [("id", "INT NOT NULL"), ("v", "STRING"), ("tags", nested)],
        ["id"],
        comment="all orders",
        options=options,
        v={"description": "the text"},
    )
    found = exported(text)
    assert spec_of(found) == {"mergeEngine": {"type": "Aggregation"}}
    assert found.manifest is not None
    assert found.manifest["spec"]["schema"] == {
        "comment": "all orders",
        "columns": [
            {"name": "id", "type": "INT"},
            {"name": "v", "type": "STRING", "comment": "the text", "aggregate": {"function": "listagg", "delimiter": ";", "distinct": True}},
            {"name": "tags", "type": "ARRAY<ROW<n INT>> NOT NULL"},
        ],
        "primaryKeys": ["id"],
    }  # fmt: skip


def test_a_default_value_and_the_name_of_the_default_partition_are_fields() -> None:
    text = schema_file(
        [("dt", "STRING"), ("state", "STRING")],
        partitions=["dt"],
        options={"partition.default-name": "none"},
        state={"defaultValue": "new"},
    )
    found = exported(text).manifest
    assert found is not None
    assert found["spec"]["schema"]["partitionDefaultName"] == "none"
    assert found["spec"]["schema"]["columns"][1] == {"name": "state", "type": "STRING", "defaultValue": "new"}


@pytest.mark.parametrize(
    ("sentence", "defaults", "options", "expected"),
    [
        ("writers compact, unlike the catalog's tables", {"compaction": {"mode": "Dedicated"}}, {}, {"compaction": {"mode": "Inline"}}),
        ("writers do not compact, as the catalog says", {"compaction": {"mode": "Dedicated"}}, {"write-only": "true"}, {}),
        ("the catalog's retention is the table's", {"retention": {"snapshots": {"timeRetained": "2d"}}}, {"snapshot.time-retained": "48 h"}, {}),
        ("the table has none", {"retention": {"snapshots": {"timeRetained": "2d"}}}, {}, {"retention": {"snapshots": {}}}),
        ("the table has another one", {"retention": {"snapshots": {"timeRetained": "2d"}}}, {"snapshot.num-retained.min": "20"}, {"retention": {"snapshots": {"numRetainedMin": 20}}}),
    ],
)  # fmt: skip
def test_the_defaults_of_the_catalog_do_not_alter_a_table(
    sentence: str, defaults: Any, options: dict[str, str], expected: Any
) -> None:
    found = exported(schema_file(**KEYED, options=options), tableDefaults=defaults)
    assert spec_of(found) == expected, sentence


ROW_WITH_COMMENT = {"type": "ROW", "fields": [{"id": 7, "name": "n", "type": "INT", "description": "how many"}]}


@pytest.mark.parametrize(
    ("sentence", "fields", "options", "field", "problem"),
    [
        ("a type that Spark does not have", [("at", "TIME(3)")], {}, "spec.schema.columns[0].type", "column at: Spark 3.5 has no type for TIME(3)"),
        ("a timestamp of nanoseconds", [("at", "TIMESTAMP(9)")], {}, "spec.schema.columns[0].type", "Spark's timestamps have 6 digits"),
        ("a type of a newer Paimon", [("at", "GEOMETRY")], {}, "spec.schema.columns[0].type", "'GEOMETRY' cannot stand in a manifest"),
        ("the name of a nested field", [("r", {"type": "ROW", "fields": [{"id": 1, "name": "a b", "type": "INT"}]})], {}, "spec.schema.columns[0].type", "cannot stand in a manifest"),
        ("the name of a column", [("größe", "INT")], {}, "spec.schema.columns[0].name", "'größe' cannot stand in a manifest"),
        ("a reserved name", [("_LEVEL", "INT")], {}, "spec.schema.columns[0].name", ""),
        ("a value of a typed option that no field holds", [("id", "INT")], {"snapshot.time-retained": "1500 ms"}, "spec.retention.snapshots.timeRetained", "the table has snapshot.time-retained=1500 ms"),
        ("an option of old manuals", [("id", "INT")], {"fields.default-aggregate-function": "sum"}, "spec.options[fields.default-aggregate-function]", "no manifest can say fields.default-aggregate-function=sum"),
        ("an index of a column that is gone", [("id", "INT")], {"file-index.bloom-filter.columns": "gone"}, "spec.options[file-index.bloom-filter.columns]", "'gone' is not a column"),
        ("no schema file", None, {}, "spec.table", "it is a view"),
    ],
)  # fmt: skip
def test_a_table_that_a_manifest_would_alter_has_a_reason(
    sentence: str, fields: Any, options: dict[str, str], field: str, problem: str
) -> None:
    if fields is None:
        described = DescribedTable(database="shop", name="v", problem=problem)
        found = export(described, builders.catalog(), builders.engines()["paimon-1.4"], builders.NOW)
    else:
        found = exported(schema_file(fields, options=options))
    first = found.problems[0]
    assert (first.field, first.stays) == (field, first.stays), sentence
    assert problem in first.problem
    assert first.remedy.endswith(".")


@pytest.mark.parametrize(
    ("sentence", "fields", "options", "field"),
    [
        ("an option that no manifest sets", [("id", "INT")], {"tag.automatic-completion": "true"}, "spec.options[tag.automatic-completion]"),
        ("partitions that writers drop", [("id", "INT")], {"partition.expiration-time": "7 d"}, "spec.retention.partitions.expirationTime"),
        ("a comment of a nested field", [("r", ROW_WITH_COMMENT)], {}, "spec.schema.columns[r].type"),
        ("one inside of an array", [("r", {"type": "ARRAY", "element": ROW_WITH_COMMENT})], {}, "spec.schema.columns[r].type"),
    ],
)  # fmt: skip
def test_a_table_that_differs_only_in_what_adopt_keeps_has_the_manifest_that_does_it(
    sentence: str, fields: Any, options: dict[str, str], field: str
) -> None:
    found = exported(schema_file(fields, options=options))
    assert [(each.field, each.stays) for each in found.problems] == [(field, True)], sentence
    assert "Set adoptionPolicy to Adopt" in found.problems[0].remedy
    assert found.manifest is not None
    assert found.manifest["spec"]["adoptionPolicy"] == "Adopt"


def test_a_table_has_its_owner_beside_it_and_the_owners_name_in_this_namespace() -> None:
    mark = {"paimon-operator.owner": "kube-system-uid/shop/all-orders"}
    found = exported(schema_file(**KEYED, options=mark))
    assert found.owner == "kube-system-uid/shop/all-orders"
    assert found.manifest is not None
    assert found.manifest["metadata"]["name"] == "all-orders"
    elsewhere = exported(schema_file(**KEYED, options={"paimon-operator.owner": "kube-system-uid/web/all-orders"}))
    assert elsewhere.manifest is not None
    assert elsewhere.manifest["metadata"]["name"] == "orders"


def test_a_default_that_an_earlier_manifest_set_is_declared_again() -> None:
    marks = {"paimon-operator.options": "bucket,file.format", "bucket": "-1", "file.format": "parquet"}
    assert spec_of(exported(schema_file(**KEYED, options=marks))) == {"options": {"file.format": "parquet"}}


def test_what_the_engine_lacks_is_a_reason() -> None:
    found = exported(schema_file(**KEYED, options={"bucket": "-2", "write-only": "true"}), engine="paimon-0.9")
    assert "has no buckets of type Postpone" in found.problems[0].problem


def test_an_option_that_only_a_newer_engine_knows_is_no_property_of_others() -> None:
    options = {"sequence.field": "v", "sequence.field.sort-order": "descending", "transient_lastDdlTime": "1"}
    found = exported(schema_file(**KEYED, options=options), engine="paimon-0.9")
    assert found.kept == ("transient_lastDdlTime",)
    assert [each.field for each in found.problems] == ["spec.sequence.sortOrder"]
