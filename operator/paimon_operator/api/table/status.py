"""What the operator writes down about a table: enough to go on after a restart, and to answer why."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from paimon_operator.api.base import (
    ApiModel,
    EngineName,
    Hash,
    Int32,
    Int64,
    MemberName,
    Memory,
    Message,
    Positive,
    ReasonText,
    RunName,
    Time,
    TimeZone,
    keyed_by,
)
from paimon_operator.api.compaction import Compaction, CompactionMode
from paimon_operator.api.conditions import Condition
from paimon_operator.api.policies import ExternalWriters, RunPolicy
from paimon_operator.api.retention import SnapshotRetention
from paimon_operator.api.run.status import FailureClass, OutsideCommit, RunTrigger, RunType
from paimon_operator.api.spark import SparkMode

Uid = Annotated[str, Field(max_length=64)]


class ActiveRun(ApiModel):
    """The one run that may change the table now. Written before the run is made, cleared after its result is here."""

    name: RunName
    """Name of the PaimonRun, known before it exists."""
    uid: Uid | None = None
    """UID of the PaimonRun, once it exists."""
    type: RunType
    """What the run does."""
    subject: Annotated[str, Field(max_length=40)] | None = None
    """Name of the write, or strategy of the compaction."""
    partial: bool | None = None
    """True for a compaction of some partitions only, which counts for no schedule."""
    trigger: RunTrigger
    """Why it was started."""
    due_time: Time | None = None
    """The tick of the schedule that it answers."""
    spec_hash: Hash | None = None
    """The part of the spec that it realises."""


class TableFacts(ApiModel):
    """The table as Paimon describes it."""

    identifier: Annotated[str, Field(max_length=257)]
    """Database and table: `shop.orders`."""
    schema_id: Int64 | None = None
    """Version of the schema in Paimon."""
    snapshot_id: Int64 | None = None
    """Latest snapshot; absent as long as nothing was written."""
    bucket_mode: Annotated[str, Field(max_length=32)] | None = None
    """Fixed, Dynamic or Unaware."""
    files: Int64 | None = None
    """Data files of the latest snapshot."""
    rows: Int64 | None = None
    """Records in those files; rows with the same key that have not merged yet count each."""
    size_bytes: Int64 | None = None
    """Bytes in those files."""
    size: Annotated[str, Field(max_length=16)] | None = None
    """The same for people: 70Mi."""


class Health(ApiModel):
    """What the last run measured."""

    sorted_runs_max: Int64 | None = None
    """Most sorted runs in one bucket; each makes reading slower."""
    small_files: Int64 | None = None
    """Files well below the target size."""
    oldest_snapshot: Time | None = None
    """When the oldest snapshot that is still there was made."""
    observed_at: Time | None = None
    """When this was measured."""


class OutsideWriters(ApiModel):
    """What is known of commits that no run of the operator made."""

    stated: ExternalWriters
    """spec.externalWriters when this was found out; another value is a new start."""
    seen_snapshot: Int64 | None = None
    """Commits after this snapshot have not been looked at; absent until a run has told which is the latest."""
    commit: OutsideCommit | None = None
    """The first commit of somebody else, though the manifest says that nobody else commits now."""


class DecisionResult(StrEnum):
    """What the operator decided about an operation."""

    STARTED = "Started"
    WAITING = "Waiting"
    SKIPPED = "Skipped"


class LastDecision(ApiModel):
    """What was decided about an operation the last time it was due, or why it is not being done now."""

    result: DecisionResult
    """Started, Waiting (due, but something stands in its way) or Skipped."""
    reason: ReasonText
    """Why, as one word."""
    message: Message
    """Why, as a sentence."""


class LastFailure(ApiModel):
    """The last run failed. Gone after the next success."""

    run: RunName
    """The run."""
    failure_class: FailureClass
    """What kind of failure it was; decides whether it is tried again by itself."""
    reason: ReasonText
    """Why, as one word."""
    message: Message
    """What is wrong and what to do."""
    field: Annotated[str, Field(max_length=256)] | None = None
    """Field to edit or to look at, of this manifest or of the catalog's."""
    time: Time
    """When it failed."""
    count: Positive
    """How many runs in a row have failed."""
    next_try: Time | None = None
    """When it is tried again by itself; absent if it waits for an edit."""
    spec_hash: Hash | None = None
    """The part of the spec that the run used; an edit of it is a new start."""


class ScheduleState(ApiModel):
    """Memory of one schedule; deleting old runs loses nothing."""

    last_due: Time | None = None
    """The newest tick that was answered: by a run, by a decision not to run, or before the manifest asked for it."""
    last_run: RunName | None = None
    """The last run that ended."""
    last_time: Time | None = None
    """When it succeeded last."""
    next: Time | None = None
    """The next tick."""
    decision: LastDecision | None = None
    """What was decided last."""
    failure: LastFailure | None = None
    """Set while the last run is a failed one."""


class ProvisionState(ApiModel):
    """Memory of making the table what the spec says."""

    hash: Hash | None = None
    """Hash of the part of the spec that the table was verified against."""
    last_run: RunName | None = None
    """The last run that ended."""
    last_time: Time | None = None
    """When it succeeded last."""
    created: bool | None = None
    """True if the operator made the table, false if it was there and was adopted."""
    failure: LastFailure | None = None
    """Set while the last run is a failed one."""


class CompactionState(ScheduleState):
    """Memory of compaction: the latest of both strategies, then each."""

    minor: ScheduleState | None = None
    """Memory of the minor schedule."""
    full: ScheduleState | None = None
    """Memory of the full schedule."""


class WriteState(ScheduleState):
    """Memory of one write."""

    name: MemberName
    """Name of the write."""
    once_hash: Hash | None = None
    """Hash of from and mode that a write of type Once has loaded."""
    committed_snapshot: Int64 | None = None
    """Snapshot of its last commit."""
    rows: Int64 | None = None
    """Rows that it loaded last; mode Auto goes by it."""


class DropState(ApiModel):
    """Memory of dropping the table."""

    last_run: RunName | None = None
    """The last run that ended."""
    attempts: Int32 | None = None
    """How many runs have failed."""
    done: bool | None = None
    """True once Paimon no longer has the table."""
    failure: LastFailure | None = None
    """Why it could not be dropped yet."""


class Origin(StrEnum):
    """Where a value comes from."""

    TABLE = "Table"
    CATALOG = "Catalog"
    DEFAULT = "Default"


class EffectiveCompaction(Compaction):
    """Compaction as it is done."""

    mode: CompactionMode
    """Who compacts."""
    source: Origin
    """Where the block comes from."""


class EffectiveSnapshotRetention(SnapshotRetention):
    """Snapshot retention as it is done."""

    source: Origin
    """Where the block comes from."""


class EffectiveRetention(ApiModel):
    """Retention as it is done."""

    snapshots: EffectiveSnapshotRetention | None = None
    """Which snapshots are kept."""


class EffectiveDriver(ApiModel):
    """Size of the next driver pod."""

    cores: Positive | None = None
    """CPUs."""
    memory: Memory | None = None
    """Memory of the container."""
    source: Origin
    """Where the block comes from."""


class EffectiveExecutor(ApiModel):
    """Number and size of the next executor pods, in mode Cluster."""

    instances: Positive | None = None
    """How many."""
    cores: Positive | None = None
    """CPUs of each."""
    memory: Memory | None = None
    """Memory of each container."""
    source: Origin
    """Where the block comes from."""


class EffectiveMode(ApiModel):
    """Where the work is done."""

    mode: SparkMode
    """Local, Cluster or Auto; what Auto came to is in status.spark of each run."""
    source: Origin
    """Where it comes from."""


class EffectiveRunPolicy(RunPolicy):
    """Run policy as it is applied."""

    source: Origin
    """Where the block comes from."""


class Effective(ApiModel):
    """What holds for this table after catalog and operator defaults."""

    engine: EngineName | None = None
    """The pair of Paimon and Spark that does the work."""
    time_zone: TimeZone | None = None
    """Time zone of all schedules."""
    compaction: EffectiveCompaction | None = None
    """Who compacts, and when."""
    retention: EffectiveRetention | None = None
    """How long old states are kept."""
    driver: EffectiveDriver | None = None
    """Size of the next driver pod."""
    mode: EffectiveMode | None = None
    """Where the work is done."""
    executor: EffectiveExecutor | None = None
    """Number and size of the next executor pods; absent in mode Local."""
    run_policy: EffectiveRunPolicy | None = None
    """Deadlines, retries, history."""


class TableStatus(ApiModel):
    """The table as the operator last saw it."""

    observed_generation: Int64 = -1
    """Generation of the spec that this status speaks of."""
    conditions: Annotated[tuple[Condition, ...], Field(max_length=16, json_schema_extra=keyed_by("type"))] = ()
    """Ready, Reconciling, Stalled, Healthy, CommitSafe, Suspended."""
    active_run: ActiveRun | None = None
    """The one run that may change the table now."""
    table: TableFacts | None = None
    """The table as Paimon describes it; there since the table was first verified."""
    health: Health | None = None
    """What the last run measured."""
    outside_writers: OutsideWriters | None = None
    """What is known of commits that no run of the operator made."""
    provision: ProvisionState | None = None
    """Memory of making the table what the spec says."""
    compaction: CompactionState | None = None
    """Memory of compaction."""
    retention: ScheduleState | None = None
    """Memory of snapshot expiry."""
    writes: Annotated[tuple[WriteState, ...], Field(max_length=16, json_schema_extra=keyed_by("name"))] = ()
    """Memory of each write."""
    drop: DropState | None = None
    """Memory of dropping the table."""
    effective: Effective | None = None
    """What holds for this table after catalog and operator defaults."""
