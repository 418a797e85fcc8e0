"""Sizes and accounts of the Spark pods, and what else a catalog may say about them."""

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
    f"memory must be from {MIN_MEMORY} to {MAX_MEMORY}: Spark needs 384Mi to 512Mi beside its heap",
    path=".memory",
)
Cores = Annotated[int, Field(ge=1, le=64, json_schema_extra={"format": "int32"})]
Instances = Annotated[int, Field(ge=1, le=100, json_schema_extra={"format": "int32"})]


class SparkMode(StrEnum):
    """Where the work is done."""

    LOCAL = "Local"
    CLUSTER = "Cluster"
    AUTO = "Auto"


class Driver(ApiModel):
    """The pod that does the work."""

    model_config = validated(_ENOUGH_MEMORY)

    cores: Cores | None = None
    """CPUs requested, and in mode Local how many tasks run side by side."""
    memory: Memory | None = None
    """Memory of the container, request and limit; the JVM's heap is what is left after 35 % of it, at least 512Mi."""


class Executor(ApiModel):
    """The pods that do the work in mode Cluster."""

    model_config = validated(_ENOUGH_MEMORY)

    instances: Instances | None = None
    """How many executor pods."""
    cores: Cores | None = None
    """CPUs requested by each, and how many tasks run side by side in it."""
    memory: Memory | None = None
    """Memory of each container, request and limit; the JVM's heap is what is left after 20 % of it, at least 384Mi."""


class Spark(ApiModel):
    """Mode and sizes of a table's Spark pods. An edit applies to the next run and never starts one."""

    mode: SparkMode | None = None
    """Local: one pod does everything, without any token. Cluster: the driver pod makes executor pods, for which its
    account needs rights on pods. Auto: Local or Cluster by the size of the work. Absent: Local."""
    driver: Driver | None = None
    """Size of the driver pod."""
    executor: Executor | None = None
    """Number and size of the executor pods; used in mode Cluster only."""


class CatalogSpark(Spark):
    """Defaults for the Spark pods of all tables, and what tables may not choose."""

    service_account_name: ResourceName | None = None
    """Service account of the driver pods in mode Local and of executors; it needs no right, and its token is not
    mounted. Absent: the namespace's default account, for executors the operator's setting. Drivers of mode Cluster have
    an account of their own."""
    driver_service_account_name: ResourceName | None = None
    """Service account of drivers of mode Cluster, where the storage knows pods by their account: it has the identity
    that the storage knows, and rights on pods. Its name is that of the operator's setting, a dash and more
    (paimon-driver-lake): by that the admission policy knows its pods. Absent: the account of the operator's setting."""
    spark_conf: SparkConf = Field(default_factory=dict)
    """Settings of Spark, from a list of what is about speed and patience. An edit applies to the next run."""
    pod_overlay: PodOverlay | None = None
    """Where the driver and executor pods run, and what they are labelled with."""
