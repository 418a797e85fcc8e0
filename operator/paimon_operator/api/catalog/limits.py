"""Limits that a catalog sets for its tables."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from paimon_operator.api.base import ApiModel, Memory
from paimon_operator.api.spark import Cores, Driver, Executor, Instances

AllowedMode = Literal["Local", "Cluster"]


class DriverLimit(Driver):
    """Largest driver Pod that a table may request."""

    cores: Cores | None = None
    """Largest number of CPUs."""
    memory: Memory | None = None
    """Largest memory, also after an attempt that ran out of memory."""
    scratch: Memory | None = None
    """Most disk space of the Pod on its node. No scheduler reserves it, so without a limit a table may fill a node."""


class ExecutorLimit(Executor):
    """Largest number and size of executor Pods that a table may request."""

    instances: Instances | None = None
    """Largest number of executor Pods of one run."""
    cores: Cores | None = None
    """Largest number of CPUs of each executor Pod."""
    memory: Memory | None = None
    """Largest memory of each executor Pod."""
    scratch: Memory | None = None
    """Most disk space of each Pod on its node. No scheduler reserves it, so without a limit a table may fill a node."""


class SparkLimits(ApiModel):
    """What a table may request at most. The catalog's own defaults must fit too."""

    modes: Annotated[
        tuple[AllowedMode, ...], Field(max_length=2, json_schema_extra={"x-kubernetes-list-type": "set"})
    ] = ()
    """Modes that tables may use: Local, Cluster. Auto then chooses among these. Absent: both."""
    driver: DriverLimit | None = None
    """Largest driver Pod."""
    executor: ExecutorLimit | None = None
    """Largest number and size of executor Pods."""


class CatalogLimits(ApiModel):
    """Limits of the catalog's tables."""

    max_concurrent_runs: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """How many runs of the catalog's tables may be active at once. Others wait, and the longest waiting starts first.
    Absent: only the operator's limit counts."""
    maintenance_pod_hours_per_day: Annotated[int, Field(ge=1, le=100_000, json_schema_extra={"format": "int32"})] | (
        None
    ) = None
    """Hours that the Pods of scheduled maintenance may run each day, in UTC. Executors count as long as their driver.
    When they are used up, maintenance waits for the next day, while runs that are active finish. Absent: only the
    operator's limit counts."""
    spark: SparkLimits | None = None
    """Largest Spark Pods that a table may request. A table that requests more is Stalled."""
