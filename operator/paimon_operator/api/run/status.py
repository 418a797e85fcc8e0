"""Status of a PaimonRun: attempts, outcome and cost."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Self

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
    Time,
    keyed_by,
)
from paimon_operator.api.conditions import Condition
from paimon_operator.api.drift import DriftFound
from paimon_operator.api.edit_plan import EditPlan
from paimon_operator.api.measure import Measure
from paimon_operator.api.run.spark import RunSpark
from paimon_operator.api.table.writes import MAX_WRITES, LedgerName

RUN_TYPES: Final = "(the types of all operations)"
"""Stands in the models for the list of types, which `generate.crd` fills in from the operations."""
RunType = Annotated[str, Field(json_schema_extra={"enum": [RUN_TYPES]})]
"""What a run does: the type of one of the operations."""


class RunTrigger(StrEnum):
    """What started a run."""

    SPEC = "Spec"
    SCHEDULE = "Schedule"
    ONCE = "Once"
    DELETION = "Deletion"
    USER = "User"


BY_OPERATOR: Final = (RunTrigger.SPEC, RunTrigger.SCHEDULE, RunTrigger.ONCE, RunTrigger.DELETION)
"""What makes the operator itself start a run."""


class FailureClass(StrEnum):
    """Class of a failure. It decides what the operator does next."""

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
    """Phase of a run, a summary for `kubectl get`."""

    PENDING = "Pending"
    LAUNCHING = "Launching"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


class AttemptState(StrEnum):
    """State of an attempt. It is stored before the step that it names."""

    LAUNCHING = "Launching"
    RUNNING = "Running"
    STOPPING = "Stopping"
    ENDED = "Ended"


class Expectation(ApiModel):
    """What the operator expects of a run before it starts. The run's cost, before and after show what became of it."""

    seconds: Int64 | None = None
    """Length of the last run of its kind that succeeded. Absent: none has."""
    files: Int64 | None = None
    """Files that it removes from the latest snapshot, or snapshots that it expires, by the last measurement. Absent:
    not known."""


class StartReason(ApiModel):
    """What started the run."""

    trigger: RunTrigger
    """Spec, Schedule, Once, Deletion or User."""
    message: Message
    """Explanation of the trigger, for example `due at 03:00`."""


class Attempt(ApiModel):
    """One attempt: one driver Pod, or one turn in a shared one."""

    number: Positive
    """Number of the attempt, from 1."""
    state: AttemptState
    """Launching (stored before the Pod is created), Running, Stopping (the Pod is being deleted) or Ended."""
    pod: Annotated[str, Field(max_length=63)]
    """Name of the Pod."""
    pod_uid: Annotated[str, Field(max_length=64)] | None = None
    """UID of the Pod. Absent until it exists."""
    shared: bool | None = None
    """True: the Pod performs several runs in turn, and the attempt is the turn of this one. Times are those of the
    turn."""
    cores: Positive | None = None
    """CPUs of the container."""
    memory: Memory | None = None
    """Memory of the container. It grows after an attempt that ran out of memory."""
    launched: Time
    """Time when the attempt was decided."""
    started: Time | None = None
    """Time when the container started. Deadlines count from it."""
    finished: Time | None = None
    """Time when the container ended."""
    exit_code: Annotated[int, Field(ge=-1, le=255, json_schema_extra={"format": "int32"})] | None = None
    """Exit code of the container."""
    failure_class: FailureClass | None = None
    """Class of the failure."""
    reason: ReasonText | None = None
    """Reason for a failure or a wait, one word of the list in docs/reasons.md."""
    message: Message | None = None
    """Explanation of the reason, and what to do."""


class RunJob(ApiModel):
    """Job of all attempts. It is stored before the ConfigMap is created, and no attempt uses another one."""

    config_map: Annotated[str, Field(max_length=253)]
    """Name of the ConfigMap with the job."""
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", max_length=64)] | None = None
    """SHA-256 of the data of the ConfigMap. Absent: a run that release 0.1 started."""


class Cost(ApiModel):
    """Resources that the containers of all attempts used. Each executor counts as long as its driver ran."""

    pod_seconds: Int64
    """Seconds that the containers ran."""
    core_seconds: Int64
    """Seconds of each container times its requested CPUs."""
    gib_seconds: Int64
    """Seconds of each container times its memory limit in GiB."""


CommitIdentity = Annotated[str, Field(pattern=r"^[0-9]{1,16}/[0-9a-f]{8}$", max_length=32)]


class OutsideCommit(ApiModel):
    """A foreign commit: one that no run of the operator made."""

    snapshot_id: Int64
    """Snapshot of the commit."""
    commit_user: Annotated[str, Field(max_length=128)]
    """Commit user in Paimon. Paimon generates a UUID for writers without a name."""
    kind: Annotated[str, Field(max_length=32)]
    """APPEND, OVERWRITE, COMPACT or ANALYZE."""
    time: Time
    """Time of the commit."""


class RescaleResult(ApiModel):
    """Progress of a rescale."""

    done: Int64
    """Partitions that have the new number of buckets."""
    total: Int64
    """Partitions that have files."""
    finished: bool
    """True: all have it, and the table was verified to hold what it held before."""


class PartitionExpiryResult(ApiModel):
    """Result of partition expiry."""

    expired: Int64
    """Partitions that were dropped."""
    total: Int64
    """Partitions before the run."""
    remaining: Int64
    """Partitions that are due too. The next run drops them."""
    unreadable: Int64
    """Partitions that stay because no time can be read from them."""
    example: Annotated[str, Field(max_length=256)] | None = None
    """One of those that stay."""


class PartitionsDoneResult(ApiModel):
    """Result of marking partitions as done."""

    marked: Int64
    """Partitions that were marked, or whose mark was renewed."""
    already_marked: Int64
    """Partitions that are done and have a mark that is newer than their newest file."""
    not_yet_done: Int64
    """Partitions whose end or whose newest file is not longer ago than idleTime."""
    remaining: Int64
    """Partitions that are done too. The next run marks them."""
    unreadable: Int64
    """Partitions that are not marked because no time can be read from them."""
    example: Annotated[str, Field(max_length=256)] | None = None
    """One without a time."""


class OrphanFilesResult(ApiModel):
    """Result of a search for orphan files."""

    files: Int64 | None = None
    """Files of Paimon's in the table's directory."""
    orphans: Int64 | None = None
    """Files that are older than olderThan and that nothing needs."""
    orphan_bytes: Int64 | None = None
    """Their bytes."""
    unknown: Int64 | None = None
    """Files that Paimon does not put there. They are never touched."""
    report: Annotated[str, Field(max_length=1024)] | None = None
    """Path of the list."""
    compared_with: Time | None = None
    """Mode Delete. Time of the earlier report that was compared. Absent: there is none yet that is old enough."""
    moved: Int64 | None = None
    """Mode Delete. Files that were moved away because both reports name them."""
    moved_bytes: Int64 | None = None
    """Their bytes."""
    kept: Int64 | None = None
    """Files that were moved away, by this run or earlier ones, and can be moved back."""
    kept_bytes: Int64 | None = None
    """Their bytes."""
    removed: Int64 | None = None
    """Mode Delete. Files that were moved away olderThan ago, and removed for good."""
    removed_bytes: Int64 | None = None
    """Their bytes."""
    restored: Int64 | None = None
    """Mode Restore. Files that were moved back."""


class RowDifferenceFound(ApiModel):
    """A commit of maintenance after which the table held other rows."""

    before: Int64
    """Snapshot that the commit is based on."""
    after: Int64
    """Snapshot of the commit."""
    found: Annotated[str, Field(max_length=512)]
    """What differs."""
    tag: Annotated[str, Field(max_length=128)]
    """Tag that keeps the snapshot before the commit."""
    rolled_back: bool = False
    """True: the table was rolled back to that snapshot."""


class VerificationResult(ApiModel):
    """Comparison of the rows before and after the commits of a run."""

    commits: Int64
    """Commits of the run that were compared with the snapshots that they are based on."""
    rows: Int64
    """Rows that were compared, summed over these commits."""
    uncompared: Int64 = 0
    """Commits that could not be compared, because the snapshot before them had expired."""
    buckets: Int64 | None = None
    """Buckets of the sample. Absent: all rows were compared."""
    difference: RowDifferenceFound | None = None
    """The first difference. Absent: no row has changed."""


class WriteResult(ApiModel):
    """Result of a write."""

    files: Int64 | None = None
    """Number of files loaded."""
    rows: Int64 | None = None
    """Number of rows loaded."""
    committed_snapshot: Int64 | None = None
    """Snapshot of the commit. Absent: there was nothing to load."""
    already_committed: bool | None = None
    """True: an earlier attempt had already committed."""
    skipped: bool | None = None
    """True: there was nothing to load."""


class LoadedWrite(ApiModel):
    """A write that runs of another PaimonTable have begun or done."""

    name: MemberName
    """Name of the write."""
    hash: Hash
    """Hash of its from and mode."""
    ledger: LedgerName | None = None
    """Directory of its list of loaded files, if it is not the write's own: it had another name."""
    done: bool | None = None
    """True: as a write of type Once, it has loaded."""


LoadedWrites = Annotated[tuple[LoadedWrite, ...], Field(max_length=MAX_WRITES)]
"""Loaded writes of one table."""


class RunStatus(ApiModel):
    """State and outcome of the run."""

    observed_generation: Int64 = -1
    """Generation of the spec that this status describes."""
    phase: Phase | None = None
    """Pending, Launching, Running, Succeeded, Failed or Unknown. Programs should use the conditions."""
    conditions: Annotated[tuple[Condition, ...], Field(max_length=16, json_schema_extra=keyed_by("type"))] = ()
    """Conditions: Succeeded, Reconciling, Stalled."""
    reason: StartReason | None = None
    """What started the run."""
    attempts: Annotated[tuple[Attempt, ...], Field(max_length=32)] = ()
    """The attempts in order."""
    start_time: Time | None = None
    """Time of the first reconcile."""
    completion_time: Time | None = None
    """Time when the run ended."""
    next_try: Time | None = None
    """Time when the next attempt starts."""
    engine: EngineName | None = None
    """Engine of all attempts, for which the job was written."""
    spark: RunSpark | None = None
    """Mode of the run, and why it was selected."""
    job: RunJob | None = None
    """Job of all attempts. Absent until the first attempt, and for a run that release 0.1 started."""
    failure_class: FailureClass | None = None
    """Class of the failure that ended the run."""
    field: Annotated[str, Field(max_length=256)] | None = None
    """Field to check or to edit, in the manifest of the table or of its catalog."""
    seen_snapshot: Int64 | None = None
    """Latest snapshot when the driver started, 0 for none."""
    seen_commit: CommitIdentity | None = None
    """Identity of that snapshot: its time in milliseconds, and a hash of its commit user and identifier."""
    outside_commit: OutsideCommit | None = None
    """First foreign commit since the last inspection."""
    before: Measure | None = None
    """Measurements before the run."""
    after: Measure | None = None
    """Measurements after the run."""
    created: bool | None = None
    """Provision. True: the run created the table. False: the table existed."""
    differences: Annotated[tuple[Annotated[str, Field(max_length=512)], ...], Field(max_length=32)] = ()
    """Provision. Differences between the existing table and the manifest."""
    plan: EditPlan | None = None
    """Provision. The plan that waits for approval."""
    columns_digest: Hash | None = None
    """Provision. Hash of the columns and keys of the table after the run."""
    drift: DriftFound | None = None
    """Observe and Provision. What somebody else has changed in the table."""
    loaded: LoadedWrites = ()
    """Provision. Writes that the existing table's lists of loaded files show, of which the PaimonTable knew no run."""
    compacted_partitions: Int32 | None = None
    """Compact. Number of partitions that were compacted. 0: none reached a threshold."""
    only_for_records: Int32 | None = None
    """Compact. Number of those that reached no threshold: they had records to remove by retention.records."""
    verification: VerificationResult | None = None
    """Compact. Comparison of the rows before and after the commits of the run."""
    write: WriteResult | None = None
    """Write. Result of the load."""
    rescale: RescaleResult | None = None
    """Rescale. Progress after the run."""
    expired: Int32 | None = None
    """ExpireSnapshots. Number of snapshots that were expired."""
    partitions: PartitionExpiryResult | None = None
    """ExpirePartitions. Partitions that were dropped, and those that stay."""
    partitions_done: PartitionsDoneResult | None = None
    """MarkPartitionsDone. Partitions that were marked as done, and the others."""
    orphan_files: OrphanFilesResult | None = None
    """RemoveOrphanFiles. What was found, moved away, removed or restored."""
    described: Int32 | None = None
    """Describe. Number of tables that the log of the last Pod describes."""
    dropped: bool | None = None
    """Drop. False: the table did not exist any more, or it was kept."""
    kept: bool | None = None
    """Drop. True: the table stays, because it existed before the PaimonTable took it over."""
    cost: Cost | None = None
    """Resources that the containers used."""
