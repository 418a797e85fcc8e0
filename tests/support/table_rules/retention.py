"""Rules about retention and automatic tags."""

# ruff: noqa: E501  (a table: one rule in few lines)

from __future__ import annotations

from typing import Any

from tests.support.manifests import Manifest, append_table, edited, keyed_table
from tests.support.table_rules.rule import TableRule
from tests.support.wrong_manifest import WrongManifest, later

_RETENTION = "spec.retention"
_PARTITIONS = f"{_RETENTION}.partitions"
_RECORDS = f"{_RETENTION}.records"
_SCHEMA = "SchemaValidation.validateTableSchema"
_ORPHANS = f"{_RETENTION}.orphanFiles"
_BY_TIME = "tests/spark/test_expire_partitions.py"
_BY_RECORD = "tests/spark/test_record_expiry.py"
_LONG = "ours: times stay far from the last year of the calendar"


_ACTIVE: dict[str, Any] = {
    "spec__externalWriters": "Active",
    "spec__bucket": {"type": "Fixed", "fixed": {"count": 2}},
}


def _keyed(**members: Any) -> Manifest:
    """The keyed table, whose partition key `dt` is a text, with a changelog."""
    return keyed_table(spec__retention=members, spec__changelogProducer={"type": "Input"})


def _dynamic(**members: Any) -> Manifest:
    """The same table with dynamic buckets."""
    return edited(_keyed(**members), spec__bucket={"type": "Dynamic"})


def _partitions(type_: str = "STRING", **block: Any) -> Manifest:
    return keyed_table(
        spec__schema__columns__1__type=type_, spec__retention={"partitions": {"expirationTime": "365d", **block}}
    )


def _orphans(**block: Any) -> Manifest:
    return keyed_table(spec__retention={"orphanFiles": block})


def _active(manifest: Manifest) -> Manifest:
    """The manifest of a table with other writers."""
    return edited(manifest, **_ACTIVE)


def _paused(manifest: Manifest) -> Manifest:
    """The table with writers that exist and do not write now."""
    return edited(manifest, **{**_ACTIVE, "spec__externalWriters": "Paused"})


def _records(type_: str = "BIGINT", time: str = "90d", **edits: object) -> Manifest:
    """A keyed table whose records have the time `at`."""
    block = {"expireTime": time, "timeField": "at"}
    return keyed_table(
        spec__schema__columns__6={"name": "at", "type": type_}, spec__retention={"records": block}, **edits
    )


_UNKEYED = append_table(spec__retention={"partitions": {"expirationTime": "365d"}})

RETENTION = [
    TableRule("changelogs-need-a-changelog", "Only tables with a changelog producer keep changelogs.", "ours: Paimon ignores it", _keyed(changelogs={"timeRetained": "3d"}),
        WrongManifest("changelogs of a table without any", keyed_table(spec__retention={"changelogs": {"timeRetained": "3d"}}), f"{_RETENTION}.changelogs", "without a changelogProducer")),
    TableRule("changelogs-longer", "Changelogs are kept longer than snapshots.", "CoreOptions.changelogLifecycleDecoupled", _keyed(snapshots={"timeRetained": "1d"}, changelogs={"timeRetained": "2d"}),
        WrongManifest("changelogs that are kept as long as snapshots", _keyed(snapshots={"timeRetained": "3d"}, changelogs={"timeRetained": "72h"}), f"{_RETENTION}.changelogs.timeRetained", "must be longer")),
    TableRule("changelogs-longer-than-usual", "The same, where snapshots are kept as long as Paimon keeps them.", "CoreOptions.changelogLifecycleDecoupled", _keyed(changelogs={"timeRetained": "61m"}),
        later("changelogs that are kept for an hour", _keyed(changelogs={"timeRetained": "1h"}), f"{_RETENTION}.changelogs.timeRetained", "which is 1h", "InvalidSpec")),
    TableRule("changelogs-engine", "The engine must expire changelogs of tables with dynamic buckets or deletion vectors.", "tests/spark/test_retained_changelogs.py: test_changelogs_of_snapshots_with_an_index_expire", _dynamic(changelogs={"timeRetained": "2d"}),
        later("changelogs of dynamic buckets", _dynamic(changelogs={"timeRetained": "2d"}), f"{_RETENTION}.changelogs.timeRetained", "paimon-0.9", "UnsupportedByEngine", engine="paimon-0.9")),
    TableRule("changelogs-time", "Changelogs are kept for 24000 days at most.", _LONG, _keyed(changelogs={"timeRetained": "24000d"}),
        WrongManifest("changelogs for more than 65 years", _keyed(changelogs={"timeRetained": "24001d"}), f"{_RETENTION}.changelogs.timeRetained", "at most 24000d")),
    TableRule("consumers-time", "Consumers are kept for 24000 days at most.", _LONG, _keyed(consumers={"expirationTime": "24000d"}),
        WrongManifest("consumers for more than 65 years", _keyed(consumers={"expirationTime": "24001d"}), f"{_RETENTION}.consumers.expirationTime", "at most 24000d")),
    TableRule("partitions-need-keys", "Only tables with partition keys have partitions that expire.", _SCHEMA, _partitions(),
        WrongManifest("partitions of a table without any", _UNKEYED, _PARTITIONS, "without partitionKeys")),
    TableRule("partitions-time", "Partitions are kept for 24000 days at most.", _LONG, _partitions(expirationTime="24000d"),
        WrongManifest("partitions for more than 65 years", _partitions(expirationTime="24001d"), f"{_PARTITIONS}.expirationTime", "at most 24000d")),
    TableRule("partitions-pattern", "A timestampPattern has a partition key.", "ours: the same time for all partitions would drop all at once", _partitions(timestampPattern="$dt 00:00:00"),
        WrongManifest("a time without a partition key", _partitions(timestampPattern="$day 00:00:00"), f"{_PARTITIONS}.timestampPattern", "must contain a partition key")),
    TableRule("partitions-pattern-keys", "A $ in it begins the name of a partition key.", f"{_BY_TIME}: test_no_partition_is_mistaken_for_another", _partitions(timestampPattern="$dtT00:00"),
        later("a time with a column that is no partition key", _partitions(timestampPattern="$dt $state:00:00"), f"{_PARTITIONS}.timestampPattern", "Use $dt", "InvalidSpec")),
    TableRule("partitions-pattern-member", "Only ValuesTime reads a pattern.", "ours: Paimon ignores it", _partitions(strategy="ValuesTime", timestampPattern="$dt"),
        WrongManifest("a pattern for the time of files", _partitions(strategy="UpdateTime", timestampPattern="$dt"), f"{_PARTITIONS}.timestampPattern", "unless strategy is ValuesTime")),
    TableRule("partitions-active-writers", "UpdateTime drops no partition into which others write.", "FileStoreCommit.dropPartitions also drops what was committed since it was called", _active(_partitions(strategy="ValuesTime")),
        WrongManifest("partitions that others may write into while they are dropped", _active(_partitions(strategy="UpdateTime")), f"{_PARTITIONS}.strategy", "what they commit meanwhile")),
    TableRule("partitions-paused-writers", "With paused writers and UpdateTime, partitions are kept for 2 days at least.", "DataFileMeta.creationTime is a local time of the writer's JVM", _paused(_partitions(strategy="UpdateTime", expirationTime="48h")),
        WrongManifest("times of files in any time zone", _paused(_partitions(strategy="UpdateTime", expirationTime="47h")), f"{_PARTITIONS}.expirationTime", "at least 2d")),
    TableRule("partitions-formatter-member", "Only ValuesTime reads a formatter.", "ours: Paimon ignores it", _partitions(strategy="ValuesTime", timestampFormatter="yyyyMMdd"),
        WrongManifest("a formatter for the time of files", _partitions(strategy="UpdateTime", timestampFormatter="yyyyMMdd"), f"{_PARTITIONS}.timestampFormatter", "unless strategy is ValuesTime")),
    TableRule("partitions-formatter", "A formatter reads year, month and day.", "PartitionTimeExtractor: it parses a LocalDate", _partitions(timestampFormatter="uuuu'-W'DDD"),
        WrongManifest("a formatter for months", _partitions(timestampFormatter="yyyyMM"), f"{_PARTITIONS}.timestampFormatter", "year, month and day")),
    TableRule("partitions-numbers", "A number is a time only with a formatter.", f"{_BY_TIME}: test_partition_keys_of_each_type", _partitions("INT", timestampFormatter="yyyyMMdd"),
        later("numbers as times", _partitions("INT"), f"{_PARTITIONS}.timestampFormatter", "Set timestampFormatter", "InvalidSpec")),
    TableRule("partitions-types", "The keys in the time are texts, whole numbers, dates or timestamps without time zone.", f"{_BY_TIME}: test_partition_keys_of_each_type", _partitions("DATE"),
        later("booleans as times", _partitions("BOOLEAN"), _PARTITIONS, "strategy UpdateTime", "InvalidSpec")),
    TableRule("records-need-keys", "Only records of tables with primary keys expire.", "RecordLevelExpire: compactions of append tables do not use it", _records(),
        WrongManifest("records of a table without keys", append_table(spec__retention={"records": {"expireTime": "90d", "timeField": "at"}}), _RECORDS, "without primaryKeys")),
    TableRule("records-column", "The time of a record is a column.", "RecordLevelExpire.create", _records(),
        WrongManifest("records without their time", _keyed(records={"expireTime": "90d", "timeField": "at"}), f"{_RECORDS}.timeField", "one of the columns")),
    TableRule("records-type", "It is an INT, a BIGINT or a timestamp.", "RecordLevelExpire.create", _records("TIMESTAMP_LTZ(3)"),
        later("records with dates", _records("DATE"), f"{_RECORDS}.timeField", "Use INT, BIGINT or a timestamp", "InvalidSpec")),
    TableRule("records-engine", "With 0.9 it is an INT that is never NULL.", f"{_BY_RECORD}, RecordLevelExpire of 0.9.0", _records("INT NOT NULL"),
        later("records of an engine that fails at NULL", _records("INT"), f"{_RECORDS}.timeField", "INT NOT NULL", "UnsupportedByEngine", engine="paimon-0.9")),
    TableRule("records-32-bits", "With 0.9 records are kept for 1000 days at most: it adds in 32 bits, and an overflow removes all records.", f"{_BY_RECORD}: test_a_long_time_removes_all_records_of_an_engine_that_adds_in_32_bits", _records("INT NOT NULL", "1000d"),
        later("records for longer than 32 bits hold", _records("INT NOT NULL", "1001d"), f"{_RECORDS}.expireTime", "at most 1000d", "UnsupportedByEngine", engine="paimon-0.9")),
    TableRule("records-time", "Records are kept for 24000 days at most.", _LONG, _records(time="24000d"),
        WrongManifest("records for more than 65 years", _records(time="24001d"), f"{_RECORDS}.expireTime", "at most 24000d")),
    TableRule("records-rescale", "Records do not expire during a rescale, which proves that none was lost.", "ours: the proof would fail", _records(spec__bucket={"type": "Fixed", "fixed": {"count": 2}}),
        WrongManifest("records that expire during a rescale", _records(spec__bucket={"type": "Fixed", "fixed": {"count": 2, "onCountChange": "Rescale"}}), _RECORDS, "onCountChange Rescale")),
    TableRule("orphans-age", "Orphan files are at least a day old.", "OrphanFilesClean.olderThanMillis: files of a running write have no snapshot", _orphans(olderThan="24h"),
        WrongManifest("files of a running write as orphans", _orphans(olderThan="23h"), f"{_ORPHANS}.olderThan", "at least 1d")),
    TableRule("orphans-time", "Orphan files are kept for 24000 days at most.", _LONG, _orphans(olderThan="24000d"),
        WrongManifest("orphans for more than 65 years", _orphans(olderThan="24001d"), f"{_ORPHANS}.olderThan", "at most 24000d")),
    TableRule("orphans-active-writers", "Nothing is removed beside other writers.", "ours: their files can be old before they are committed", _active(_orphans(mode="Report")),
        WrongManifest("the removal of files that others may commit", _active(_orphans(mode="Delete")), f"{_ORPHANS}.mode", "externalWriters")),
    TableRule("orphans-deadline", "With Delete, orphan files are older than a run may take.", "ours: a run of a Pod that is taken for dead may still commit", edited(_orphans(mode="Delete", olderThan="3d"), spec__runPolicy={"activeDeadline": "2d"}),
        later("files of a run that may still be active", edited(_orphans(mode="Delete", olderThan="2d"), spec__runPolicy={"activeDeadline": "2d"}), f"{_ORPHANS}.olderThan", "more than 2d", "InvalidSpec")),
]  # fmt: skip


def _tags(creation: str = "ProcessTime", **block: Any) -> Manifest:
    return keyed_table(spec__tags={"automaticCreation": creation, **block})


TAGS = [
    TableRule("tags-watermark", "Tags by watermarks need writers that set them.", "TagTimeExtractor: without a watermark there is no time", keyed_table(spec__tags={"automaticCreation": "Watermark"}, **_ACTIVE),
        WrongManifest("tags by watermarks that nobody sets", _tags("Watermark"), "spec.tags.automaticCreation", "have no watermark")),
    TableRule("tags-batch-engine", "The engine must create tags of type Batch.", "paimon-spark of 0.9.0: no writer uses it", _tags("Batch", defaultTimeRetained="30d"),
        later("tags that the engine does not create", _tags("Batch"), "spec.tags.automaticCreation", "paimon-0.9", "UnsupportedByEngine", engine="paimon-0.9")),
    TableRule("tags-batch-number", "Tags of type Batch have no largest number.", "tests/spark/test_tags.py: test_batch_tags_with_a_number_delete_tags_of_users", _tags("ProcessTime", numRetainedMax=30),
        WrongManifest("a number of tags of type Batch", _tags("Batch", numRetainedMax=30), "spec.tags.numRetainedMax", "tags of users too")),
    TableRule("tags-batch-period", "Tags of type Batch have no period.", "TagBatchCreation.createTag", _tags(creationPeriod="TwoHours"),
        WrongManifest("a period of tags of type Batch", _tags("Batch", creationPeriod="Hourly"), "spec.tags.creationPeriod", "replaces the tag of its day")),
    TableRule("tags-batch-delay", "Nor a delay.", "TagBatchCreation.createTag", _tags(creationDelay="10m"),
        WrongManifest("a delay of tags of type Batch", _tags("Batch", creationDelay="10m"), "spec.tags.creationDelay", "replaces the tag of its day")),
    TableRule("tags-delay", "A delay is shorter than its period.", "TagPeriodHandler.validateDelay", _tags(creationPeriod="Hourly", creationDelay="59m"),
        WrongManifest("a delay of a whole period", _tags(creationDelay="24h"), "spec.tags.creationDelay", "shorter than the period")),
    TableRule("tags-delay-time", "A delay has 24000 days at most.", _LONG, _tags(creationDelay="1h"),
        WrongManifest("a delay of more than 65 years", _tags(creationDelay="24001d"), "spec.tags.creationDelay", "at most 24000d")),
    TableRule("tags-time", "Tags are kept for 24000 days at most.", _LONG, _tags(defaultTimeRetained="24000d"),
        WrongManifest("tags for more than 65 years", _tags(defaultTimeRetained="24001d"), "spec.tags.defaultTimeRetained", "at most 24000d")),
]  # fmt: skip
