"""A table that a manifest made is exported as a manifest that makes the same table, whatever the manifest says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from paimon_contract.description import DescribedTable
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core.export.export import Export, export
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.desired_table import DesiredTable, desired_table
from paimon_operator.core.spec.edit_plan import declared_schema
from paimon_operator.core.validation.table import broken_rules
from paimon_schema.plan import schema_after
from paimon_schema.table_schema import schema_file_of
from tests.support import builders
from tests.support.manifests import Manifest
from tests.support.random_examples import examples
from tests.support.table_rules import TABLE_RULES

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.yaml"))
NAMES = list("abcdef")
USED = list("abc")
"""The columns that keys and settings name. Every table has them."""
TYPES = (
    "INT",
    "BIGINT",
    "STRING",
    "DOUBLE",
    "DECIMAL(12,2)",
    "TIMESTAMP(6)",
    "ARRAY<ROW<x INT, y STRING>>",
    "INT NOT NULL",
)
AGGREGATES: list[Any] = [
    {"function": "sum"},
    {"function": "max", "ignoreRetract": True},
    {"function": "listagg", "delimiter": "; ", "distinct": True},
    {"function": "nested_update", "nestedKey": ["x"], "countLimit": 7},
]
OPTIONS = {
    "file.format": ["orc", "parquet", "avro"],
    "target-file-size": ["1 gb", "64 mb"],
    "file-index.bloom-filter.columns": ["a", "a,b"],
    "lookup.cache-max-memory-size": ["256 mb", "1 gb"],
    "num-sorted-run.compaction-trigger": ["5", "9"],
    "fields.a.stats-mode": ["none"],
}
DURATIONS = st.sampled_from(["90s", "60m", "1h", "25h", "7d", "99999s"])


def block(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A block with some of its members."""
    return st.fixed_dictionaries({}, optional=members)


def some_of(items: list[str], least: int = 1) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(items), min_size=least, max_size=3, unique=True)


TRUTH = st.booleans()
COLUMNS = st.lists(
    block(
        comment=st.sampled_from(["one", "it's #2: two"]),
        defaultValue=st.sampled_from(["", "7"]),
        aggregate=st.sampled_from(AGGREGATES),
    ).flatmap(lambda given: st.sampled_from(TYPES).map(lambda type_: given | {"type": type_})),
    min_size=len(USED),
    max_size=len(NAMES),
).map(lambda found: [{"name": name, **each} for name, each in zip(NAMES, found, strict=False)])
SNAPSHOTS = block(timeRetained=DURATIONS, numRetainedMin=st.integers(1, 20), numRetainedMax=st.integers(10, 90))
GROUPS = st.lists(
    st.fixed_dictionaries({"sequenceFields": some_of(USED), "columns": some_of(USED)}), min_size=1, max_size=2
)
MODES = st.sampled_from(["Inline", "Dedicated", "External"]).map(lambda mode: {"mode": mode})
MERGING = st.one_of(
    block(ignoreDelete=TRUTH, rowKindField=st.sampled_from(USED)).map(lambda each: {"type": "Deduplicate", **each}),
    block(ignoreDelete=TRUTH).map(lambda each: {"type": "FirstRow", **each}),
    block(aggregation=block(removeRecordOnDelete=TRUTH)).map(lambda each: {"type": "Aggregation", **each}),
    block(
        ignoreDelete=TRUTH, partialUpdate=block(sequenceGroups=GROUPS, removeRecordOnDelete=TRUTH)
    ).map(lambda each: {"type": "PartialUpdate", **each}),
)  # fmt: skip
CHANGELOG = st.one_of(
    st.sampled_from([{"type": "Input"}, {"type": "None"}]),
    block(
        rowDeduplicate=TRUTH,
        lookup=block(cacheMaxMemorySize=st.sampled_from(["256Mi", "2Gi"]), cacheFileRetention=DURATIONS),
    ).map(lambda each: {"type": "Lookup", **each}),
    block(fullCompaction=block(deltaCommits=st.integers(1, 9))).map(lambda each: {"type": "FullCompaction", **each}),
)
BUCKETS = st.one_of(
    st.sampled_from([{"type": "Dynamic"}, {"type": "Postpone"}, {"type": "Unaware"}]),
    block(keys=some_of(USED)).map(lambda each: {"type": "Fixed", "fixed": {"count": 3, **each}}),
)


SEQUENCES = st.tuples(some_of(USED), block(sortOrder=st.sampled_from(["Descending", "Ascending"]))).map(
    lambda pair: {"fields": pair[0], **pair[1]}
)


@st.composite
def specs(draw: st.DrawFn) -> Manifest:
    keys = draw(st.just([]) | some_of(USED))
    free = [] if len(keys) == 1 else keys[1:] or USED
    partitions = draw(st.just([]) | some_of(free)) if free else []
    schema: Manifest = {"columns": draw(COLUMNS), "primaryKeys": keys, "partitionKeys": partitions}
    if draw(TRUTH):
        schema["comment"] = "a table"
    if draw(TRUTH) and partitions:
        schema["partitionDefaultName"] = "none"
    any_table = block(
        bucket=BUCKETS,
        compaction=MODES,
        retention=block(snapshots=SNAPSHOTS),
        options=block(**{key: st.sampled_from(values) for key, values in OPTIONS.items()}),
    )
    keyed = block(
        mergeEngine=MERGING,
        sequence=SEQUENCES,
        changelogProducer=CHANGELOG,
        deletionVectors=TRUTH.map(lambda on: {"enabled": on}),
    )
    schema = {field: value for field, value in schema.items() if value}
    return {"schema": schema, **draw(any_table), **(draw(keyed) if keys else {})}


def made_by(manifest: Manifest, catalog: PaimonCatalog, engine: str) -> TableContext | None:
    """The context of a manifest; None if a rule refuses it."""
    try:
        table = PaimonTable.model_validate(manifest)
    except ValueError:
        return None
    facts = builders.operator_facts(default_engine=engine)
    context = TableContext.build(table, catalog, facts, builders.NOW)
    return None if broken_rules(context) else context


def of(context: TableContext) -> DesiredTable:
    found = desired_table(context.spec, context.effective)
    return replace(found, columns=tuple(replace(each, renamed_from=None) for each in found.columns), dropped=())


def export_of(context: TableContext) -> Export:
    """The export of the table that the manifest of the context creates."""
    schema = schema_after(None, declared_schema(of(context)))
    described = DescribedTable(database=context.spec.database, name="t", schema=schema_file_of(schema))
    return export(described, context.catalog, context.engine, builders.NOW)


def assert_equal_to_paimon(one: DesiredTable, other: DesiredTable, context: TableContext) -> None:
    """Both describe one table: values may differ in their spelling, `60 min` and `1 h`."""
    assert replace(one, options={}) == replace(other, options={})
    options = one.options.keys() | other.options.keys()
    values = {key: (one.options.get(key), other.options.get(key)) for key in options}
    assert {key: pair for key, pair in values.items() if not context.engine.means_the_same(key, *pair)} == {}


def assert_returns(context: TableContext) -> None:
    found = export_of(context)
    assert found.problems == ()
    assert found.manifest is not None
    again = made_by(found.manifest, context.catalog, context.engine.id)
    assert again is not None
    assert_equal_to_paimon(of(again), of(context), context)
    assert export_of(again).manifest == found.manifest


@pytest.mark.worlds
@settings(max_examples=examples(8, most=500), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    specs(),
    block(compaction=MODES, retention=block(snapshots=SNAPSHOTS)),
    st.sampled_from(["paimon-0.9", "paimon-1.4"]),
)
def test_a_random_manifest_returns(spec: Manifest, defaults: Manifest, engine: str) -> None:
    catalog = builders.catalog(tableDefaults=defaults)
    context = made_by(builders.table_manifest("t", **spec), catalog, engine)
    assume(context is not None)
    assert context is not None
    assert_returns(context)


@pytest.mark.parametrize("rule", TABLE_RULES, ids=lambda rule: rule.id)
def test_the_manifest_that_a_rule_admits_returns(rule: Any) -> None:
    context = made_by(rule.right, builders.catalog(), "paimon-1.4")
    assert context is not None
    assert_returns(context)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_tables_of_the_examples_return(path: Path) -> None:
    documents = [each for each in yaml.safe_load_all(path.read_text()) if each]
    for table in (each for each in documents if each["kind"] == "PaimonTable"):
        table["spec"].pop("writes", None)
        database = table["spec"]["database"]
        context = made_by(table, builders.catalog(allowedDatabases=[database]), "paimon-1.4")
        assert context is not None, path
        assert_returns(context)
