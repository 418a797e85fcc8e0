"""Mistakes against rules that stand in several places of the CRDs: here, in the places where no other list has them."""

# ruff: noqa: E501  (a table: one mistake per line)

from __future__ import annotations

from typing import Any

from tests.support.manifests import REMOVED, Manifest, catalog, keyed_table, run
from tests.support.wrong_manifest import WrongManifest

_LONG_KEY = "k" * 129
_LABEL = f"{'x' * 250}/{'y' * 66}"
_DEFAULTS = "spec.tableDefaults"
_WRITE = "spec.writes[0].options"


def _defaults(**blocks: Any) -> Manifest:
    return catalog(spec__tableDefaults=blocks)


def _inline(**compaction: Any) -> Manifest:
    return _defaults(compaction={"mode": "Inline", **compaction})


def _snapshots(**snapshots: Any) -> Manifest:
    return _defaults(retention={"snapshots": snapshots})


def _partitions(**block: Any) -> Manifest:
    return _defaults(retention={"partitions": {"expirationTime": "365d", **block}})


def _tags(creation: str = "ProcessTime", **block: Any) -> Manifest:
    return _defaults(tags={"automaticCreation": creation, **block})


_CHANGELOGS = {"snapshots": {"timeRetained": "3d"}, "changelogs": {"timeRetained": "3d"}}


def _written(key: str) -> Manifest:
    return keyed_table(spec__writes__0__options={key: "1"})


REPETITIONS = [
    WrongManifest("a default minor compaction by the writers", _inline(minor={"schedule": "0 3 * * *"}), f"{_DEFAULTS}.compaction.minor", "unless mode is Dedicated"),
    WrongManifest("default idle partitions of the writers", _inline(partitionIdleTime="10m"), f"{_DEFAULTS}.compaction.partitionIdleTime", "unless mode is Dedicated"),
    WrongManifest("default partitions that are idle for more than 65 years", _defaults(compaction={"mode": "Dedicated", "partitionIdleTime": "24001d"}), f"{_DEFAULTS}.compaction.partitionIdleTime", "at most 24000d"),
    WrongManifest("a default delay of minor of more than 65 years", _defaults(compaction={"mode": "Dedicated", "minor": {"schedule": "0 3 * * *", "when": {"maxDelay": "24001d"}}}), f"{_DEFAULTS}.compaction.minor.when.maxDelay", "at most 24000d"),
    WrongManifest("a default delay of full of more than 65 years", _defaults(compaction={"mode": "Dedicated", "full": {"schedule": "0 3 * * *", "when": {"maxDelay": "24001d"}}}), f"{_DEFAULTS}.compaction.full.when.maxDelay", "at most 24000d"),
    WrongManifest("a default age of more than 65 years", _defaults(compaction={"mode": "Dedicated", "full": {"schedule": "0 3 * * *", "when": {"fullCompactionAge": "24001d"}}}), f"{_DEFAULTS}.compaction.full.when.fullCompactionAge", "at most 24000d"),
    WrongManifest("a default of fewer snapshots at most than at least", _snapshots(numRetainedMin=20, numRetainedMax=10), f"{_DEFAULTS}.retention.snapshots.numRetainedMin", "must not exceed"),
    WrongManifest("a default of fewer snapshots than Paimon keeps", _snapshots(numRetainedMax=3), f"{_DEFAULTS}.retention.snapshots.numRetainedMax", "needs numRetainedMin"),
    WrongManifest("a default retention of more than 65 years", _snapshots(timeRetained="24001d"), f"{_DEFAULTS}.retention.snapshots.timeRetained", "at most 24000d"),
    WrongManifest("default changelogs that are kept as long as snapshots", _defaults(retention=_CHANGELOGS), f"{_DEFAULTS}.retention.changelogs.timeRetained", "must be longer"),
    WrongManifest("default changelogs for more than 65 years", _defaults(retention={"changelogs": {"timeRetained": "24001d"}}), f"{_DEFAULTS}.retention.changelogs.timeRetained", "at most 24000d"),
    WrongManifest("default consumers for more than 65 years", _defaults(retention={"consumers": {"expirationTime": "24001d"}}), f"{_DEFAULTS}.retention.consumers.expirationTime", "at most 24000d"),
    WrongManifest("default partitions for more than 65 years", _partitions(expirationTime="24001d"), f"{_DEFAULTS}.retention.partitions.expirationTime", "at most 24000d"),
    WrongManifest("a default pattern for the time of files", _partitions(strategy="UpdateTime", timestampPattern="$dt"), f"{_DEFAULTS}.retention.partitions.timestampPattern", "unless strategy is ValuesTime"),
    WrongManifest("a default formatter for the time of files", _partitions(strategy="UpdateTime", timestampFormatter="yyyyMMdd"), f"{_DEFAULTS}.retention.partitions.timestampFormatter", "unless strategy is ValuesTime"),
    WrongManifest("a default formatter for months", _partitions(timestampFormatter="yyyyMM"), f"{_DEFAULTS}.retention.partitions.timestampFormatter", "year, month and day"),
    WrongManifest("default records for more than 65 years", _defaults(retention={"records": {"expireTime": "24001d", "timeField": "at"}}), f"{_DEFAULTS}.retention.records.expireTime", "at most 24000d"),
    WrongManifest("default orphans that a running write may need", _defaults(retention={"orphanFiles": {"olderThan": "1h"}}), f"{_DEFAULTS}.retention.orphanFiles.olderThan", "at least 1d"),
    WrongManifest("default orphans for more than 65 years", _defaults(retention={"orphanFiles": {"olderThan": "24001d"}}), f"{_DEFAULTS}.retention.orphanFiles.olderThan", "at most 24000d"),
    *(
        WrongManifest(f"a default {field} of tags of type Batch", _tags("Batch", **{field: value}), f"{_DEFAULTS}.tags.{field}", says)
        for field, value, says in (("creationPeriod", "Hourly", "of its day"), ("creationDelay", "10m", "of its day"), ("numRetainedMax", 30, "tags of users too"))
    ),
    WrongManifest("a default delay of a whole period", _tags(creationDelay="24h"), f"{_DEFAULTS}.tags.creationDelay", "shorter than the period"),
    WrongManifest("a default delay of more than 65 years", _tags(creationDelay="24001d"), f"{_DEFAULTS}.tags.creationDelay", "at most 24000d"),
    WrongManifest("default tags for more than 65 years", _tags(defaultTimeRetained="24001d"), f"{_DEFAULTS}.tags.defaultTimeRetained", "at most 24000d"),
    WrongManifest("an executor too small for a JVM", keyed_table(spec__spark={"executor": {"memory": "512Mi"}}), "spec.spark.executor.memory", "memory must be from"),
    WrongManifest("a catalog's driver too small for a JVM", catalog(spec__spark={"driver": {"memory": "512Mi"}}), "spec.spark.driver.memory", "memory must be from"),
    WrongManifest("a catalog's executor too small for a JVM", catalog(spec__spark={"executor": {"memory": "512Mi"}}), "spec.spark.executor.memory", "memory must be from"),
    WrongManifest("a limit of executors that no JVM fits into", catalog(spec__limits={"spark": {"executor": {"memory": "512Mi"}}}), "spec.limits.spark.executor.memory", "memory must be from"),
    WrongManifest("a setting of Spark with a long key", catalog(spec__spark={"sparkConf": {f"spark.sql.{_LONG_KEY}": "1"}}), "spec.spark.sparkConf", "at most 128 characters"),
    *(
        WrongManifest(f"{member} of Pods with a long key", catalog(spec__spark={"podOverlay": {member: {_LABEL: "1"}}}), f"spec.spark.podOverlay.{member}", "at most 316 characters")
        for member in ("labels", "annotations", "nodeSelector")
    ),
    WrongManifest("a location elsewhere beside a volume claim", catalog(spec__warehouse="file:///data/lake", spec__storage={"claim": {"name": "disk"}}), "spec.locations", "must begin with file://"),
    WrongManifest("an option with a long key", keyed_table(spec__options={_LONG_KEY: "1"}), "spec.options", "at most 128 characters"),
    WrongManifest("a parallelism of a Flink source", keyed_table(spec__options={"lookup.refresh.full-load-threshold": "1"}), "spec.options", "which has no effect here"),
    WrongManifest("a prefix of commit users", keyed_table(spec__options={"commit.user-prefix": "x"}), "spec.options", "the operator sets it, or it has no effect in a table"),
    WrongManifest("a snapshot to read from", keyed_table(spec__options={"scan.snapshot-id": "1"}), "spec.options", "it belongs to reads, the storage or the operator"),
    WrongManifest("files outside of the table", keyed_table(spec__options={"data-file.external-paths": "s3://x/"}), "spec.options", "it names a path, code or another table"),
    WrongManifest("a typed option of a write", _written("bucket"), _WRITE, "must be set by its typed field"),
    WrongManifest("the parallelism of a write", _written("sink.parallelism"), _WRITE, "for Spark set spark.executor.instances"),
    WrongManifest("an option of Flink in a write", _written("sink.writer-cpu"), _WRITE, "which has no effect here"),
    WrongManifest("an option of a column in a write", _written("fields.amount.aggregate-function"), _WRITE, "options of columns must be set by their typed fields"),
    WrongManifest("a prefix of commit users in a write", _written("commit.user-prefix"), _WRITE, "the operator sets it, or it has no effect in a table"),
    WrongManifest("a tag of a write", _written("tag.automatic-completion"), _WRITE, "it belongs to reads, the storage or the operator"),
    WrongManifest("a path of a write", _written("path"), _WRITE, "it names a path, code or another table"),
    WrongManifest("an option of a write with a long key", _written(_LONG_KEY), _WRITE, "at most 128 characters"),
    WrongManifest("a search for orphans without its settings", run(spec__type="RemoveOrphanFiles", spec__compact=REMOVED), "spec.removeOrphanFiles", "must be set when type is RemoveOrphanFiles"),
    WrongManifest("a partition with a long key", run(spec__compact__partitions=[{_LONG_KEY: "1"}]), "spec.compact.partitions[0]", "at most 128 characters"),
    WrongManifest("more partitions than a run can name", run(spec__compact__partitions=[{f"k{n}": "x" * 250 for n in range(12)}] * 100), "spec.compact.partitions", "at most 256 KiB"),
]  # fmt: skip
