"""Effective settings of a PaimonTable, after the defaults of catalog and operator, with the origin of each."""

from __future__ import annotations

from enum import StrEnum

from paimon_operator.api.base import ApiModel, EngineName, Memory, Positive, TimeZone
from paimon_operator.api.compaction import Compaction, CompactionMode
from paimon_operator.api.mark_partitions_done import MarkPartitionsDone
from paimon_operator.api.policies import RunPolicy
from paimon_operator.api.retention import (
    ChangelogRetention,
    ConsumerRetention,
    OrphanFilesRetention,
    PartitionRetention,
    RecordRetention,
    SnapshotRetention,
)
from paimon_operator.api.spark import SparkMode
from paimon_operator.api.tags import Tags


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


class EffectiveChangelogRetention(ChangelogRetention):
    """Effective changelog retention."""

    source: Origin
    """Origin of the block: Table or Catalog."""


class EffectiveConsumerRetention(ConsumerRetention):
    """Effective consumer retention."""

    source: Origin
    """Origin of the block: Table or Catalog."""


class EffectivePartitionRetention(PartitionRetention):
    """Effective partition retention."""

    source: Origin
    """Origin of the block: Table or Catalog."""


class EffectiveRecordRetention(RecordRetention):
    """Effective record retention."""

    source: Origin
    """Origin of the block: Table or Catalog."""


class EffectiveOrphanFiles(OrphanFilesRetention):
    """Effective handling of orphan files."""

    source: Origin
    """Origin of the block: Table or Catalog."""


class EffectiveRetention(ApiModel):
    """Effective retention. A default of the catalog is absent where the table has nothing that it applies to."""

    snapshots: EffectiveSnapshotRetention | None = None
    """Snapshots to keep."""
    changelogs: EffectiveChangelogRetention | None = None
    """Changelogs to keep longer than snapshots."""
    consumers: EffectiveConsumerRetention | None = None
    """Consumers to remove."""
    partitions: EffectivePartitionRetention | None = None
    """Partitions to drop."""
    records: EffectiveRecordRetention | None = None
    """Records to remove."""
    orphan_files: EffectiveOrphanFiles | None = None
    """Orphan files to report or remove. The catalog's mode Delete is Report where externalWriters is Active."""


class EffectiveTags(Tags):
    """Effective automatic tags."""

    source: Origin
    """Origin of the block: Table or Catalog."""


class EffectiveDriver(ApiModel):
    """Size of the next driver Pod."""

    cores: Positive | None = None
    """CPUs of the container."""
    memory: Memory | None = None
    """Memory of the container."""
    scratch: Memory | None = None
    """Most disk space of the Pod on its node."""
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
    scratch: Memory | None = None
    """Most disk space of each Pod on its node."""
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
    """What is removed after some time."""
    mark_partitions_done: MarkPartitionsDone | None = None
    """Partitions to mark as done."""
    tags: EffectiveTags | None = None
    """Tags that are created automatically."""
    driver: EffectiveDriver | None = None
    """Size of the next driver Pod."""
    mode: EffectiveMode | None = None
    """Effective mode of runs."""
    executor: EffectiveExecutor | None = None
    """Number and size of the next executor Pods. Absent in mode Local."""
    run_policy: EffectiveRunPolicy | None = None
    """Deadline, retries and history of runs."""
