"""What the operator writes down about a run."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field

from paimon_operator.api.base import (
    ApiModel,
    EngineName,
    Hash,
    Int32,
    Int64,
    Memory,
    Message,
    Positive,
    ReasonText,
    Time,
    keyed_by,
)
from paimon_operator.api.conditions import Condition
from paimon_operator.api.spark import SparkMode


class RunType(StrEnum):
    """What a run does."""

    PROVISION = "Provision"
    WRITE = "Write"
    COMPACT = "Compact"
    EXPIRE_SNAPSHOTS = "ExpireSnapshots"
    DROP = "Drop"


class RunTrigger(StrEnum):
    """Why a run was started."""

    SPEC = "Spec"
    SCHEDULE = "Schedule"
    ONCE = "Once"
    DELETION = "Deletion"
    USER = "User"


class FailureClass(StrEnum):
    """What kind of failure it was; decides what happens next."""

    CONFLICT = "Conflict"
    SPEC = "Spec"
    ENVIRONMENT = "Environment"
    INFRASTRUCTURE = "Infrastructure"
    OUT_OF_MEMORY = "OutOfMemory"
    DEADLINE = "Deadline"
    RESULT_UNKNOWN = "ResultUnknown"
    CANCELLED = "Cancelled"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        """Reads the class that release 0.1 stored, and reported from its Spark images, as Surroundings."""
        return cls(cls.ENVIRONMENT) if value == "Surroundings" else None


class Phase(StrEnum):
    """The state of a run, for people."""

    PENDING = "Pending"
    LAUNCHING = "Launching"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


class AttemptState(StrEnum):
    """The state of one attempt; written before the step that it names."""

    LAUNCHING = "Launching"
    RUNNING = "Running"
    STOPPING = "Stopping"
    ENDED = "Ended"


class StartReason(ApiModel):
    """Why the run was started."""

    trigger: RunTrigger
    """Spec, Schedule, Once, Deletion or User."""
    message: Message
    """The same as a sentence: `due at 03:00`."""


class Attempt(ApiModel):
    """One driver pod."""

    number: Positive
    """1 for the first."""
    state: AttemptState
    """Launching (written before the pod is made), Running, Stopping (the pod is being deleted) or Ended."""
    pod: Annotated[str, Field(max_length=63)]
    """Name of the pod."""
    pod_uid: Annotated[str, Field(max_length=64)] | None = None
    """UID of the pod, once it exists."""
    cores: Positive | None = None
    """CPUs of the container."""
    memory: Memory | None = None
    """Memory of the container; grows after an attempt that ran out of it."""
    launched: Time
    """When the attempt was decided."""
    started: Time | None = None
    """When the container started; deadlines count from here."""
    finished: Time | None = None
    """When the container ended."""
    exit_code: Annotated[int, Field(ge=-1, le=255, json_schema_extra={"format": "int32"})] | None = None
    """Exit code of the container."""
    failure_class: FailureClass | None = None
    """What kind of failure it was."""
    reason: ReasonText | None = None
    """Why it failed or waits, as one word."""
    message: Message | None = None
    """Why it failed or waits, as a sentence."""


class RunSpark(ApiModel):
    """Where the work of all attempts is done; decided before the first."""

    mode: SparkMode
    """Local or Cluster."""
    message: Message
    """Why, as a sentence."""
    access_hash: Hash | None = None
    """Cluster: hash of the account and of the way to the storage that the executors' Pod was written with. After an
    edit of the catalog the run has no further attempt."""


class Measure(ApiModel):
    """The table at one moment."""

    files: Int64 | None = None
    """Data files of the latest snapshot."""
    bytes: Int64 | None = None
    """Bytes in those files."""
    rows: Int64 | None = None
    """Records in those files."""
    sorted_runs_max: Int64 | None = None
    """Most sorted runs in one bucket."""
    small_files: Int64 | None = None
    """Files well below the target size."""
    schema_id: Int64 | None = None
    """Version of the schema in Paimon."""
    snapshot_id: Int64 | None = None
    """Latest snapshot."""
    oldest_snapshot: Time | None = None
    """When the oldest snapshot that is still there was made."""
    bucket_mode: Annotated[str, Field(max_length=32)] | None = None
    """Fixed, Dynamic or Unaware."""


class Cost(ApiModel):
    """What the run's containers used, over all attempts."""

    pod_seconds: Int64
    """Seconds that containers ran."""
    core_seconds: Int64
    """The same times the requested CPUs."""
    gib_seconds: Int64
    """The same times the memory limit in GiB."""


class OutsideCommit(ApiModel):
    """A commit that no run of the operator made."""

    snapshot_id: Int64
    """The snapshot that it made."""
    commit_user: Annotated[str, Field(max_length=128)]
    """Who committed, as Paimon has it; Paimon makes up a UUID for writers that give no name."""
    kind: Annotated[str, Field(max_length=32)]
    """APPEND, OVERWRITE, COMPACT or ANALYZE."""
    time: Time
    """When it was committed."""


class WriteResult(ApiModel):
    """What a write did."""

    files: Int64 | None = None
    """Files loaded."""
    rows: Int64 | None = None
    """Rows in them."""
    committed_snapshot: Int64 | None = None
    """Snapshot of the commit; absent if there was nothing to load."""
    already_committed: bool | None = None
    """True if an earlier attempt had committed and this one only found out."""
    skipped: bool | None = None
    """True if there was nothing to load."""


class RunStatus(ApiModel):
    """What happened."""

    observed_generation: Int64 = -1
    """Generation of the spec that this status speaks of."""
    phase: Phase | None = None
    """Pending, Launching, Running, Succeeded, Failed or Unknown: for people."""
    conditions: Annotated[tuple[Condition, ...], Field(max_length=16, json_schema_extra=keyed_by("type"))] = ()
    """Succeeded, Reconciling, Stalled."""
    reason: StartReason | None = None
    """Why the run was started."""
    attempts: Annotated[tuple[Attempt, ...], Field(max_length=32)] = ()
    """The driver pods, one after the other."""
    start_time: Time | None = None
    """When the run was first looked at."""
    completion_time: Time | None = None
    """When it ended."""
    next_try: Time | None = None
    """When the next attempt starts."""
    engine: EngineName | None = None
    """Engine of all attempts: the one that the job was written for."""
    spark: RunSpark | None = None
    """Where the work is done, and why there."""
    failure_class: FailureClass | None = None
    """What kind of failure ended it."""
    field: Annotated[str, Field(max_length=256)] | None = None
    """Field to edit or to look at, of the table's manifest or of its catalog's."""
    seen_snapshot: Int64 | None = None
    """Latest snapshot when the driver began, 0 for none."""
    outside_commit: OutsideCommit | None = None
    """First commit of somebody else since the table was looked at last."""
    before: Measure | None = None
    """The table before the run."""
    after: Measure | None = None
    """The table after it."""
    created: bool | None = None
    """Provision: true if the table was made, false if it was there."""
    differences: Annotated[tuple[Annotated[str, Field(max_length=512)], ...], Field(max_length=32)] = ()
    """Provision: how the existing table differs from the manifest."""
    write: WriteResult | None = None
    """Write: what was loaded."""
    expired: Int32 | None = None
    """ExpireSnapshots: how many snapshots went."""
    dropped: bool | None = None
    """Drop: false if the table was gone already."""
    cost: Cost | None = None
    """What the containers used."""
