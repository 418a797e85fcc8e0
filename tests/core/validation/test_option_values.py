"""Values of options in their ranges, keys with a free part, and what is said of options that cannot be set."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from typing import Any

import pytest

from paimon_engines.bounds import ValueKind
from paimon_operator.api.table.options import EXPLAINED_OPTIONS, allowed_in_table, may_be_proposed
from paimon_operator.core.spec.option_values import value_problem
from paimon_operator.core.validation.table import broken_rules
from paimon_operator.errors import SpecError
from tests.support import builders

ENGINES = tuple(builders.engines())
SCHEMA: dict[str, Any] = {
    "columns": [{"name": "id", "type": "BIGINT"}, {"name": "path", "type": "STRING"}, {"name": "tags", "type": "MAP<STRING, STRING>"}],
    "primaryKeys": ["id"],
}  # fmt: skip


def broken(engine: str, **options: str) -> list[SpecError]:
    table = builders.table(schema=SCHEMA, options=options)
    return list(broken_rules(builders.context(table, builders.catalog(engine=engine))))


def said_of(engine: str, key: str, value: str = "1") -> str:
    (error,) = broken(engine, **{key: value})
    assert error.field == f"spec.options[{key}]"
    return str(error)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_number_size_and_duration_that_may_be_set_has_a_range_with_a_source(engine: str) -> None:
    measured = set(ValueKind) - {ValueKind.BOOLEAN, ValueKind.ENUM, ValueKind.TEXT}
    options = [
        each
        for key, each in builders.engines()[engine].options.items()
        if may_be_proposed(key) and allowed_in_table(key)
    ]
    assert len(options) > 40, "the search has gone blind"
    assert [
        each.key for each in options if each.kind in measured and (each.range is None or not each.range.source)
    ] == []


UNREADABLE = [
    ("target-file-size", "99999999999 tb"),
    ("target-file-size", "9223372036854775808 b"),
    ("lookup.cache-file-retention", "999999999999999999 d"),
    ("lookup.cache-file-retention", "9223372036854775808 ms"),
    ("num-levels", " 5"),
    ("async-file-write", "true "),
]


@pytest.mark.parametrize(("key", "value"), UNREADABLE)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_value_that_the_jar_cannot_read_is_refused(engine: str, key: str, value: str) -> None:
    """Each was given to OptionsUtils.convertValue of the engine's jar."""
    assert f"{value!r} is not " in said_of(engine, key, value)


@pytest.mark.parametrize("value", ["9223372036854775807", " 9223372036854775807 b "])
def test_the_largest_size_that_the_jar_reads_is_accepted(value: str) -> None:
    assert broken("paimon-1.4", **{"target-file-size": value}) == []


OUT_OF_RANGE = [
    ("num-levels", "0", "at least 2"),
    ("num-levels", "1", "at least 2"),
    ("num-sorted-run.compaction-trigger", "-3", "at least 1"),
    ("num-sorted-run.stop-trigger", "0", "at least 1"),
    ("target-file-size", "0 b", "at least 1 bytes"),
    ("read.batch-size", "0", "at least 1"),
    ("dynamic-bucket.target-row-num", "-1", "from 1 to 2147483647"),
    ("file.compression.zstd-level", "99", "from 1 to 22"),
    ("lookup.hash-load-factor", "7", "above 0 and below 1"),
    ("lookup.hash-load-factor", "0", "above 0 and below 1"),
    ("lookup.cache.bloom.filter.fpp", "1.0", "above 0 and below 1"),
    ("page-size", "1000 kb", "a power of two from 1024 to 1073741824 bytes"),
    ("sort-spill-threshold", "1", "at least 2"),
    ("write-buffer-size", "1 b", "at least 1024 bytes"),
    ("compaction.min.file-num", "1", "at least 2"),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("key", "value", "words"), OUT_OF_RANGE)
def test_a_value_out_of_its_range_is_refused_with_the_range(engine: str, key: str, value: str, words: str) -> None:
    assert f"{value!r} is not {words}" in said_of(engine, key, value)


IN_RANGE = {
    "num-levels": "2", "num-sorted-run.compaction-trigger": "1", "target-file-size": "1 gb", "read.batch-size": "1",
    "dynamic-bucket.target-row-num": "2147483647", "file.compression.zstd-level": "22", "page-size": "32 kb",
    "lookup.hash-load-factor": ".99", "write-buffer-size": "1 mb", "compaction.optimization-interval": "0",
    "lookup.cache-file-retention": "30 min", "write-max-writers-to-spill": "0", "parquet.enable.dictionary": "false",
}  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
def test_values_at_the_edge_of_their_range_are_accepted(engine: str) -> None:
    assert broken(engine, **IN_RANGE) == []


def test_a_value_with_a_meaning_of_its_own_is_accepted_beside_the_range() -> None:
    off = {
        "compaction.offpeak.start.hour": "-1",
        "dynamic-bucket.max-buckets": "-1",
        "metadata.stats-keep-first-n-columns": "-1",
    }
    assert broken("paimon-1.4", **off) == []
    assert "-1 or from 0 to 23" in said_of("paimon-1.4", "compaction.offpeak.start.hour", "24")
    assert "-1 or from 1 to 32767" in said_of("paimon-1.4", "dynamic-bucket.max-buckets", "0")


@pytest.mark.parametrize("engine", ENGINES)
def test_every_default_of_an_engine_is_in_its_range(engine: str) -> None:
    options = builders.engines()[engine].options.values()
    assert {each.key for each in options if each.default and value_problem(each, each.default)} == set()


FREE = {
    "file-index.bloom-filter.columns": "id, path", "file-index.bloom-filter.path.fpp": "0.01",
    "file-index.bloom-filter.id.items": "1000", "file-index.bitmap.columns": "path", "parquet.block.size": "1048576",
    "parquet.page.size": "65536", "parquet.bloom.filter.enabled#path": "true", "orc.stripe.size": "1048576",
    "orc.bloom.filter.columns": "path", "orc.bloom.filter.fpp": "0.05", "fields.path.stats-mode": "truncate(8)",
    "parquet.page.row.count.limit": "2000",
}  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
def test_options_whose_keys_have_a_free_part_are_accepted(engine: str) -> None:
    assert broken(engine, **FREE) == []


def test_an_index_of_the_keys_of_a_map_names_the_map() -> None:
    assert broken("paimon-1.4", **{"file-index.bloom-filter.columns": "tags[colour]"}) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"file-index.bloom-filter.columns": "id, colour"}, "'colour' is not a column. Use one of: id, path, tags"),
        ({"file-index.bloom-filter.columns": "id,"}, "'' is not a column"),
        ({"file-index.bloom-filter.id.fpp": "0.1"}, "Add 'id' to the option file-index.bloom-filter.columns"),
        ({"file-index.bloom-filter.columns": "id", "file-index.bloom-filter.id.fpp": "2"}, "above 0 and below 1"),
        ({"file-index.bloom-filter.columns": "id", "file-index.bloom-filter.id.size": "2"}, "knows no option"),
        ({"file-index.bloom.columns": "id"}, "knows no option"),
        ({"orc.bloom.filter.columns": "colour"}, "'colour' is not a column"),
        ({"fields.colour.stats-mode": "full"}, "'colour' is not a column"),
        ({"fields.path.stats-mode": "some"}, "cannot be written"),
        ({"parquet.block.size": "0"}, "at least 1"),
        ({"parquet.compression.codec.zstd.level": "23"}, "from 1 to 22"),
        ({"parquet.crypto.factory.class": "x"}, "belongs to"),
        ({"parquet.compression": "gzip"}, "Set file.compression"),
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_wrong_option_with_a_free_part_is_refused(engine: str, options: dict[str, str], words: str) -> None:
    (error,) = broken(engine, **options)
    assert words in str(error)


def test_a_file_index_is_accepted_by_the_engines_that_have_it() -> None:
    option = {"file-index.range-bitmap.columns": "id"}
    assert broken("paimon-1.4", **option) == []
    assert "knows no option" in said_of("paimon-0.9", "file-index.range-bitmap.columns", "id")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("sink.parallelism", "option of Flink. For spark set spark.executor.instances and spark.executor.cores."),
        ("scan.parallelism", "option of Flink. For spark set spark.executor.instances and spark.executor.cores."),
        ("sink.committer-memory", "option of Flink, which has no effect here. Remove it."),
        ("lookup.async", "option of Flink, which has no effect here. Remove it."),
        ("write-mode", "a table with primaryKeys merges, one without appends. Remove it."),
        ("changelog-producer.lookup-wait", "Set lookup-wait instead."),
        ("fields.amount.list-agg-delimiter", "Set spec.schema.columns[amount].aggregate.delimiter instead."),
        ("fields.a,b.sequence-group", "Set spec.mergeEngine.partialUpdate.sequenceGroups instead."),
        (
            "snapshot.time-retaned",
            "Did you mean snapshot.time-retained? Set spec.retention.snapshots.timeRetained for it.",
        ),
    ],
)
def test_an_option_that_cannot_be_set_is_explained(engine: str, key: str, words: str) -> None:
    assert words.lower() in said_of(engine, key).lower()


@pytest.mark.parametrize("engine", ENGINES)
def test_only_options_that_may_be_set_are_proposed(engine: str) -> None:
    for key in builders.engines()[engine].options:
        proposed = builders.engines()[engine].nearest_option(f"{key}s", may_be_proposed)
        assert proposed is None or (may_be_proposed(proposed) and proposed not in EXPLAINED_OPTIONS), key
