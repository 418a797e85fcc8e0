"""Spark settings that a job may have. The operator accepts no other from a catalog, and a driver none from a job."""

from __future__ import annotations

import re
from typing import Final

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

CONF_VALUE: Final = re.compile(r"[A-Za-z0-9.+-]{1,64}")
"""Permitted values: numbers, sizes, durations, words; no `${...}` and no path."""
