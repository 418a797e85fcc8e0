"""Manifests that the API server admits. Together they have a value at each place of the CRDs where a rule stands."""

from __future__ import annotations

from typing import Any, Final

from tests.support.manifests import REMOVED, Manifest, append_table, catalog, keyed_table, run
from tests.support.table_rules import TABLE_RULES

_SNAPSHOTS: Final = {"snapshots": {"numRetainedMin": 5, "numRetainedMax": 20, "timeRetained": "7d"}}
_DEFAULT_RETENTION: Final[dict[str, Any]] = {
    **_SNAPSHOTS, "changelogs": {"timeRetained": "30d"}, "consumers": {"expirationTime": "7d"},
    "partitions": {"expirationTime": "365d", "timestampPattern": "$dt", "timestampFormatter": "yyyyMMdd"},
    "records": {"expireTime": "90d", "timeField": "at"},
    "orphanFiles": {"mode": "Delete", "olderThan": "3d", "schedule": "0 4 * * 0"},
}  # fmt: skip
_TAGS: Final[dict[str, Any]] = {
    "automaticCreation": "ProcessTime", "creationPeriod": "Daily", "creationDelay": "10m", "numRetainedMax": 30,
    "defaultTimeRetained": "30d",
}  # fmt: skip
_DEDICATED: Final = {
    "mode": "Dedicated",
    "minor": {"schedule": "0 * * * *", "when": {"sortedRunsPerBucket": 8, "maxDelay": "1h"}},
    "full": {
        "schedule": "0 3 * * *",
        "when": {"smallFilesPerPartition": 9, "deleteRatio": "20%", "fullCompactionAge": "7d", "maxDelay": "9d"},
    },
    "partitionIdleTime": "1h",
}  # fmt: skip
_SIZES: Final[dict[str, Any]] = {"driver": {"memory": "2Gi"}, "executor": {"memory": "4Gi"}}
_WINDOWS: Final = [{"schedule": "0 1 * * *", "duration": "4h"}, {"schedule": "*/30 2 * * 6", "duration": "1m"}]
_POLICY: Final = {"activeDeadline": "2h"}

WHOLE: Final[list[Manifest]] = [
    keyed_table(
        spec__compaction=_DEDICATED, spec__retention=_SNAPSHOTS, spec__spark=_SIZES, spec__runPolicy=_POLICY,
        spec__writes__0__options={"write-buffer-size": "64 mb"},
    ),
    catalog(
        spec__tableDefaults={
            "compaction": _DEDICATED, "retention": _DEFAULT_RETENTION, "tags": _TAGS, "runPolicy": _POLICY,
        },
        spec__limits={"spark": _SIZES}, spec__maintenanceWindows=_WINDOWS, spec__enforced=["OrphanFiles"],
        spec__spark=_SIZES | {
            "sparkConf": {"spark.sql.shuffle.partitions": "8"},
            "podOverlay": {
                "labels": {"team": "shop"}, "annotations": {"team": "shop"}, "nodeSelector": {"disk": "ssd"},
                "priorityClassName": "batch",
            },
        },
        spec__storage__s3__options={"fs.s3a.connection.maximum": "64"},
    ),
    catalog(
        spec__metastore={"type": "Jdbc", "jdbc": {
            "uri": "jdbc:postgresql://db/paimon?sslmode=require", "credentialsSecretRef": {"name": "db"},
        }},
    ),
    catalog(spec__metastore={"type": "Hive", "hive": {"uri": "thrift://hms:9083"}}),
    catalog(
        spec__warehouse="hdfs://lake/warehouse", spec__locations=[],
        spec__storage={"hdfs": {
            "configMapRef": {"name": "hadoop-conf"}, "user": "paimon", "options": {"dfs.replication": "2"},
        }},
    ),
    run(
        spec__type="RemoveOrphanFiles", spec__compact=REMOVED,
        spec__removeOrphanFiles={"mode": "Report", "maxPercent": 40},
    ),
    run(spec__compact__partitions=[{"dt": "2026-01-31"}], spec__activeDeadline="2h", spec__ttlAfterFinished="1d"),
]  # fmt: skip

RIGHT_MANIFESTS: Final = [
    keyed_table(), append_table(), catalog(), run(), *WHOLE, *(rule.right for rule in TABLE_RULES)
]  # fmt: skip
"""With the right manifest of each rule about settings."""
