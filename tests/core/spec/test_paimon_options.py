"""The Paimon options of a manifest, and the values that an option accepts."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from typing import Any

import pytest

from paimon_engines.bounds import ValueKind
from paimon_engines.engine import Option
from paimon_operator.api.reasons import Reason
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.option_values import value_problem
from paimon_operator.core.spec.paimon_options import field_of_option, table_options
from paimon_operator.core.validation.table import broken_rules
from tests.support import builders


def options_of(**spec: Any) -> dict[str, str]:
    context = builders.context(builders.table(**spec))
    return table_options(context.spec, context.effective)


def with_aggregate(**aggregate: Any) -> dict[str, Any]:
    column = {"name": "v", "type": "STRING", "aggregate": aggregate}
    schema = {"columns": [{"name": "k", "type": "INT"}, column], "primaryKeys": ["k"]}
    return {"schema": schema, "mergeEngine": {"type": "Aggregation"}}


AUTOMATIC = {"bucket": "-1"}
PARTITIONED: dict[str, Any] = {"columns": [{"name": "dt", "type": "STRING"}], "partitionKeys": ["dt"]}
GROUPS: dict[str, Any] = {
    "type": "PartialUpdate",
    "partialUpdate": {"sequenceGroups": [{"sequenceFields": ["a", "b"], "columns": ["c", "d"]}]},
}


@pytest.mark.parametrize(
    ("sentence", "spec", "expected"),
    [
        ("a minimal table sets only its buckets", {}, AUTOMATIC),
        ("an append table sets only its buckets", {"schema": builders.EVENTS}, AUTOMATIC),
        ("Dynamic and Unaware are the same number", {"bucket": {"type": "Dynamic"}}, AUTOMATIC),
        ("a fixed number", {"bucket": {"type": "Fixed", "fixed": {"count": 4}}}, {"bucket": "4"}),
        ("with bucket keys in their order", {"bucket": {"type": "Fixed", "fixed": {"count": 4, "keys": ["b", "a"]}}}, {"bucket": "4", "bucket-key": "b,a"}),
        ("Paimon's default engine is not written", {"mergeEngine": {"type": "Deduplicate"}}, AUTOMATIC),
        ("other engines are", {"mergeEngine": {"type": "FirstRow", "ignoreDelete": True}}, AUTOMATIC | {"merge-engine": "first-row", "ignore-delete": "true"}),
        ("false is the default", {"mergeEngine": {"type": "Aggregation", "ignoreDelete": False}}, AUTOMATIC | {"merge-engine": "aggregation"}),
        ("sequence groups", {"mergeEngine": GROUPS}, AUTOMATIC | {"merge-engine": "partial-update", "fields.a,b.sequence-group": "c,d"}),
        ("a sequence", {"sequence": {"fields": ["at", "n"]}}, AUTOMATIC | {"sequence.field": "at,n"}),
        ("ascending is the default", {"sequence": {"fields": ["at"], "sortOrder": "Ascending"}}, AUTOMATIC | {"sequence.field": "at"}),
        ("descending", {"sequence": {"fields": ["at"], "sortOrder": "Descending"}}, AUTOMATIC | {"sequence.field": "at", "sequence.field.sort-order": "descending"}),
        ("an aggregate", with_aggregate(function="sum", ignoreRetract=True), AUTOMATIC | {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum", "fields.v.ignore-retract": "true"}),
        ("listagg", with_aggregate(function="listagg", delimiter=";", distinct=True), AUTOMATIC | {"merge-engine": "aggregation", "fields.v.aggregate-function": "listagg", "fields.v.list-agg-delimiter": ";", "fields.v.distinct": "true"}),
        ("nested rows", with_aggregate(function="nested_update", nestedKey=["a", "b"], countLimit=9), AUTOMATIC | {"merge-engine": "aggregation", "fields.v.aggregate-function": "nested_update", "fields.v.nested-key": "a,b", "fields.v.count-limit": "9"}),
        ("no changelog is the default", {"changelogProducer": {"type": "None"}}, AUTOMATIC),
        ("a changelog by lookup", {"changelogProducer": {"type": "Lookup", "rowDeduplicate": True}}, AUTOMATIC | {"changelog-producer": "lookup", "changelog-producer.row-deduplicate": "true"}),
        ("a changelog by compaction", {"changelogProducer": {"type": "FullCompaction", "fullCompaction": {"deltaCommits": 5}}}, AUTOMATIC | {"changelog-producer": "full-compaction", "full-compaction.delta-commits": "5"}),
        ("dedicated compaction stops the writers'", {"compaction": {"mode": "Dedicated"}}, AUTOMATIC | {"write-only": "true"}),
        ("external compaction stops the writers' too", {"compaction": {"mode": "External"}}, AUTOMATIC | {"write-only": "true"}),
        ("consumers that expire", {"retention": {"consumers": {"expirationTime": "7d"}}}, AUTOMATIC | {"consumer.expiration-time": "7 d"}),
        ("records that expire", {"retention": {"records": {"expireTime": "90d", "timeField": "order_id"}}}, AUTOMATIC | {"record-level.expire-time": "90 d", "record-level.time-field": "order_id"}),
        ("changelogs that are kept longer", {"changelogProducer": {"type": "Input"}, "retention": {"changelogs": {"timeRetained": "3d"}}}, AUTOMATIC | {"changelog-producer": "input", "changelog.time-retained": "3 d"}),
        ("and not only as many as snapshots", {"changelogProducer": {"type": "Input"}, "retention": {"changelogs": {"timeRetained": "3d"}, "snapshots": {"numRetainedMax": 50}}}, AUTOMATIC | {"changelog-producer": "input", "changelog.time-retained": "3 d", "changelog.num-retained.max": "2147483647", "snapshot.num-retained.max": "50"}),
        ("partitions expire by runs only", {"schema": PARTITIONED, "retention": {"partitions": {"expirationTime": "365d"}}}, AUTOMATIC),
        ("automatic tags", {"tags": {"automaticCreation": "ProcessTime", "creationPeriod": "TwoHours", "creationDelay": "10m", "numRetainedMax": 30, "defaultTimeRetained": "7d"}}, AUTOMATIC | {"tag.automatic-creation": "process-time", "tag.creation-period": "two-hours", "tag.creation-delay": "10 min", "tag.num-retained-max": "30", "tag.default-time-retained": "7 d"}),
        ("tags of batches", {"tags": {"automaticCreation": "Batch"}}, AUTOMATIC | {"tag.automatic-creation": "batch"}),
        ("retention in Paimon's words", {"retention": {"snapshots": {"timeRetained": "90m", "numRetainedMin": 5, "numRetainedMax": 50}}}, AUTOMATIC | {"snapshot.time-retained": "90 min", "snapshot.num-retained.min": "5", "snapshot.num-retained.max": "50"}),
        ("postponed buckets", {"bucket": {"type": "Postpone"}}, {"bucket": "-2"}),
        ("deletion vectors", {"deletionVectors": {"enabled": True}}, AUTOMATIC | {"deletion-vectors.enabled": "true"}),
        ("no deletion vectors are the default", {"deletionVectors": {"enabled": False}}, AUTOMATIC),
        ("a name for partitions without a value", {"schema": builders.ORDERS | {"partitionDefaultName": "none"}}, AUTOMATIC | {"partition.default-name": "none"}),
        ("row kinds by a column", {"mergeEngine": {"type": "Deduplicate", "rowKindField": "op", "ignoreUpdateBefore": True}}, AUTOMATIC | {"rowkind.field": "op", "ignore-update-before": "true"}),
        ("deletes that remove rows", {"mergeEngine": {"type": "PartialUpdate", "partialUpdate": {"removeRecordOnDelete": True}}}, AUTOMATIC | {"merge-engine": "partial-update", "partial-update.remove-record-on-delete": "true"}),
        ("deletes that remove rows of groups", {"mergeEngine": GROUPS | {"partialUpdate": GROUPS["partialUpdate"] | {"removeRecordOnSequenceGroup": ["a", "b"]}}}, AUTOMATIC | {"merge-engine": "partial-update", "fields.a,b.sequence-group": "c,d", "partial-update.remove-record-on-sequence-group": "a,b"}),
        ("deletes that remove aggregates", {"mergeEngine": {"type": "Aggregation", "aggregation": {"removeRecordOnDelete": True}}}, AUTOMATIC | {"merge-engine": "aggregation", "aggregation.remove-record-on-delete": "true"}),
        ("a default value is no option", {"schema": {"columns": [{"name": "v", "type": "INT", "defaultValue": "7"}]}}, AUTOMATIC),
        ("free options are unchanged", {"options": {"file.compression": "lz4"}}, AUTOMATIC | {"file.compression": "lz4"}),
    ],
)  # fmt: skip
def test_a_manifest_has_its_paimon_options(sentence: str, spec: dict[str, Any], expected: dict[str, str]) -> None:
    assert options_of(**spec) == expected, sentence
    typed = expected.keys() - spec.get("options", {}).keys()
    assert [key for key in typed if field_of_option(key) == f"spec.options[{key}]"] == [], "a field makes each of them"


def test_the_cache_of_lookups_is_set_in_the_words_of_paimons_defaults() -> None:
    lookup = {"cacheMaxMemorySize": "1Gi", "cacheMaxDiskSize": "512Mi", "cacheFileRetention": "1h"}
    assert options_of(changelogProducer={"type": "Lookup", "lookup": lookup}) == AUTOMATIC | {
        "changelog-producer": "lookup",
        "lookup.cache-max-memory-size": "1024 mb",
        "lookup.cache-max-disk-size": "512 mb",
        "lookup.cache-file-retention": "1 h",
    }


def test_retention_that_the_catalog_gives_becomes_the_tables_option() -> None:
    catalog = builders.catalog(tableDefaults={"retention": {"snapshots": {"timeRetained": "7d"}}})
    context = builders.context(builders.table(), catalog)
    assert table_options(context.spec, context.effective) == {"bucket": "-1", "snapshot.time-retained": "7 d"}


@pytest.mark.parametrize("engine", ["paimon-0.9", "paimon-1.4"])
def test_every_option_that_a_typed_field_can_set_is_known_to_every_engine_or_refused(engine: str) -> None:
    """An option that a future engine does not know is refused before Spark."""
    known = builders.engines()[engine].options
    lacking = {"sequence.field.sort-order"} - known.keys()
    spec: dict[str, Any] = {"sequence": {"fields": ["amount"], "sortOrder": "Descending"}}
    context = TableContext.build(
        builders.table(**spec), builders.catalog(engine=engine), builders.operator_facts(), builders.NOW
    )
    assert {error.reason for error in broken_rules(context)} == ({Reason.UNSUPPORTED_BY_ENGINE} if lacking else set())


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        (ValueKind.BOOLEAN, ["true", "FALSE"], ["yes", "1", ""]),
        (ValueKind.INTEGER, ["0", "-1", "+7", "2147483647"], ["2147483648", "1.5", "one", "", "1e3", "٣"]),
        (ValueKind.LONG, ["9223372036854775807"], ["9223372036854775808", "x"]),
        (ValueKind.DOUBLE, ["0.5", "1", ".5", "1e-3"], ["half", "1e", "."]),
        (ValueKind.DURATION, ["10 min", "1h", "90s", "5", "2 days", "100 ms"], ["1h30m", "soon", "-1 h", "1.5 h"]),
        (ValueKind.SIZE, ["128 mb", "64kb", "1 GB", "512"], ["lots", "1.5 gb", "-1 mb"]),
        (ValueKind.TEXT, ["anything", ""], []),
    ],
)
def test_each_kind_accepts_its_values_and_refuses_others(kind: ValueKind, right: list[str], wrong: list[str]) -> None:
    option = Option(key="x", kind=kind, default=None, values=(), immutable=False)
    assert [text for text in right if value_problem(option, text)] == []
    assert [text for text in wrong if not value_problem(option, text)] == []


@pytest.mark.parametrize("engine", ["paimon-0.9", "paimon-1.4"])
def test_every_default_of_every_engine_is_a_valid_value(engine: str) -> None:
    """Paimon reads all its defaults, so the value rules must accept them."""
    options = builders.engines()[engine].options.values()
    refused = {o.key: o.default for o in options if o.default is not None and value_problem(o, o.default)}
    assert refused == {}
