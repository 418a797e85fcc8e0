"""Effective settings of a PaimonTable, after the defaults of catalog and operator, with the origin of each."""

from __future__ import annotations

from enum import StrEnum

from paimon_operator.api.base import ApiModel, EngineName, Memory, Positive, TimeZone
from paimon_operator.api.compaction import Compaction, CompactionMode
from paimon_operator.api.policies import RunPolicy
from paimon_operator.api.retention import SnapshotRetention
from paimon_operator.api.spark import SparkMode


class Origin(StrEnum):
    """Origin of an effective value."""

    TABLE = "Table"
    CATALOG = "Catalog"
    DEFAULT = "Default"


class EffectiveCompaction(Compaction):
    """Effective compaction."""

    mode: CompactionMode
    """Who compacts the table."""
    source: Origin
    """Origin of the block: Table, Catalog or Default."""


class EffectiveSnapshotRetention(SnapshotRetention):
    """Effective snapshot retention."""

    source: Origin
    """Origin of the block: Table, Catalog or Default."""


class EffectiveRetention(ApiModel):
    """Effective retention."""

    snapshots: EffectiveSnapshotRetention | None = None
    """Snapshots to keep."""


class EffectiveDriver(ApiModel):
    """Size of the next driver Pod."""

    cores: Positive | None = None
    """CPUs of the container."""
    memory: Memory | None = None
    """Memory of the container."""
    source: Origin
    """Origin of the block: Table, Catalog or Default."""


class EffectiveExecutor(ApiModel):
    """Number and size of the next executor Pods, in mode Cluster."""

    instances: Positive | None = None
    """Number of executor Pods."""
    cores: Positive | None = None
    """CPUs of each container."""
    memory: Memory | None = None
    """Memory of each container."""
    source: Origin
    """Origin of the block: Table, Catalog or Default."""


class EffectiveMode(ApiModel):
    """Effective mode of runs."""

    mode: SparkMode
    """Local, Cluster or Auto. The status.spark of each run shows the mode that Auto selected."""
    source: Origin
    """Origin of the mode: Table, Catalog or Default."""


class EffectiveRunPolicy(RunPolicy):
    """Effective run policy."""

    source: Origin
    """Origin of the block: Table, Catalog or Default."""


class Effective(ApiModel):
    """Effective settings, after the defaults of catalog and operator."""

    engine: EngineName | None = None
    """Engine: a pair of Paimon and Spark."""
    time_zone: TimeZone | None = None
    """Time zone of all schedules."""
    compaction: EffectiveCompaction | None = None
    """Who compacts the table, and when."""
    retention: EffectiveRetention | None = None
    """Retention of old snapshots."""
    driver: EffectiveDriver | None = None
    """Size of the next driver Pod."""
    mode: EffectiveMode | None = None
    """Effective mode of runs."""
    executor: EffectiveExecutor | None = None
    """Number and size of the next executor Pods. Absent in mode Local."""
    run_policy: EffectiveRunPolicy | None = None
    """Deadline, retries and history of runs."""
