"""Every rule of reconcile: a manifest that breaks it, the reported field and the message."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.columns import TYPE_WORDS, AggregateFunction
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core.validation.catalog import catalog_problems
from paimon_operator.core.validation.table import broken_rules
from paimon_operator.errors import SpecError
from tests.support import builders
from tests.support.table_rules.marks import MARKS
from tests.support.table_world import TableWorld
from tests.support.wrong_manifest import WrongManifest
from tests.support.wrong_manifests import STALLED_IN_RECONCILE

KEYED = builders.ORDERS
APPEND = builders.EVENTS


def columns(*types: str, **more: Any) -> dict[str, Any]:
    """A schema keyed by `k`, with columns c0, c1, ... of these types."""
    named = [{"name": f"c{number}", "type": text} for number, text in enumerate(types)]
    return {"columns": [{"name": "k", "type": "BIGINT"}, *named], "primaryKeys": ["k"], **more}


def aggregated(type_: str, **aggregate: Any) -> dict[str, Any]:
    """A keyed schema whose column c0 has an aggregate."""
    schema = columns(type_)
    schema["columns"][1]["aggregate"] = aggregate
    return schema


def broken(engine: str = "paimon-1.4", catalog: dict[str, Any] | None = None, **spec: Any) -> list[SpecError]:
    table = builders.table(**spec)
    seen = builders.catalog(engine=engine, **(catalog or {}))
    return list(broken_rules(builders.context(table, seen)))


AGGREGATION = {"type": "Aggregation"}


def groups(*pairs: tuple[list[str], list[str]]) -> dict[str, Any]:
    listed = [{"sequenceFields": order, "columns": members} for order, members in pairs]
    return {"type": "PartialUpdate", "partialUpdate": {"sequenceGroups": listed}}


RIGHT: list[tuple[str, dict[str, Any]]] = [
    ("a keyed table", {}),
    ("an append table", {"schema": APPEND}),
    ("an append table with fixed buckets", {"schema": APPEND, "bucket": {"type": "Fixed", "fixed": {"count": 4, "keys": ["what"]}}}),
    ("bucket keys inside the primary key", {"schema": columns("INT", primaryKeys=["k", "c0"]), "bucket": {"type": "Fixed", "fixed": {"count": 4, "keys": ["c0"]}}}),
    ("a partition inside the primary key", {"schema": columns("STRING", primaryKeys=["c0", "k"], partitionKeys=["c0"])}),
    ("sum on a decimal", {"schema": aggregated("DECIMAL(12,2)", function="sum"), "mergeEngine": AGGREGATION}),
    ("nested_update on rows by one of their fields", {"schema": aggregated("ARRAY<ROW<sku STRING, n INT>>", function="nested_update", nestedKey=["sku"]), "mergeEngine": AGGREGATION}),
    ("max on bytes of a length", {"schema": aggregated("VARBINARY(5)", function="max"), "mergeEngine": AGGREGATION}),
    ("listagg on texts", {"schema": aggregated("STRING", function="listagg", delimiter=";", distinct=True), "mergeEngine": AGGREGATION}),
    ("an aggregate in a sequence group", {"schema": {**aggregated("INT", function="sum"), "columns": [*aggregated("INT", function="sum")["columns"], {"name": "v", "type": "INT"}]}, "mergeEngine": groups((["v"], ["c0"]))}),
    ("last_non_null_value outside every group", {"schema": aggregated("INT", function="last_non_null_value"), "mergeEngine": {"type": "PartialUpdate"}}),
    ("a sequence of two fields", {"schema": columns("TIMESTAMP(6)", "INT"), "sequence": {"fields": ["c0", "c1"]}}),
    ("FirstRow with a lookup changelog", {"mergeEngine": {"type": "FirstRow"}, "changelogProducer": {"type": "Lookup"}}),
    ("a known option with a readable value", {"options": {"target-file-size": "128 mb", "num-sorted-run.compaction-trigger": "8", "sort-engine": "loser-tree"}}),
    ("a known option by an older name", {"options": {"lookup-wait": "false", "write-buffer-spillable": "TRUE"}}),
    ("numRetainedMax at Paimon's own minimum", {"retention": {"snapshots": {"numRetainedMax": 10}}}),
    ("a write from a known location", {"writes": [builders.write()]}),
]  # fmt: skip


@pytest.mark.parametrize("engine", ["paimon-0.9", "paimon-1.4"])
@pytest.mark.parametrize(("sentence", "spec"), RIGHT)
def test_valid_manifests_break_no_rule(sentence: str, spec: dict[str, Any], engine: str) -> None:
    assert broken(engine, **spec) == [], sentence


WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    ("an unknown type", {"schema": columns("MAP<STRING>")}, "spec.schema.columns[1].type", "',' belongs"),
    ("a bare timestamp", {"schema": columns("TIMESTAMP")}, "spec.schema.columns[1].type", "one thing to Spark and another to Paimon"),
    ("a precision that Spark has not", {"schema": columns("TIMESTAMP(9)")}, "spec.schema.columns[1].type", "6 digits"),
    ("columns that differ in case", {"schema": {"columns": [{"name": "a", "type": "INT"}, {"name": "A", "type": "INT"}]}}, "spec.schema.columns[1].name", "case only"),
    ("the same column twice", {"schema": {"columns": [{"name": "a", "type": "INT"}, {"name": "a", "type": "INT"}]}}, "spec.schema.columns[1].name", "two columns"),
    ("a name of Paimon's", {"schema": {"columns": [{"name": "_VALUE_KIND", "type": "INT"}]}}, "spec.schema.columns[0].name", "keeps the name"),
    ("a name with Paimon's prefix", {"schema": {"columns": [{"name": "_KEY_x", "type": "INT"}]}}, "spec.schema.columns[0].name", "keeps the name"),
    ("a key that is no column", {"schema": columns("INT", primaryKeys=["k", "id"])}, "spec.schema.primaryKeys[1]", "not a column"),
    ("a key in another case", {"schema": columns("INT", primaryKeys=["K"])}, "spec.schema.primaryKeys[0]", "Write 'k'"),
    ("a key twice", {"schema": columns("INT", primaryKeys=["k", "k"])}, "spec.schema.primaryKeys[1]", "twice"),
    ("a nested key", {"schema": columns("ARRAY<INT>", primaryKeys=["k", "c0"])}, "spec.schema.primaryKeys[1]", "cannot be a primary key"),
    ("a partition that is no column", {"schema": columns("INT", partitionKeys=["dt"])}, "spec.schema.partitionKeys[0]", "not a column"),
    ("a nested partition", {"schema": {"columns": [{"name": "p", "type": "MAP<INT, INT>"}], "partitionKeys": ["p"]}}, "spec.schema.partitionKeys[0]", "cannot be a partition key"),
    ("a partition outside the primary key", {"schema": columns("STRING", partitionKeys=["c0"])}, "spec.schema.partitionKeys[0]", "not part of the primary key"),
    ("a primary key of partitions only", {"schema": columns("INT", partitionKeys=["k"])}, "spec.schema.primaryKeys", "one row"),
    ("dynamic buckets without keys", {"schema": APPEND, "bucket": {"type": "Dynamic"}}, "spec.bucket.type", "needs a primary key"),
    ("no buckets with keys", {"bucket": {"type": "Unaware"}}, "spec.bucket.type", "no place for a primary key"),
    ("fixed buckets without a count", {"bucket": {"type": "Fixed"}}, "spec.bucket.fixed", "no count"),
    ("fixed buckets of nothing", {"schema": APPEND, "bucket": {"type": "Fixed", "fixed": {"count": 2}}}, "spec.bucket.fixed.keys", "needs bucket keys"),
    ("a bucket key that is no column", {"bucket": {"type": "Fixed", "fixed": {"count": 2, "keys": ["x"]}}}, "spec.bucket.fixed.keys[0]", "not a column"),
    ("a bucket key outside the primary key", {"bucket": {"type": "Fixed", "fixed": {"count": 2, "keys": ["note"]}}}, "spec.bucket.fixed.keys", "not part of the primary key"),
    ("a bucket key that is a partition", {"schema": columns("STRING", primaryKeys=["k", "c0"], partitionKeys=["c0"]), "bucket": {"type": "Fixed", "fixed": {"count": 2, "keys": ["c0"]}}}, "spec.bucket.fixed.keys", "same for all rows"),
    ("a nested bucket key", {"schema": {"columns": [{"name": "a", "type": "ROW<x INT>"}]}, "bucket": {"type": "Fixed", "fixed": {"count": 2, "keys": ["a"]}}}, "spec.bucket.fixed.keys[0]", "cannot be a bucket key"),
    ("outside writers on dynamic buckets", {"externalWriters": "Active"}, "spec.externalWriters", "one writer only"),
    ("a merge engine without keys", {"schema": APPEND, "mergeEngine": {"type": "Deduplicate"}}, "spec.mergeEngine", "by primary key"),
    ("a sequence without keys", {"schema": APPEND, "sequence": {"fields": ["at"]}}, "spec.sequence", "by primary key"),
    ("an aggregate that nobody reads", {"schema": aggregated("INT", function="sum")}, "spec.schema.columns[1].aggregate", "ignore this without a word"),
    ("an aggregate on a key", {"schema": {"columns": [{"name": "k", "type": "INT", "aggregate": {"function": "max"}}], "primaryKeys": ["k"]}, "mergeEngine": AGGREGATION}, "spec.schema.columns[0].aggregate", "primary key"),
    ("sum on a text", {"schema": aggregated("STRING", function="sum"), "mergeEngine": AGGREGATION}, "spec.schema.columns[1].aggregate.function", "sum cannot merge STRING"),
    ("bool_and on a number", {"schema": aggregated("INT", function="bool_and"), "mergeEngine": AGGREGATION}, "spec.schema.columns[1].aggregate.function", "BOOLEAN"),
    ("collect on a scalar", {"schema": aggregated("INT", function="collect"), "mergeEngine": AGGREGATION}, "spec.schema.columns[1].aggregate.function", "ARRAY"),
    ("nested_update on plain values", {"schema": aggregated("ARRAY<INT>", function="nested_update"), "mergeEngine": AGGREGATION}, "spec.schema.columns[1].aggregate.function", "ARRAY<ROW>"),
    ("a nested key that is no field", {"schema": aggregated("ARRAY<ROW<sku STRING>>", function="nested_update", nestedKey=["id"]), "mergeEngine": AGGREGATION}, "spec.schema.columns[1].aggregate.nestedKey[0]", "sku"),
    ("a nested key for sum", {"schema": aggregated("INT", function="sum", nestedKey=["id"]), "mergeEngine": AGGREGATION}, "spec.schema.columns[1].aggregate.nestedKey", "nestedKey"),
    ("a delimiter for sum", {"schema": aggregated("INT", function="sum", delimiter=","), "mergeEngine": AGGREGATION}, "spec.schema.columns[1].aggregate.delimiter", "no delimiter"),
    ("distinct for max", {"schema": aggregated("INT", function="max", distinct=True), "mergeEngine": AGGREGATION}, "spec.schema.columns[1].aggregate.distinct", "no distinct"),
    ("an aggregate outside the groups", {"schema": aggregated("INT", function="sum"), "mergeEngine": {"type": "PartialUpdate"}}, "spec.schema.columns[1].aggregate", "sequence group"),
    ("a sequence field that is no column", {"sequence": {"fields": ["ts"]}}, "spec.sequence.fields[0]", "not a column"),
    ("a sequence field twice", {"sequence": {"fields": ["amount", "amount"]}}, "spec.sequence.fields[1]", "twice"),
    ("a nested sequence field", {"schema": columns("ARRAY<INT>"), "sequence": {"fields": ["c0"]}}, "spec.sequence.fields[0]", "no order"),
    ("an aggregated sequence field", {"schema": aggregated("INT", function="max"), "mergeEngine": AGGREGATION, "sequence": {"fields": ["c0"]}}, "spec.sequence.fields[0]", "aggregate"),
    ("a sequence under FirstRow", {"mergeEngine": {"type": "FirstRow"}, "sequence": {"fields": ["amount"]}}, "spec.sequence", "came first"),
    ("a sequence beside groups", {"schema": columns("INT", "INT"), "mergeEngine": groups((["c0"], ["c1"])), "sequence": {"fields": ["c0"]}}, "spec.sequence", "of their own"),
    ("a group's column that does not exist", {"schema": columns("INT"), "mergeEngine": groups((["c0"], ["x"]))}, "spec.mergeEngine.partialUpdate.sequenceGroups[0].columns[0]", "not a column"),
    ("a group's order that does not exist", {"schema": columns("INT"), "mergeEngine": groups((["x"], ["c0"]))}, "spec.mergeEngine.partialUpdate.sequenceGroups[0].sequenceFields[0]", "not a column"),
    ("a column in two groups", {"schema": columns("INT", "INT", "INT"), "mergeEngine": groups((["c0"], ["c2"]), (["c1"], ["c2"]))}, "spec.mergeEngine.partialUpdate.sequenceGroups[1].columns[0]", "group 0 already"),
    ("an order in two groups", {"schema": columns("INT", "INT", "INT"), "mergeEngine": groups((["c0"], ["c1"]), (["c0"], ["c2"]))}, "spec.mergeEngine.partialUpdate.sequenceGroups[1].sequenceFields[0]", "group 0 already"),
    ("a key in a group", {"schema": columns("INT"), "mergeEngine": groups((["c0"], ["k"]))}, "spec.mergeEngine.partialUpdate.sequenceGroups[0].columns[0]", "primary key"),
    ("a column that orders itself", {"schema": columns("INT"), "mergeEngine": groups((["c0"], ["c0"]))}, "spec.mergeEngine.partialUpdate.sequenceGroups[0].columns[0]", "orders the group itself"),
    ("a changelog without keys", {"schema": APPEND, "changelogProducer": {"type": "Input"}}, "spec.changelogProducer.type", "needs a primary key"),
    ("an input changelog under FirstRow", {"mergeEngine": {"type": "FirstRow"}, "changelogProducer": {"type": "Input"}}, "spec.changelogProducer.type", "FirstRow"),
    ("a misspelt option", {"options": {"snapshot.time-retaned": "1 h"}}, "spec.options[snapshot.time-retaned]", "snapshot.time-retained"),
    ("an option like none", {"options": {"zzzzzz": "1"}}, "spec.options[zzzzzz]", "knows no option"),
    ("an option with a field", {"options": {"bucket": "4"}}, "spec.options[bucket]", "spec.bucket"),
    ("an option with a field, by its older name", {"options": {"partial-update.ignore-delete": "true"}}, "spec.options[partial-update.ignore-delete]", "spec.mergeEngine.ignoreDelete"),
    ("an option of a column", {"options": {"fields.amount.aggregate-function": "sum"}}, "spec.options[fields.amount.aggregate-function]", "Set spec.schema.columns[amount].aggregate.function"),
    ("the owner's mark", {"options": {"paimon-operator.owner": "me"}}, "spec.options[paimon-operator.owner]", "the operator"),
    ("a word for a number", {"options": {"num-levels": "many"}}, "spec.options[num-levels]", "whole number"),
    ("a number too large", {"options": {"num-levels": "3000000000"}}, "spec.options[num-levels]", "32 bits"),
    ("a word for a switch", {"options": {"write-buffer-spillable": "yes"}}, "spec.options[write-buffer-spillable]", "true or false"),
    ("a size without a unit we know", {"options": {"target-file-size": "128 megs"}}, "spec.options[target-file-size]", "a size"),
    ("a duration of two parts", {"options": {"partition.idle-time-to-report-statistic": "1h30m"}}, "spec.options[partition.idle-time-to-report-statistic]", ""),
    ("a choice that is none", {"options": {"sort-engine": "quick"}}, "spec.options[sort-engine]", "loser-tree"),
    ("an option of a write", {"writes": [builders.write() | {"options": {"write-bufer-size": "1 mb"}}]}, "spec.writes[0].options[write-bufer-size]", "write-buffer-size"),
    ("a delay of more than the calendar has", {"compaction": {"mode": "Dedicated", "minor": {"schedule": "0 3 * * *", "when": {"maxDelay": "24001d"}}}}, "spec.compaction.minor.when.maxDelay", "too long"),
    ("an age of more than the calendar has", {"compaction": {"mode": "Dedicated", "full": {"schedule": "0 3 * * *", "when": {"fullCompactionAge": "24001d"}}}}, "spec.compaction.full.when.fullCompactionAge", "too long"),
    ("idle partitions of none", {"compaction": {"mode": "Dedicated", "partitionIdleTime": "10m"}}, "spec.compaction.partitionIdleTime", "no partitions"),
    ("min over max", {"retention": {"snapshots": {"numRetainedMin": 20, "numRetainedMax": 15}}}, "spec.retention.snapshots.numRetainedMin", "larger"),
    ("max under Paimon's default min", {"retention": {"snapshots": {"numRetainedMax": 3}}}, "spec.retention.snapshots.numRetainedMax", "Paimon's default"),
    ("an unknown location", {"writes": [builders.write(location="attic")]}, "spec.writes[0].from.files.location", "landing"),
    ("an upsert without keys", {"schema": APPEND, "writes": [builders.write()]}, "spec.writes[0].mode", "needs a primary key"),
    ("an append with keys", {"writes": [builders.write(mode="Append")]}, "spec.writes[0].mode", "Use Upsert"),
    ("two writes of one name", {"writes": [builders.write(), builders.write()]}, "spec.writes[1].name", "two writes"),
    ("a zone that is none", {"timeZone": "Mars/Base"}, "spec.timeZone", "IANA"),
    ("a write at no time", {"writes": [builders.write(schedule="61 * * * *")]}, "spec.writes[0].trigger.schedule", "bad minute"),
    ("an expiry at no time", {"retention": {"snapshots": {"schedule": "0 0 31 2 *"}}}, "spec.retention.snapshots.schedule", "never comes"),
    ("a full compaction at no time", {"compaction": {"mode": "Dedicated", "full": {"schedule": "0 25 * * *"}}}, "spec.compaction.full.schedule", "bad hour"),
    ("a minor compaction at no time", {"compaction": {"mode": "Dedicated", "minor": {"schedule": "0 0 * * 9"}}}, "spec.compaction.minor.schedule", "bad day-of-week"),
    ("a database of Paimon's own", {"database": "sys"}, "spec.database", "sys"),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "spec", "field", "words"), WRONG)
def test_wrong_manifests_are_refused_with_the_field_and_a_remedy(
    sentence: str, spec: dict[str, Any], field: str, words: str
) -> None:
    blamed = [error for error in broken(**spec) if error.field == field]
    assert blamed, f"{sentence}: nothing is said of {field}"
    assert words in str(blamed[0])
    assert blamed[0].remedy.endswith((".", "?"))
    assert not blamed[0].problem.endswith(".")


@pytest.mark.parametrize(
    ("sentence", "spec", "field"),
    [
        (
            "minor compaction",
            {"compaction": {"mode": "Dedicated", "minor": {"schedule": "0 * * * *"}}},
            "spec.compaction.minor",
        ),
        (
            "a descending sequence",
            {"sequence": {"fields": ["amount"], "sortOrder": "Descending"}},
            "spec.sequence.sortOrder",
        ),
        (
            "nested_partial_update",
            {
                "schema": aggregated(
                    "ARRAY<ROW<sku STRING, n INT>>", function="nested_partial_update", nestedKey=["sku"]
                ),
                "mergeEngine": AGGREGATION,
            },
            "spec.schema.columns[1].aggregate.function",
        ),
    ],
)
def test_a_feature_that_an_engine_lacks_is_refused_with_its_name_and_accepted_on_the_next(
    sentence: str, spec: dict[str, Any], field: str
) -> None:
    (error,) = broken("paimon-0.9", **spec)
    assert (error.field, error.reason) == (field, Reason.UNSUPPORTED_BY_ENGINE), sentence
    assert "paimon-0.9" in error.problem
    assert broken("paimon-1.4", **spec) == []


def test_a_block_inherited_from_the_catalog_is_checked_like_the_tables_own() -> None:
    minor = {"compaction": {"mode": "Dedicated", "minor": {"schedule": "0 * * * *"}}}
    (error,) = broken("paimon-0.9", {"tableDefaults": minor})
    assert error.field == "spec.compaction.minor"


COLUMN_OF = {"ARRAY": "ARRAY<INT>", "ARRAY<ROW>": "ARRAY<ROW<sku STRING, n INT>>", "MAP": "MAP<INT, INT>", "MAP<ROW>": "MAP<INT, ROW<n INT>>", "ROW": "ROW<n INT>", "DECIMAL": "DECIMAL(12,2)", "TIMESTAMP": "TIMESTAMP(6)", "TIMESTAMP_LTZ": "TIMESTAMP_LTZ(6)", "CHAR": "CHAR(8)", "BINARY": "BINARY(8)"}  # fmt: skip
"""Root of a type in the engine's data -> a column of it, where the root alone is no type."""


@pytest.mark.parametrize(
    ("engine", "function"),
    [
        (name, function)
        for name, engine in builders.engines().items()
        for function in sorted(engine.aggregate_functions)
        if function in set(AggregateFunction)
    ],
)
def test_every_aggregate_function_of_an_engine_can_be_used_with_every_type_that_it_merges(
    engine: str, function: str
) -> None:
    needs_key = {"nestedKey": ["sku"]} if function == "nested_partial_update" else {}
    merged = builders.engines()[engine].aggregate_functions[function]
    for root in {root for root in merged if root.partition("<")[0] in TYPE_WORDS}:
        schema = aggregated(COLUMN_OF.get(root, root), function=function, **needs_key)
        assert broken(engine, schema=schema, mergeEngine=AGGREGATION) == [], root


STOPS_A_PART_ONLY = (
    "a time zone that does not exist",
    "a location that the catalog has not",
    *(rule.wrong.name for rule in MARKS),
)
"""The table is made, without its schedules, its marks or the write."""


@pytest.mark.parametrize("wrong", STALLED_IN_RECONCILE, ids=lambda wrong: wrong.name)
def test_wrong_manifests_that_the_api_server_accepts_are_stalled_with_field_and_reason(wrong: WrongManifest) -> None:
    if wrong.manifest["kind"] == "PaimonCatalog":
        catalog = PaimonCatalog.model_validate(wrong.manifest)
        (problem, *_) = catalog_problems(catalog, builders.operator_facts())
        assert (problem.reason, problem.field) == (wrong.reason, wrong.field)
        assert wrong.contains in str(problem)
        return
    table = PaimonTable.model_validate(wrong.manifest)
    stored = builders.table().metadata.model_copy(update={"name": table.metadata.name})
    world = TableWorld(table.model_copy(update={"metadata": stored}), builders.catalog(engine=wrong.engine))
    world.settle()
    assert world.says("Stalled") == ("True", wrong.reason)
    message = world.condition("Stalled").message
    assert message.startswith(wrong.field)
    assert wrong.contains in message
    made = ["Provision"] if wrong.name in STOPS_A_PART_ONLY else []
    assert [run.spec.type for run in world.created] == made
