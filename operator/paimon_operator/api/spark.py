"""Sizes, accounts and settings of the Spark Pods."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import ApiModel, Memory, ResourceName, rule, validated
from paimon_operator.api.pod_overlay import PodOverlay
from paimon_operator.api.spark_conf import SparkConf

MIN_MEMORY: Final = "1Gi"
MAX_MEMORY: Final = "512Gi"
_ENOUGH_MEMORY = rule(
    f"!has(self.memory) || (quantity(self.memory).compareTo(quantity('{MIN_MEMORY}')) >= 0"
    f" && quantity(self.memory).compareTo(quantity('{MAX_MEMORY}')) <= 0)",
    f"memory must be from {MIN_MEMORY} to {MAX_MEMORY}: Spark needs 384Mi to 512Mi besides its heap",
    path=".memory",
)
Cores = Annotated[int, Field(ge=1, le=64, json_schema_extra={"format": "int32"})]
Instances = Annotated[int, Field(ge=1, le=100, json_schema_extra={"format": "int32"})]


class SparkMode(StrEnum):
    """Where a run does its work."""

    LOCAL = "Local"
    CLUSTER = "Cluster"
    AUTO = "Auto"


class Driver(ApiModel):
    """Size of the driver Pod."""

    model_config = validated(_ENOUGH_MEMORY)

    cores: Cores | None = None
    """CPUs requested. In mode Local also the number of parallel tasks."""
    memory: Memory | None = None
    """Memory request and limit of the container. 35 % of it, at least 512Mi, is kept free for non-heap
    memory."""
    scratch: Memory | None = None
    """Most disk space that the Pod may take on its node for sorting and spilling, for example 50Gi. Absent: 10Gi."""


class Executor(ApiModel):
    """Number and size of the executor Pods, for mode Cluster."""

    model_config = validated(_ENOUGH_MEMORY)

    instances: Instances | None = None
    """Number of executor Pods."""
    cores: Cores | None = None
    """CPUs requested by each executor Pod, and its number of parallel tasks."""
    memory: Memory | None = None
    """Memory request and limit of each container. 20 % of it, at least 384Mi, is kept free for
    non-heap memory."""
    scratch: Memory | None = None
    """Most disk space that each Pod may take on its node for shuffles and spilling, for example 50Gi. Absent: 10Gi."""


class Spark(ApiModel):
    """Mode and sizes of a table's Spark Pods. An edit applies to the next run and starts none."""

    mode: SparkMode | None = None
    """Local: one Pod does everything, without a token. Cluster: the driver Pod creates executor Pods, and its service
    account needs rights on Pods. Auto: the operator chooses by the size of the work. Absent: Local."""
    driver: Driver | None = None
    """Size of the driver Pod."""
    executor: Executor | None = None
    """Number and size of the executor Pods. Used in mode Cluster only."""


class CatalogSpark(Spark):
    """Defaults for the Spark Pods of all tables, and settings that only a catalog has."""

    service_account_name: ResourceName | None = None
    """Service account of Local-mode drivers and of executors. It needs no rights, and its token is not mounted. Absent:
    the default account of the namespace; for executors the account in the operator's settings. Cluster-mode drivers
    use driverServiceAccountName."""
    driver_service_account_name: ResourceName | None = None
    """Service account of Cluster-mode drivers when the storage uses workload identity. It needs that identity and
    rights on Pods. Its name must be `<driver account>-<suffix>`, for example paimon-driver-lake: the admission policy
    matches it. Absent: the driver account in the operator's settings."""
    spark_conf: SparkConf = Field(default_factory=dict)
    """Spark settings for performance and timeouts; docs/spark.md lists the permitted ones. An edit applies to the next
    run."""
    event_log: bool | None = None
    """Whether runs write Spark's event log to `<warehouse>/.paimon-operator/spark-events`, for a history server.
    Nothing removes the logs: docs/spark.md. Absent: false."""
    pod_overlay: PodOverlay | None = None
    """Scheduling and labels of the driver and executor Pods."""
