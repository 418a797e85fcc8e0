"""Wrong manifests: each is refused at apply, or Stalled with field, reason and remedy; nothing is created.

`caught_by="apiserver"`: the CRDs refuse it (`tests/apiserver/test_crds_refuse.py`), and so do the operator's own rules
(`tests/core/validation/test_wrong_manifests.py`). `caught_by="reconcile"`: the mistake depends on types, engine or
catalog, so only the operator refuses it (`tests/core/validation/test_table.py`).
"""

# ruff: noqa: E501  (a table: one mistake per line)

from __future__ import annotations

from tests.support.manifests import REMOVED, Manifest, append_table, catalog, edited, keyed_table, run
from tests.support.table_rules import TABLE_RULES
from tests.support.wrong_manifest import WrongManifest
from tests.support.wrong_manifest import later as _later
from tests.support.wrong_repetitions import REPETITIONS

_LONG = "a" * 10_000
_MANY_COLUMNS = [{"name": f"c{n}", "type": "INT"} for n in range(501)]
_WRITE = keyed_table()["spec"]["writes"][0]

_KERBEROS = {
    "principal": "paimon@EXAMPLE.COM",
    "keytabSecretRef": {"name": "lake-keytab"},
    "krb5ConfigMapRef": {"name": "krb5"},
}


def _windows(**edits: object) -> Manifest:
    window = {"schedule": "0 1 * * *", "duration": "4h"} | edits
    return catalog(spec__maintenanceWindows=[{key: value for key, value in window.items() if value is not REMOVED}])


def _on_hdfs(**edits: object) -> Manifest:
    hdfs = {"configMapRef": {"name": "hadoop-conf"}}
    return edited(
        catalog(spec__warehouse="hdfs://lake/warehouse", spec__storage={"hdfs": hdfs}, spec__locations=[]), **edits
    )


_COLUMNS = [
    WrongManifest("no columns", keyed_table(spec__schema__columns=[]), "spec.schema.columns", "at least 1"),
    WrongManifest("more than 500 columns", keyed_table(spec__schema__columns=_MANY_COLUMNS), "spec.schema.columns", "Too many"),
    WrongManifest("a column twice", keyed_table(spec__schema__columns__6={"name": "dt", "type": "INT"}), "spec.schema.columns[6]", "Duplicate"),
    WrongManifest("a column name of 10,000 characters", keyed_table(spec__schema__columns__2__name=_LONG), "spec.schema.columns[2].name", "Too long"),
    WrongManifest("a column name with a space", keyed_table(spec__schema__columns__2__name="the state"), "spec.schema.columns[2].name", "should match"),
    WrongManifest("a column name that ends a statement", keyed_table(spec__schema__columns__2__name="x`; DROP TABLE t; --"), "spec.schema.columns[2].name", "should match"),
    WrongManifest("a column named like Paimon's own", keyed_table(spec__schema__columns__2__name="_SEQUENCE_NUMBER"), "spec.schema.columns[2].name", "reserved"),
    WrongManifest("a column named like Paimon's key copies", keyed_table(spec__schema__columns__2__name="_KEY_order_id"), "spec.schema.columns[2].name", "reserved"),
    WrongManifest("a comment of 10,000 characters", keyed_table(spec__schema__comment=_LONG), "spec.schema.comment", "Too long"),
    WrongManifest("an unknown type", keyed_table(spec__schema__columns__2__type="NUMBER"), "spec.schema.columns[2].type", "should match"),
    WrongManifest("a type that ends a statement", keyed_table(spec__schema__columns__2__type="INT); DROP TABLE t"), "spec.schema.columns[2].type", "should match"),
    WrongManifest("a timestamp without precision", keyed_table(spec__schema__columns__5__type="timestamp"), "spec.schema.columns[5].type", "TIMESTAMP(6)"),
    WrongManifest("an array of nothing", keyed_table(spec__schema__columns__4__type="ARRAY"), "spec.schema.columns[4].type", "needs its parameters"),
    WrongManifest("a column without a type", keyed_table(spec__schema__columns__4__type=REMOVED), "spec.schema.columns[4].type", "Required"),
    _later("an unknown type in an array", keyed_table(spec__schema__columns__4__type="ARRAY<NUMBER>"), "spec.schema.columns[4].type", "NUMBER", "InvalidSpec"),
    _later("a timestamp without precision in a row", keyed_table(spec__schema__columns__4__type="ROW<a TIMESTAMP>"), "spec.schema.columns[4].type", "TIMESTAMP(6)", "InvalidSpec"),
    _later("more digits than a decimal has", keyed_table(spec__schema__columns__3__type="DECIMAL(50,2)"), "spec.schema.columns[3].type", "38", "InvalidSpec"),
    _later("an array that is not closed", keyed_table(spec__schema__columns__4__type="ARRAY<INT"), "spec.schema.columns[4].type", "", "InvalidSpec"),
    _later("two columns that differ in case only", keyed_table(spec__schema__columns__6={"name": "DT", "type": "INT"}), "spec.schema.columns[6].name", "dt", "InvalidSpec"),
]  # fmt: skip

_CHANGES = [
    WrongManifest("a dropped column that is declared", keyed_table(spec__schema__droppedColumns=["state"]), "spec.schema.droppedColumns", "one of the columns"),
    WrongManifest("a primary key that is dropped", keyed_table(spec__schema__columns__1=REMOVED, spec__schema__droppedColumns=["order_id"]), "spec.schema.droppedColumns", "primary key"),
    WrongManifest("a column that is dropped and renamed", keyed_table(spec__schema__columns__2__renamedFrom="old", spec__schema__droppedColumns=["old"]), "spec.schema.droppedColumns", "renamed"),
    WrongManifest("a path that ends with a dot", keyed_table(spec__schema__droppedColumns=["old."]), "spec.schema.droppedColumns[0]", "should match"),
    WrongManifest("a column renamed from itself", keyed_table(spec__schema__columns__2__renamedFrom="state"), "spec.schema.columns", "another name"),
    _later("a field dropped under its column's old name", keyed_table(spec__schema__columns__2__renamedFrom="old", spec__schema__droppedColumns=["old.field"]), "spec.schema.droppedColumns[0]", "is renamed", "InvalidSpec"),
    _later("columns renamed in a circle", keyed_table(spec__schema__columns__2__renamedFrom="amount", spec__schema__columns__3__renamedFrom="state"), "spec.schema.columns[2].renamedFrom", "circle", "InvalidSpec"),
    _later("two columns renamed from one", keyed_table(spec__schema__columns__2__renamedFrom="old", spec__schema__columns__3__renamedFrom="old"), "spec.schema.columns[3].renamedFrom", "as well", "InvalidSpec"),
]  # fmt: skip

_ITEMS = {
    "type": "ARRAY<ROW<sku STRING, n INT>>",
    "aggregate": {"function": "nested_partial_update", "nestedKey": ["sku"]},
}
_NESTED_PARTIAL_UPDATE = keyed_table(
    spec__mergeEngine={"type": "Aggregation"}, spec__schema__columns__6={"name": "items"} | _ITEMS
)

_UPKEEP = [
    WrongManifest("fewer snapshots at most than at least", keyed_table(spec__retention={"snapshots": {"numRetainedMin": 20, "numRetainedMax": 10}}), "spec.retention.snapshots.numRetainedMin", "must not exceed"),
    WrongManifest("fewer snapshots at most than Paimon keeps at least", keyed_table(spec__retention={"snapshots": {"numRetainedMax": 3}}), "spec.retention.snapshots.numRetainedMax", "numRetainedMin"),
    WrongManifest("no snapshot at all", keyed_table(spec__retention={"snapshots": {"numRetainedMin": 0}}), "spec.retention.snapshots.numRetainedMin", "greater than or equal to 1"),
    WrongManifest("a duration in words", keyed_table(spec__retention={"snapshots": {"timeRetained": "7 days"}}), "spec.retention.snapshots.timeRetained", "should match"),
    WrongManifest("a duration with junk behind it", keyed_table(spec__retention={"snapshots": {"timeRetained": "7djunk"}}), "spec.retention.snapshots.timeRetained", "should match"),
    WrongManifest("a deadline beyond that of any Pod", keyed_table(spec__runPolicy={"activeDeadline": "99999d"}), "spec.runPolicy.activeDeadline", "at most 30d"),
    WrongManifest("a deadline of more than 30 days, in hours", keyed_table(spec__runPolicy={"activeDeadline": "721h"}), "spec.runPolicy.activeDeadline", "at most 30d"),
    WrongManifest("a retention of more than 65 years", keyed_table(spec__retention={"snapshots": {"timeRetained": "24001d"}}), "spec.retention.snapshots.timeRetained", "at most 24000d"),
    WrongManifest("a run's deadline beyond that of any Pod", run(spec__activeDeadline="99999d"), "spec.activeDeadline", "at most 30d"),
    WrongManifest("a run that is kept for more than 65 years", run(spec__ttlAfterFinished="24001d"), "spec.ttlAfterFinished", "at most 24000d"),
    WrongManifest("a limit that no JVM fits into", catalog(spec__limits={"spark": {"driver": {"memory": "512Mi"}}}), "spec.limits.spark.driver.memory", "memory must be from"),
    WrongManifest("a limit of modes that allows a choice", catalog(spec__limits={"spark": {"modes": ["Auto"]}}), "spec.limits.spark.modes[0]", "Unsupported value"),
    WrongManifest("a catalog's deadline beyond that of any Pod", catalog(spec__tableDefaults={"runPolicy": {"activeDeadline": "31d"}}), "spec.tableDefaults.runPolicy.activeDeadline", "at most 30d"),
    WrongManifest("a schedule of four fields", keyed_table(spec__compaction={"mode": "Dedicated", "full": {"schedule": "*/5 * * *"}}), "spec.compaction.full.schedule", "should match"),
    WrongManifest("a schedule with seconds", keyed_table(spec__compaction={"mode": "Dedicated", "full": {"schedule": "0 */5 * * * *"}}), "spec.compaction.full.schedule", "should match"),
    WrongManifest("a scheduled compaction by the writers", keyed_table(spec__compaction={"mode": "Inline", "full": {"schedule": "0 3 * * *"}}), "spec.compaction.full", "Dedicated"),
    WrongManifest("a minor compaction by the writers", keyed_table(spec__compaction={"mode": "Inline", "minor": {"schedule": "0 3 * * *"}}), "spec.compaction.minor", "minor must not be set unless mode is Dedicated"),
    WrongManifest("idle partitions of the writers", keyed_table(spec__compaction={"mode": "Inline", "partitionIdleTime": "10m"}), "spec.compaction.partitionIdleTime", "unless mode is Dedicated"),
    WrongManifest("partitions that are idle for more than 65 years", keyed_table(spec__compaction={"mode": "Dedicated", "partitionIdleTime": "24001d"}), "spec.compaction.partitionIdleTime", "at most 24000d"),
    WrongManifest("one sorted run as a threshold", keyed_table(spec__compaction={"mode": "Dedicated", "minor": {"schedule": "0 3 * * *", "when": {"sortedRunsPerBucket": 1}}}), "spec.compaction.minor.when.sortedRunsPerBucket", "greater than or equal to 2"),
    WrongManifest("a delete ratio of nothing", keyed_table(spec__compaction={"mode": "Dedicated", "full": {"schedule": "0 3 * * *", "when": {"deleteRatio": "0%"}}}), "spec.compaction.full.when.deleteRatio", "should match"),
    WrongManifest("a delete ratio as a fraction", keyed_table(spec__compaction={"mode": "Dedicated", "full": {"schedule": "0 3 * * *", "when": {"deleteRatio": "0.2"}}}), "spec.compaction.full.when.deleteRatio", "should match"),
    WrongManifest("a delay of more than 65 years", keyed_table(spec__compaction={"mode": "Dedicated", "minor": {"schedule": "0 3 * * *", "when": {"maxDelay": "24001d"}}}), "spec.compaction.minor.when.maxDelay", "at most 24000d"),
    WrongManifest("a delay of full of more than 65 years", keyed_table(spec__compaction={"mode": "Dedicated", "full": {"schedule": "0 3 * * *", "when": {"maxDelay": "24001d"}}}), "spec.compaction.full.when.maxDelay", "at most 24000d"),
    WrongManifest("an age of more than 65 years", keyed_table(spec__compaction={"mode": "Dedicated", "full": {"schedule": "0 3 * * *", "when": {"fullCompactionAge": "24001d"}}}), "spec.compaction.full.when.fullCompactionAge", "at most 24000d"),
    WrongManifest("idle partitions without partitions", append_table(spec__compaction={"mode": "Dedicated", "partitionIdleTime": "10m"}), "spec.compaction.partitionIdleTime", "without partitionKeys"),
    WrongManifest("a rescale beside outside writers", keyed_table(spec__externalWriters="Active", spec__bucket={"type": "Fixed", "fixed": {"count": 2, "onCountChange": "Rescale"}}), "spec.bucket.fixed.onCountChange", "Active"),
    WrongManifest("the parallelism of Flink", keyed_table(spec__options={"scan.parallelism": "4"}), "spec.options", "for Spark set spark.executor.instances"),
    WrongManifest("a credential as an option", keyed_table(spec__options={"s3.secret-key": "x"}), "spec.options", "s3.secret-key must not be set"),
    WrongManifest("a path as an option", keyed_table(spec__options={"path": "s3://elsewhere/x"}), "spec.options", "option path must not be set"),
    WrongManifest("an option of 10,000 characters", keyed_table(spec__options={"file.compression": _LONG}), "spec.options.file.compression", "Too long"),
    WrongManifest("a default compaction by the writers on a schedule", catalog(spec__tableDefaults={"compaction": {"mode": "Inline", "full": {"schedule": "0 3 * * *"}}}), "spec.tableDefaults.compaction.full", "Dedicated"),
    WrongManifest("a driver too small for a JVM", keyed_table(spec__spark={"driver": {"memory": "512Mi"}}), "spec.spark.driver.memory", "1Gi"),
    WrongManifest("a size without a number", keyed_table(spec__spark={"driver": {"memory": "lots"}}), "spec.spark.driver.memory", "should match"),
    WrongManifest("more retries than there are days", keyed_table(spec__runPolicy={"backoffLimit": 1000}), "spec.runPolicy.backoffLimit", "less than or equal to 20"),
    _later("an unknown option", keyed_table(spec__options={"file.compresion": "zstd"}), "spec.options", "file.compression", "UnknownOption"),
    _later("a table of no levels", keyed_table(spec__options={"num-levels": "0"}), "spec.options", "at least 2", "InvalidSpec"),
    _later("an option that left Paimon", keyed_table(spec__options={"no-such-thing": "x"}), "spec.options", "no-such-thing", "UnknownOption"),
    _later("a word where Paimon wants a number", keyed_table(spec__options={"num-sorted-run.compaction-trigger": "abc"}), "spec.options", "num-sorted-run.compaction-trigger", "InvalidSpec"),
    _later("a time zone that does not exist", keyed_table(spec__timeZone="Europe/Atlantis"), "spec.timeZone", "Europe/Atlantis", "InvalidSpec"),
    _later("the sixty-first minute", keyed_table(spec__compaction={"mode": "Dedicated", "full": {"schedule": "61 * * * *"}}), "spec.compaction.full.schedule", "61", "InvalidSpec"),
    _later("a day that never comes", keyed_table(spec__compaction={"mode": "Dedicated", "full": {"schedule": "0 0 31 2 *"}}), "spec.compaction.full.schedule", "never", "InvalidSpec"),
    _later("an aggregate function on an engine without it", _NESTED_PARTIAL_UPDATE, "spec.schema.columns[6].aggregate.function", "paimon-0.9", "UnsupportedByEngine", engine="paimon-0.9"),
    _later("minor compaction on an engine without it", keyed_table(spec__compaction={"mode": "Dedicated", "minor": {"schedule": "0 * * * *"}}), "spec.compaction.minor", "paimon-0.9", "UnsupportedByEngine", engine="paimon-0.9"),
]  # fmt: skip

_WRITES = [
    WrongManifest("a path out of the location", keyed_table(spec__writes__0__from__files__path="orders/../../secrets"), "spec.writes[0].from.files.path", "should match"),
    WrongManifest("an absolute path", keyed_table(spec__writes__0__from__files__path="/etc/passwd"), "spec.writes[0].from.files.path", "should match"),
    WrongManifest("a path with a scheme", keyed_table(spec__writes__0__from__files__path="s3://elsewhere/x"), "spec.writes[0].from.files.path", "should match"),
    WrongManifest("a path with wildcards", keyed_table(spec__writes__0__from__files__path="orders/*.parquet"), "spec.writes[0].from.files.path", "should match"),
    WrongManifest("a format that Spark reads and we do not", keyed_table(spec__writes__0__from__files__format="avro"), "spec.writes[0].from.files.format", "Unsupported value"),
    WrongManifest("an upsert without keys", append_table(spec__writes=[_WRITE]), "spec.writes", "needs primaryKeys"),
    WrongManifest("an append where rows merge", keyed_table(spec__writes__0__mode="Append"), "spec.writes", "use Upsert"),
    WrongManifest("a schedule that is not said", keyed_table(spec__writes__0__trigger={"type": "Schedule"}), "spec.writes[0].trigger.schedule", "must be set"),
    WrongManifest("once on a schedule", keyed_table(spec__writes__0__trigger={"type": "Once", "schedule": "0 * * * *"}), "spec.writes[0].trigger.schedule", "must not be set"),
    WrongManifest("two writes of one name", keyed_table(spec__writes__1=_WRITE), "spec.writes[1]", "Duplicate"),
    WrongManifest("a write named like a path", keyed_table(spec__writes__0__name="../import"), "spec.writes[0].name", "should match"),
    WrongManifest("more writes than sixteen", keyed_table(spec__writes=[_WRITE | {"name": f"w{n}"} for n in range(17)]), "spec.writes", "Too many"),
    WrongManifest("a write without a source", keyed_table(spec__writes__0__from={}), "spec.writes[0].from.files", "Required"),
    _later("a location that the catalog has not", keyed_table(spec__writes__0__from__files__location="attic"), "spec.writes[0].from.files.location", "attic", "LocationNotFound"),
]  # fmt: skip

_IDENTITY = [
    WrongManifest("a database that climbs out of the warehouse", keyed_table(spec__database="../other"), "spec.database", "should match"),
    WrongManifest("a table that climbs out of its database", keyed_table(spec__table="../../x"), "spec.table", "should match"),
    WrongManifest("a table with a directory", keyed_table(spec__table="a/b"), "spec.table", "should match"),
    WrongManifest("a system table", keyed_table(spec__table="orders$snapshots"), "spec.table", "should match"),
    WrongManifest("a database of 10,000 characters", keyed_table(spec__database=_LONG), "spec.database", "Too long"),
    WrongManifest("an object name too long for its runs", keyed_table(metadata__name="a" * 49), "metadata.name", "may not be more than 48"),
    WrongManifest("an object name with a dot", keyed_table(metadata__name="orders.v2"), "metadata.name", "should match"),
    WrongManifest("no catalog", keyed_table(spec__catalogRef=REMOVED), "spec.catalogRef", "Required"),
    WrongManifest("a field that does not exist", keyed_table(spec__buckets=4), "spec.buckets", "unknown field"),
    WrongManifest("a policy that does not exist", keyed_table(spec__adoptionPolicy="Always"), "spec.adoptionPolicy", "Unsupported value"),
    _later("a database that the catalog does not allow", keyed_table(spec__database="finance"), "spec.database", "finance", "DatabaseNotAllowed"),
]  # fmt: skip


def _jdbc(**edits: object) -> dict[str, object]:
    right = {"uri": "jdbc:postgresql://db:5432/paimon", "credentialsSecretRef": {"name": "db"}}
    return {"type": "Jdbc", "jdbc": {key: value for key, value in {**right, **edits}.items() if value is not REMOVED}}


_HIVE = {"type": "Hive", "hive": {"uri": "thrift://hms:9083"}}

_OTHER_KINDS = [
    WrongManifest("a block that is enforced and absent", catalog(spec__enforced=["OrphanFiles"]), "spec.enforced", "tableDefaults.retention.orphanFiles"),
    WrongManifest("a warehouse on the node's disk", catalog(spec__warehouse="file:///tmp/warehouse"), "spec.warehouse", "should match"),
    WrongManifest("a warehouse that climbs", catalog(spec__warehouse="s3://lake/a/../b"), "spec.warehouse", "should match"),
    WrongManifest("a warehouse that is a whole bucket", catalog(spec__warehouse="s3://lake"), "spec.warehouse", "should match"),
    WrongManifest("a location inside the warehouse", catalog(spec__locations=[{"name": "in", "uri": "s3://lake/warehouse/shop.db/"}]), "spec.locations", "inside the warehouse"),
    WrongManifest("a location around the warehouse", catalog(spec__locations=[{"name": "all", "uri": "s3://lake/"}]), "spec.locations", "contain it"),
    WrongManifest("credentials in the endpoint", catalog(spec__storage__s3__endpoint="http://me:secret@s3.example"), "spec.storage.s3.endpoint", "should match"),
    WrongManifest("two kinds of credentials", catalog(spec__storage__s3__credentialsFileSecretRef={"name": "x"}), "spec.storage.s3.credentialsFileSecretRef", "must not both be set"),
    WrongManifest("an authority without TLS", catalog(spec__storage__s3__caConfigMapRef={"name": "ca"}), "spec.storage.s3.caConfigMapRef", "http://"),
    WrongManifest("a key among the options", catalog(spec__storage__s3__options={"fs.s3a.secret.key": "abc"}), "spec.storage.s3.options", "must not be set: credentials belong in the Secret"),
    WrongManifest("a line end after an option of S3", catalog(spec__storage__s3__options={"s3.retry.limit\n": "3"}), "spec.storage.s3.options", "only the S3 options that docs/storage.md lists"),
    WrongManifest("an option that names code", catalog(spec__storage__s3__options={"s3.threads.max": "9", "fs.s3a.impl": "x"}), "spec.storage.s3.options", "option fs.s3a.impl is not one that may be set"),
    WrongManifest("an encryption key in the catalog", catalog(spec__storage__s3__options={"s3.encryption.algorithm": "SSE-C"}), "spec.storage.s3.options", "use SSE-S3 or SSE-KMS"),
    WrongManifest("a storage of no kind", catalog(spec__storage={}), "spec.storage", "exactly one of"),
    WrongManifest("a storage of two kinds", catalog(spec__storage__claim={"name": "disk"}), "spec.storage", "exactly one of"),
    WrongManifest("a bucket on a claim", catalog(spec__storage={"claim": {"name": "disk"}}), "spec.warehouse", "must begin with file://"),
    WrongManifest("a claim's path in a bucket", catalog(spec__warehouse="file:///data/warehouse"), "spec.warehouse", "must begin with s3://"),
    WrongManifest("a location on the Pod's disk", catalog(spec__locations=[{"name": "in", "uri": "file:///data/in/"}]), "spec.locations", "must begin with s3://"),
    WrongManifest("an executor too small for a JVM", catalog(spec__spark={"executor": {"memory": "512Mi"}}), "spec.spark.executor.memory", "1Gi"),
    WrongManifest("no executor at all", catalog(spec__spark={"executor": {"instances": 0}}), "spec.spark.executor.instances", "greater than or equal to 1"),
    WrongManifest("a mode that does not exist", catalog(spec__spark={"mode": "Remote"}), "spec.spark.mode", "Unsupported value"),
    WrongManifest("a master of one's own", catalog(spec__spark={"sparkConf": {"spark.master": "local"}}), "spec.spark.sparkConf", "setting spark.master may not be set here"),
    WrongManifest("code by a setting", catalog(spec__spark={"sparkConf": {"spark.plugins": "x.Y"}}), "spec.spark.sparkConf", "setting spark.plugins may not be set here"),
    WrongManifest("another image by a setting", catalog(spec__spark={"sparkConf": {"spark.kubernetes.executor.container.image": "x"}}), "spec.spark.sparkConf", "may not be set here"),
    WrongManifest("a credential as a setting", catalog(spec__spark={"sparkConf": {"spark.hadoop.fs.s3a.secret.key": "x"}}), "spec.spark.sparkConf", "no credentials"),
    WrongManifest("a password as a setting", catalog(spec__spark={"sparkConf": {"spark.ssl.keyPassword": "x"}}), "spec.spark.sparkConf", "no credentials"),
    WrongManifest("a variable in a setting", catalog(spec__spark={"sparkConf": {"spark.network.timeout": "${env:HOME}"}}), "spec.spark.sparkConf.spark.network.timeout", "should match"),
    WrongManifest("a variable in an option of S3", catalog(spec__storage__s3__options={"fs.s3a.connection.maximum": "${env.AWS_SECRET_ACCESS_KEY}"}), "spec.storage.s3.options.fs.s3a.connection.maximum", "should match"),
    WrongManifest("settings of Spark in a table", keyed_table(spec__spark={"sparkConf": {"spark.speculation": "true"}}), "spec.spark.sparkConf", "unknown field"),
    WrongManifest("an overlay in a table", keyed_table(spec__spark={"podOverlay": {"labels": {"a": "b"}}}), "spec.spark.podOverlay", "unknown field"),
    WrongManifest("an overlay that mounts", catalog(spec__spark={"podOverlay": {"volumes": [{"name": "x", "hostPath": {"path": "/"}}]}}), "spec.spark.podOverlay.volumes", "unknown field"),
    WrongManifest("an overlay with another user", catalog(spec__spark={"podOverlay": {"securityContext": {"runAsUser": 0}}}), "spec.spark.podOverlay.securityContext", "unknown field"),
    WrongManifest("a priority of the system", catalog(spec__spark={"podOverlay": {"priorityClassName": "system-cluster-critical"}}), "spec.spark.podOverlay.priorityClassName", "evict"),
    WrongManifest("a label of the operator's", catalog(spec__spark={"podOverlay": {"labels": {"paimon-operator.dev/role": "driver"}}}), "spec.spark.podOverlay.labels", "the operator's"),
    WrongManifest("an annotation of the operator's", catalog(spec__spark={"podOverlay": {"annotations": {"paimon-operator.dev/x": "y"}}}), "spec.spark.podOverlay.annotations", "the operator's"),
    WrongManifest("a label that is none", catalog(spec__spark={"podOverlay": {"labels": {"team": "a b"}}}), "spec.spark.podOverlay.labels.team", "should match"),
    WrongManifest("a bucket on HDFS", catalog(spec__storage={"hdfs": {}}), "spec.warehouse", "must begin with hdfs://"),
    WrongManifest("a warehouse that is a whole HDFS", _on_hdfs(spec__warehouse="hdfs://nn:8020"), "spec.warehouse", "should match"),
    WrongManifest("a user in the warehouse", _on_hdfs(spec__warehouse="hdfs://me:secret@nn/lake"), "spec.warehouse", "should match"),
    WrongManifest("a location elsewhere than on HDFS", _on_hdfs(spec__locations=[{"name": "landing", "uri": "s3://landing/"}]), "spec.locations", "must begin with hdfs://"),
    WrongManifest("two names of the HDFS user", _on_hdfs(spec__storage__hdfs__kerberos=_KERBEROS, spec__storage__hdfs__user="paimon"), "spec.storage.hdfs.user", "its principal is the user"),
    WrongManifest("Kerberos without the cluster's files", _on_hdfs(spec__storage={"hdfs": {"kerberos": _KERBEROS}}), "spec.storage.hdfs.configMapRef", "must be set with kerberos"),
    WrongManifest("a principal without its realm", _on_hdfs(spec__storage__hdfs__kerberos=_KERBEROS | {"principal": "paimon"}), "spec.storage.hdfs.kerberos.principal", "should match"),
    WrongManifest("a principal without a keytab", _on_hdfs(spec__storage__hdfs__kerberos={"principal": "p@R", "krb5ConfigMapRef": {"name": "krb5"}}), "spec.storage.hdfs.kerberos.keytabSecretRef", "Required"),
    WrongManifest("a server among the options of HDFS", _on_hdfs(spec__storage__hdfs__options={"dfs.client.socket-timeout": "9", "fs.defaultFS": "hdfs://other"}), "spec.storage.hdfs.options", "option fs.defaultFS is not one that may be set"),
    WrongManifest("a variable in an option of HDFS", _on_hdfs(spec__storage__hdfs__options={"dfs.client.socket-timeout": "${user.name}"}), "spec.storage.hdfs.options.dfs.client.socket-timeout", "should match"),
    WrongManifest("code among the options of HDFS", _on_hdfs(spec__storage__hdfs__options={"dfs.client.failover.proxy.provider.lake": "x"}), "spec.storage.hdfs.options", "option dfs.client.failover.proxy.provider.lake is not one"),
    WrongManifest("a class that resolves names among the options of HDFS", _on_hdfs(spec__storage__hdfs__options={"dfs.client.failover.resolver.impl.lake": "x"}), "spec.storage.hdfs.options", "option dfs.client.failover.resolver.impl.lake is not one"),
    WrongManifest("a class that reads replicas among the options of HDFS", _on_hdfs(spec__storage__hdfs__options={"dfs.client.replica.accessor.builder.classes": "x"}), "spec.storage.hdfs.options", "option dfs.client.replica.accessor.builder.classes is not one"),
    WrongManifest("a file of keys among the options of HDFS", _on_hdfs(spec__storage__hdfs__options={"dfs.client.https.keystore.resource": "x"}), "spec.storage.hdfs.options", "option dfs.client.https.keystore.resource is not one"),
    _later("a claim where none is allowed", catalog(spec__storage={"claim": {"name": "disk"}}, spec__warehouse="file:///data/lake", spec__locations=[]), "spec.storage.claim", "spark.allowClaims", "StorageNotAllowed"),
    _later("drivers of an account that no policy holds", catalog(spec__spark={"driverServiceAccountName": "lake"}), "spec.spark.driverServiceAccountName", "paimon-driver-<something>", "InvalidSpec"),
    _later("the account that all drivers of executors share, as a catalog's own", catalog(spec__spark={"driverServiceAccountName": "paimon-driver"}), "spec.spark.driverServiceAccountName", "leave the field out", "InvalidSpec"),
    _later("executors with the rights of their driver", catalog(spec__spark={"serviceAccountName": "paimon-driver"}), "spec.spark.serviceAccountName", "executors must have no right", "InvalidSpec"),
    _later("executors with the rights of a catalog's drivers", catalog(spec__spark={"serviceAccountName": "paimon-driver-lake"}), "spec.spark.serviceAccountName", "executors must have no right", "InvalidSpec"),
    WrongManifest("a metastore that does not work yet", catalog(spec__metastore={"type": "Rest"}), "spec.metastore.type", "Unsupported value"),
    WrongManifest("a Hive metastore without its address", catalog(spec__metastore={"type": "Hive"}), "spec.metastore.hive", "must be set"),
    WrongManifest("a Hive metastore's address of no use", catalog(spec__metastore={"type": "Filesystem", "hive": _HIVE["hive"]}), "spec.metastore.hive", "must not be set"),
    WrongManifest("a metastore of two kinds", catalog(spec__metastore=_HIVE | {"jdbc": _jdbc()["jdbc"]}), "spec.metastore.jdbc", "must not be set"),
    WrongManifest("a Hive metastore without a port", catalog(spec__metastore={"type": "Hive", "hive": {"uri": "thrift://hms"}}), "spec.metastore.hive.uri", "should match"),
    WrongManifest("a Hive metastore at a port of its own kind", catalog(spec__metastore={"type": "Hive", "hive": {"uri": "thrift://hms:65536"}}), "spec.metastore.hive.uri", "a port is at most 65535"),
    WrongManifest("a database that Hive would call by another name", catalog(spec__metastore=_HIVE, spec__allowedDatabases=["shop", "Sales"]), "spec.allowedDatabases", "lower-case letters, digits and underscores"),
    WrongManifest("runs that end before they may remove a Hive lock", catalog(spec__metastore=_HIVE, spec__tableDefaults={"runPolicy": {"activeDeadline": "5m"}}), "spec.tableDefaults.runPolicy.activeDeadline", "longer than 300s"),
    WrongManifest("two Hive metastores", catalog(spec__metastore={"type": "Hive", "hive": {"uri": "thrift://one:9083,thrift://two:9083"}}), "spec.metastore.hive.uri", "should match"),
    WrongManifest("a Hive metastore over HTTP", catalog(spec__metastore={"type": "Hive", "hive": {"uri": "http://hms:9083"}}), "spec.metastore.hive.uri", "should match"),
    WrongManifest("a user in the address of a Hive metastore", catalog(spec__metastore={"type": "Hive", "hive": {"uri": "thrift://me:secret@hms:9083"}}), "spec.metastore.hive.uri", "should match"),
    WrongManifest("a database without its address", catalog(spec__metastore={"type": "Jdbc"}), "spec.metastore.jdbc", "must be set"),
    WrongManifest("an address of no use", catalog(spec__metastore=_jdbc() | {"type": "Filesystem"}), "spec.metastore.jdbc", "must not be set"),
    WrongManifest("a database without credentials", catalog(spec__metastore=_jdbc(credentialsSecretRef=REMOVED)), "spec.metastore.jdbc.credentialsSecretRef", "Required"),
    WrongManifest("a database of another kind", catalog(spec__metastore=_jdbc(uri="jdbc:mysql://db/paimon")), "spec.metastore.jdbc.uri", "should match"),
    WrongManifest("a password in the parameters", catalog(spec__metastore=_jdbc(uri="jdbc:postgresql://db/paimon?user=me&password=x")), "spec.metastore.jdbc.uri", "into the Secret"),
    WrongManifest("a password before the host", catalog(spec__metastore=_jdbc(uri="jdbc:postgresql://me:secret@db/paimon")), "spec.metastore.jdbc.uri", "into the Secret"),
    WrongManifest("a parameter that runs code", catalog(spec__metastore=_jdbc(uri="jdbc:postgresql://db/paimon?socketFactory=x.Y")), "spec.metastore.jdbc.uri", "may be: sslmode"),
    WrongManifest("a second factory, which is the one that counts", catalog(spec__metastore=_jdbc(uri="jdbc:postgresql://db/paimon?sslfactory=org.postgresql.ssl.DefaultJavaSSLFactory&sslfactory=org.postgresql.ssl.NonValidatingFactory")), "spec.metastore.jdbc.uri", "DefaultJavaSSLFactory"),
    WrongManifest("a factory that runs code", catalog(spec__metastore=_jdbc(uri="jdbc:postgresql://db/paimon?sslmode=require&sslfactory=x.Y")), "spec.metastore.jdbc.uri", "DefaultJavaSSLFactory"),
    _later("a metastore that the engine has not", catalog(spec__metastore=_jdbc(), spec__engine="paimon-0.9"), "spec.metastore.type", "paimon-0.9 does not work with Jdbc", "UnsupportedByEngine"),
    WrongManifest("an engine that is no engine", catalog(spec__engine="latest"), "spec.engine", "should match"),
    WrongManifest("two locations of one name", catalog(spec__locations__1={"name": "landing", "uri": "s3://other/"}), "spec.locations[1]", "Duplicate"),
    WrongManifest("a compaction that does not say how", run(spec__compact=REMOVED), "spec.compact", "must be set"),
    WrongManifest("a compaction of no partition", run(spec__compact__partitions=[]), "spec.compact.partitions", "at least 1"),
    WrongManifest("a partition without a key", run(spec__compact__partitions=[{}]), "spec.compact.partitions[0]", "at least 1"),
    WrongManifest("a partition by a number", run(spec__compact__partitions=[{"hh": 7}]), "spec.compact.partitions[0].hh", "must be of type string"),
    WrongManifest("a run that stays for ever and a day", run(spec__ttlAfterFinished="ever"), "spec.ttlAfterFinished", "should match"),
    WrongManifest("a compaction that writes", run(spec__write={"name": "import"}), "spec.write", "only then"),
    WrongManifest("a drop by hand", run(spec__type="Drop", spec__compact=REMOVED), "spec.type", "only the operator"),
    WrongManifest("a write by hand", run(spec__type="Write", spec__compact=REMOVED, spec__write={"name": "import"}), "spec.type", "only the operator"),
    WrongManifest("a run that does not exist", run(spec__type="Rollback"), "spec.type", "Unsupported value"),
    WrongManifest("a run of no table", run(spec__tableRef=REMOVED), "spec.tableRef", "Required"),
    WrongManifest("a window of less than a minute", _windows(duration="59s"), "spec.maintenanceWindows[0].duration", "at least 1m"),
    WrongManifest("a window of more than a week", _windows(duration="169h"), "spec.maintenanceWindows[0].duration", "at most 7d"),
    WrongManifest("a window without a length", _windows(duration=REMOVED), "spec.maintenanceWindows[0].duration", "Required"),
    WrongManifest("a window of two units", _windows(duration="1h30m"), "spec.maintenanceWindows[0].duration", "should match"),
    WrongManifest("a window that opens at no schedule", _windows(schedule=REMOVED), "spec.maintenanceWindows[0].schedule", "Required"),
    WrongManifest("a window that opens at a second", _windows(schedule="0 0 1 * * *"), "spec.maintenanceWindows[0].schedule", "should match"),
    WrongManifest("more windows than sixteen", catalog(spec__maintenanceWindows=[{"schedule": "0 1 * * *", "duration": "4h"}] * 17), "spec.maintenanceWindows", "Too many"),
    _later("a window that opens in the sixty-first minute", _windows(schedule="61 * * * *"), "spec.maintenanceWindows[0].schedule", "61", "InvalidSpec"),
    _later("a window that never opens", _windows(schedule="0 0 31 2 *"), "spec.maintenanceWindows[0].schedule", "never", "InvalidSpec"),
    _later("an engine that the operator has not", catalog(spec__engine="paimon-7.3"), "spec.engine", "paimon-7.3", "UnknownEngine"),
]  # fmt: skip

_SETTINGS = [rule.wrong for rule in TABLE_RULES]

WRONG_MANIFESTS = [*_COLUMNS, *_CHANGES, *_SETTINGS, *_UPKEEP, *_WRITES, *_IDENTITY, *_OTHER_KINDS, *REPETITIONS]

REFUSED_AT_APPLY = [wrong for wrong in WRONG_MANIFESTS if wrong.caught_by == "apiserver"]
STALLED_IN_RECONCILE = [wrong for wrong in WRONG_MANIFESTS if wrong.caught_by == "reconcile"]
