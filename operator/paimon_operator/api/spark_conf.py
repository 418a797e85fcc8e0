"""Spark settings that a catalog may set: performance and timeouts, not locations, code, rights or SQL semantics."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import rule

ALLOWED_CONF: Final = (
    "spark.broadcast.blockSize", "spark.broadcast.compress", "spark.default.parallelism", "spark.driver.maxResultSize",
    "spark.excludeOnFailure.enabled", "spark.executor.heartbeatInterval", "spark.io.compression.lz4.blockSize",
    "spark.io.compression.zstd.level", "spark.kryoserializer.buffer.max", "spark.kubernetes.allocation.batch.delay",
    "spark.kubernetes.allocation.batch.size", "spark.locality.wait", "spark.memory.fraction",
    "spark.memory.storageFraction", "spark.network.timeout", "spark.reducer.maxReqsInFlight",
    "spark.reducer.maxSizeInFlight", "spark.rpc.askTimeout", "spark.scheduler.maxRegisteredResourcesWaitingTime",
    "spark.scheduler.minRegisteredResourcesRatio", "spark.shuffle.compress", "spark.shuffle.file.buffer",
    "spark.shuffle.io.maxRetries", "spark.shuffle.io.retryWait", "spark.shuffle.spill.compress", "spark.speculation",
    "spark.speculation.multiplier", "spark.speculation.quantile", "spark.sql.adaptive.advisoryPartitionSizeInBytes",
    "spark.sql.adaptive.coalescePartitions.enabled", "spark.sql.adaptive.enabled",
    "spark.sql.adaptive.skewJoin.enabled", "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.broadcastTimeout", "spark.sql.files.maxPartitionBytes",
    "spark.sql.files.minPartitionNum", "spark.sql.files.openCostInBytes", "spark.sql.shuffle.partitions",
    "spark.stage.maxConsecutiveAttempts", "spark.task.maxFailures",
)  # fmt: skip
"""The permitted settings. Any other setting can name a class, a path or an account, or change SQL semantics."""

CREDENTIAL: Final = re.compile(r"(?i)(access|secret|account)[.-]?key|password|secret|token|credential")
"""Keys that look like credentials. Their values would be readable in a ConfigMap."""
VALUE: Final = re.compile(r"[A-Za-z0-9.+-]{1,64}")
"""Permitted values: numbers, sizes, durations, words; no `${...}` and no path."""

_LISTED: Final = "[" + ", ".join(f"'{key}'" for key in ALLOWED_CONF) + "]"
_CREDENTIAL: Final = f"k.matches('{CREDENTIAL.pattern}')"

SparkConf = Annotated[
    dict[str, Annotated[str, Field(pattern=f"^{VALUE.pattern}$", max_length=64)]],
    Field(
        max_length=40,
        json_schema_extra={
            "x-kubernetes-validations": [
                rule(
                    f"self.all(k, !{_CREDENTIAL})",
                    "sparkConf must hold no credentials, which a ConfigMap would expose: name a Secret in spec.storage",
                    reason="FieldValueForbidden",
                ),
                rule(
                    f"self.all(k, {_CREDENTIAL} || k in {_LISTED})",
                    "a Spark setting that is not permitted here; docs/spark.md lists the permitted ones",
                    reason="FieldValueForbidden",
                    message_expression=f"'setting ' + self.filter(k, !(k in {_LISTED}))[0]"
                    " + ' may not be set here; docs/spark.md lists the permitted ones'",
                ),
                rule("self.all(k, k.size() <= 128)", "the key of a setting must have at most 128 characters"),
            ]
        },
    ),
]
"""Spark's key -> value as text."""
