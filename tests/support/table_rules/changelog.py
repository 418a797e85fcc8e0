"""Rules about the changelog and about options."""

# ruff: noqa: E501  (a table: one rule in few lines)

from __future__ import annotations

from tests.support.manifests import Manifest, append_table, keyed_table
from tests.support.table_rules.rule import TableRule
from tests.support.wrong_manifest import WrongManifest, later

_PRODUCER = "spec.changelogProducer"
_TYPE = "SchemaValidation.validateTableSchema"
_SETTINGS = "tests/spark/test_settings_that_break.py"


def _producer(type_: str, **settings: object) -> Manifest:
    return keyed_table(spec__changelogProducer={"type": type_, **settings})


def _delta_commits(**edits: object) -> Manifest:
    producer = {"type": "FullCompaction", "fullCompaction": {"deltaCommits": 3}}
    return keyed_table(spec__changelogProducer=producer, **edits)


CHANGELOG = [
    TableRule("changelog-needs-keys", "A changelog producer needs a primary key.", _TYPE, _producer("Input"),
        WrongManifest("a changelog without keys", append_table(spec__changelogProducer={"type": "Input"}), f"{_PRODUCER}.type", "without primaryKeys")),
    TableRule("changelog-of-first-row", "FirstRow has the changelog producer None or Lookup.", _TYPE, keyed_table(spec__mergeEngine={"type": "FirstRow"}, spec__changelogProducer={"type": "Lookup"}),
        WrongManifest("an input changelog under FirstRow", keyed_table(spec__mergeEngine={"type": "FirstRow"}, spec__changelogProducer={"type": "Input"}), f"{_PRODUCER}.type", "None or Lookup")),
    TableRule("full-compaction-member", "Only FullCompaction has its settings.", "ours: the setting would compact at each commit", _delta_commits(),
        WrongManifest("a changelog interval under Lookup", _producer("Lookup", fullCompaction={"deltaCommits": 3}), f"{_PRODUCER}.fullCompaction", "must not be set")),
    TableRule("lookup-member", "Only Lookup has its settings.", "ours: Paimon ignores them", _producer("Lookup", lookup={"cacheMaxMemorySize": "256Mi", "cacheMaxDiskSize": "10Gi", "cacheFileRetention": "2h"}),
        WrongManifest("a lookup cache under Input", _producer("Input", lookup={"cacheMaxMemorySize": "256Mi"}), f"{_PRODUCER}.lookup", "must not be set")),
    TableRule("lookup-retention", "The cache keeps its files for 24000 days at most.", "ours: times stay far from the last year of the calendar", _producer("Lookup", lookup={"cacheFileRetention": "24000d"}),
        WrongManifest("a lookup cache for more than 65 years", _producer("Lookup", lookup={"cacheFileRetention": "24001d"}), f"{_PRODUCER}.lookup.cacheFileRetention", "at most 24000d")),
    TableRule("row-deduplicate-member", "Only Lookup and FullCompaction compare rows.", "ours: Paimon ignores it", _producer("Lookup", rowDeduplicate=True),
        WrongManifest("a changelog without repetitions under Input", _producer("Input", rowDeduplicate=True), f"{_PRODUCER}.rowDeduplicate", "must not be set")),
    TableRule("lookup-options", "With Lookup its cache is set in changelogProducer.lookup, not in options.", "ours: a value must not be set twice", keyed_table(spec__options={"lookup.cache-max-memory-size": "128 mb"}),
        WrongManifest("a lookup cache in the options", _producer("Lookup") | {"spec": _producer("Lookup")["spec"] | {"options": {"lookup.cache-max-memory-size": "128 mb"}}}, "spec.options", "must be set in changelogProducer.lookup")),
    TableRule("delta-commits-inline", "deltaCommits needs compaction.mode Inline: 1.4.2 fails at the first write of a writer that does not compact.", f"{_SETTINGS}: test_delta_commits_and_writers_that_do_not_compact", _delta_commits(spec__compaction={"mode": "Inline"}),
        WrongManifest("full compactions by writers that do not compact", _delta_commits(spec__compaction={"mode": "Dedicated"}), f"{_PRODUCER}.fullCompaction.deltaCommits", "compaction.mode")),
    TableRule("delta-commits-engine", "The engine must count commits for deltaCommits.", "tests/spark/test_settings_read_back.py: test_an_engine_that_counts_no_commits_makes_no_changelog_by_them", _delta_commits(),
        later("commits that the engine does not count", _delta_commits(), f"{_PRODUCER}.fullCompaction.deltaCommits", "paimon-0.9", "UnsupportedByEngine", engine="paimon-0.9")),
]  # fmt: skip


def _option(key: str, value: str = "1", **edits: object) -> Manifest:
    return keyed_table(spec__options={key: value}, **edits)


_OLD = "CoreOptions of the releases 0.1 to 1.4"

OPTIONS = [
    TableRule("option-typed", "An option that has a field is set there.", "ours: a value must not be set twice", _option("target-file-size", "128 mb"),
        WrongManifest("an option with a typed field", _option("bucket", "4"), "spec.options", "option bucket must be set by its typed field spec.bucket")),
    TableRule("option-row-kind", "The same for a field of mergeEngine.", "ours: a value must not be set twice", _option("num-levels", "3"),
        WrongManifest("row kinds in the options", _option("rowkind.field", "state"), "spec.options", "typed field spec.mergeEngine.rowKindField")),
    TableRule("option-column", "Options of a column are set by its fields.", "ours: a value must not be set twice", _option("fields.state.stats-mode", "counts"),
        WrongManifest("an option of a column", _option("fields.amount.aggregate-function", "sum"), "spec.options", "options of columns must be set by their typed fields")),
    TableRule("option-write-mode", "write-mode is no option any more: a table with primary keys merges.", _OLD, _option("num-levels", "3"),
        WrongManifest("an option of old manuals", _option("write-mode", "append-only"), "spec.options", "one without appends")),
    TableRule("option-compaction-interval", "changelog-producer.compaction-interval is no option any more.", _OLD, _delta_commits(),
        WrongManifest("an interval of changelogs of old manuals", _option("changelog-producer.compaction-interval", "1 min"), "spec.options", "set changelogProducer.fullCompaction.deltaCommits, or compaction.full.schedule")),
    TableRule("option-log", "Options of the log system left Paimon.", _OLD, _producer("Input"),
        WrongManifest("a log system of old manuals", _option("log.system", "kafka"), "spec.options", "set changelogProducer")),
    TableRule("option-log-ignore-delete", "The same, with the field that replaces it.", _OLD, keyed_table(spec__mergeEngine={"type": "Deduplicate", "ignoreDelete": True}),
        WrongManifest("ignored deletes of old manuals", _option("log.ignore-delete", "true"), "spec.options", "set mergeEngine.ignoreDelete")),
    TableRule("option-sorted-runs", "compaction.max-sorted-run-num is no option any more.", _OLD, _option("num-sorted-run.compaction-trigger", "8"),
        WrongManifest("a limit of sorted runs of old manuals", _option("compaction.max-sorted-run-num", "8"), "spec.options", "set num-sorted-run.compaction-trigger")),
    TableRule("option-flink", "Options of Flink have no effect.", "FlinkConnectorOptions", _option("num-levels", "3"),
        WrongManifest("the memory of a Flink sink", _option("sink.writer-memory", "1 gb"), "spec.options", "sink.writer-memory must not be set: it is an option of Flink")),
    TableRule("option-done", "Writers do not mark partitions as done.", f"{_SETTINGS}: test_a_batch_marks_a_partition_as_done_after_each_load_or_never", keyed_table(spec__markPartitionsDone={"timeInterval": "1d", "idleTime": "1h"}),
        WrongManifest("partitions that are done", _option("partition.end-input-to-done", "true"), "spec.options", "set markPartitionsDone instead")),
    TableRule("option-postpone", "postpone.batch-write-fixed-bucket must not be set.", "tests/spark/test_postponed_buckets.py: test_without_fixed_buckets_for_batches_the_newest_row_is_lost", keyed_table(spec__bucket={"type": "Postpone"}, spec__compaction={"mode": "Dedicated"}),
        WrongManifest("rows that get lost in postponed buckets", _option("postpone.batch-write-fixed-bucket", "false"), "spec.options", "newest row")),
    TableRule("option-overwrite-changes", "streaming-read-overwrite belongs to the reader.", "SchemaValidation.validateTableSchema", _producer("Lookup"),
        WrongManifest("changes of overwrites", _option("streaming-read-overwrite", "true"), "spec.options", "set it where the table is read")),
    TableRule("option-snapshot-ordering", "sequence.snapshot-ordering is an option of Paimon 2.", "engine data: no engine has it", keyed_table(spec__sequence={"fields": ["updated_at"]}),
        WrongManifest("an order by snapshots", _option("sequence.snapshot-ordering", "true"), "spec.options", "set sequence.fields")),
    *(
        TableRule(f"option-index-{index}", f"A {index} index lists columns.", "FileIndexOptions", _option(f"file-index.{index}.columns", "order_id"),
            WrongManifest(f"a {index} index of no column", _option(f"file-index.{index}.columns", "order_id, colour"), "spec.options", "must list columns of the table"))
        for index in ("bloom-filter", "bitmap", "bsi", "range-bitmap")
    ),
    TableRule("option-index-type", "An index takes the type of its columns.", "tests/spark/test_file_indexes.py", _option("file-index.range-bitmap.columns", "amount"),
        later("an index of decimals that takes none", _option("file-index.bitmap.columns", "state, amount"), "spec.options", "DECIMAL(12,2)")),
    TableRule("option-upsert-key", "upsert-key excludes a primary key.", "SchemaValidation.validateTableSchema", append_table(spec__options={"upsert-key": "page"}),
        WrongManifest("a second key", _option("upsert-key", "order_id"), "spec.options", "upsert-key must not be set with primaryKeys")),
    TableRule("option-buffer", "write-buffer-size holds three pages of page-size.", f"{_SETTINGS}: test_a_write_buffer_smaller_than_its_pages_fails_the_write", _option("write-buffer-size", "192 kb"),
        later("a write buffer without room for its pages", _option("write-buffer-size", "191 kb"), "spec.options", "at least 192 kb")),
]  # fmt: skip
