"""Status of a PaimonTable: the state that a restarted operator needs, and the reasons of its decisions."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import (
    ApiModel,
    EngineName,
    Hash,
    Int32,
    Int64,
    MemberName,
    Place,
    RunName,
    Time,
    keyed_by,
)
from paimon_operator.api.conditions import Condition
from paimon_operator.api.drift import MAX_CORRECTIONS, Correction, DriftedFields
from paimon_operator.api.edit_plan import EditPlan
from paimon_operator.api.run.status import (
    Expectation,
    RowDifferenceFound,
    RunTrigger,
    RunType,
    VerificationResult,
)
from paimon_operator.api.table.effective import Effective
from paimon_operator.api.table.facts import Health, TableFacts
from paimon_operator.api.table.outside_writers import OutsideWriters
from paimon_operator.api.table.ownership import Ownership
from paimon_operator.api.table.schedule_state import LastFailure, MaintenanceState, ScheduleState
from paimon_operator.api.table.usage import MAX_LEARNED, LearnedSize, Usage
from paimon_operator.api.table.writes import MAX_WRITES, LedgerName

MAX_SCHEMA_RECORD: Final = 32768
"""A longer record is left out. Usual tables need less than 2000 characters."""
NEED_LENGTH: Final = 256
MAX_FOLLOWING: Final = 4
"""Runs of a table that may wait in a shared driver Pod for the active one to end."""
Uid = Annotated[str, Field(max_length=64)]


class ActiveRun(ApiModel):
    """The one run that may change the table. Stored before the run is created, removed after its result is recorded."""

    name: RunName
    """Name of the PaimonRun. It is stored before the run exists."""
    uid: Uid | None = None
    """UID of the PaimonRun, once it exists."""
    type: RunType
    """Type of the run."""
    subject: Annotated[str, Field(max_length=40)] | None = None
    """Target of the run: the name of the write, or the strategy of the compaction."""
    partial: bool | None = None
    """True: the compaction covers some partitions only, so it does not count for a schedule."""
    trigger: RunTrigger
    """What started the run."""
    due_time: Time | None = None
    """Tick of the schedule that started the run."""
    spec_hash: Hash | None = None
    """Hash of the part of the spec that the run applies."""
    place: Place | None = None
    """Place of the physical table at which the run was decided."""
    need: Annotated[str, Field(max_length=NEED_LENGTH)] | None = None
    """What made the run needed."""
    note: Annotated[str, Field(max_length=512)] | None = None
    """Why the run started although no maintenance window is open, or although it is expected to outlast the window."""
    expected: Expectation | None = None
    """What is expected of the run."""
    recreates: Int64 | None = None
    """Generation for which the run recreates the missing table."""
    result_unknown: bool | None = None
    """True: the run ended without a result. Deleting the run then means: go on."""
    blocked: bool | None = None
    """True: only a human gets the run on, for ten minutes now. It does not count for limits.maxConcurrentRuns."""
    gives_way: bool | None = None
    """True: it waits for its turn in a shared driver Pod, and another run that has become due starts before it."""
    gave_way: bool | None = None
    """True: it has given way once, and does not do so again."""


class QueuedRun(ApiModel):
    """The next run of the table, which waits for a free place."""

    type: RunType
    """Type of the run."""
    subject: Annotated[str, Field(max_length=40)] | None = None
    """Target of the run: the name of the write, or the strategy of the compaction."""
    since: Time
    """Since when the table waits."""
    rank: Time | None = None
    """Of one namespace, the table with the earliest rank starts first: `since`, less a head start of up to an hour for
    runs that others wait for, and for maintenance that gains much per cost. Absent: `since`."""
    message: Annotated[str, Field(max_length=512)]
    """The limit that stops it."""


class ProvisionState(ApiModel):
    """State of Provision, the operation that makes the table match the spec."""

    hash: Hash | None = None
    """Hash of the part of the spec against which the table was verified."""
    last_run: RunName | None = None
    """Name of the last run that ended."""
    last_time: Time | None = None
    """Time of the last success."""
    created: bool | None = None
    """True: the operator created the table. False: it adopted an existing table."""
    columns_digest: Hash | None = None
    """Hash of the columns and keys of the table, as the last successful run has read them."""
    schema_record: Annotated[str, Field(max_length=MAX_SCHEMA_RECORD)] | None = None
    """Schema of the table after that run, compressed. From it the operator plans an edit before any run starts.
    Absent: it is not known, and the run plans the edit."""
    recorded_for: Hash | None = None
    """Hash of the part of the spec with which the record was made. Absent: it is of the run before."""
    schema_id: Int64 | None = None
    """Schema of the table that the last successful run has left. Drift is what differs from it. Absent: unknown."""
    schema_digest: Hash | None = None
    """Hash of that schema. A table with another schema of this number is another table."""
    bucket_count: Int64 | None = None
    """Buckets per partition of the verified table. A write or compaction stops where somebody else has set another
    number. Absent: the buckets are not fixed, or the number is not known."""
    may_be_altered: bool | None = None
    """True: a run for another spec failed, and may have altered the table before. A run verifies the table, also if
    the edit is reverted."""
    failure: LastFailure | None = None
    """Failure of the last run. Absent if the last run succeeded."""
    found_at: Place | None = None
    """Place at which the last run has read the table without proving that it is owned. Absent: it could not read it."""


class DriftState(ScheduleState):
    """What somebody else has changed in the table, and when it is observed next."""

    schema_id: Int64 | None = None
    """Latest schema of the table that a run has compared."""
    schema_digest: Hash | None = None
    """Hash of that schema."""
    schema_time: Time | None = None
    """Time when that schema was written, by the clock of its writer."""
    count: Int64 | None = None
    """Number of changes that somebody else has made. They count until they are reverted, declared or accepted."""
    changes: DriftedFields = ()
    """The first changes, the gravest kinds first."""
    kept: DriftedFields = ()
    """Those of them that were left when the table was last verified."""
    kept_count: Int64 | None = None
    """Number of changes that were left then."""
    refused: Annotated[str, Field(max_length=256)] | None = None
    """Why the table cannot be made to match the manifest any more."""
    observed_time: Time | None = None
    """Last time at which a run has compared the schema, or has found it unchanged."""
    changed_at: Time | None = None
    """When a run found another schema than the compared one. Observe is due since then."""
    corrections: Annotated[tuple[Correction, ...], Field(max_length=MAX_CORRECTIONS)] = ()
    """Corrections of the last hour."""
    correcting: bool | None = None
    """True: the next Provision takes changes back."""
    contested: bool | None = None
    """True: the same field was changed again after two corrections, so the operator waits."""
    next_correction: Time | None = None
    """When the operator corrects again. Absent: it does not wait."""


class RescaleState(ApiModel):
    """State of rescaling the table to another number of buckets."""

    unfinished: bool | None = None
    """True: a rescale has started and is not complete. No other run commits until then."""
    done: Int64 | None = None
    """Partitions that have the new number of buckets."""
    total: Int64 | None = None
    """Partitions that have files."""
    spec_hash: Hash | None = None
    """Hash of the number of buckets that the last run was started for."""
    last_run: RunName | None = None
    """Name of the last run that ended."""
    last_time: Time | None = None
    """Time of the last success."""
    failure: LastFailure | None = None
    """Failure of the last run. Absent if the last run succeeded."""


class StrategyState(MaintenanceState):
    """State of one strategy of compaction."""

    compacted_snapshot: Int64 | None = None
    """Latest snapshot after the last success. Until another one follows, there is nothing more to merge."""
    compacted_for: Hash | None = None
    """Hash of the thresholds of that run. Absent: it had none, and took everything."""


class CompactionState(ScheduleState):
    """State of compaction: the latest of all strategies, and each strategy."""

    minor: StrategyState | None = None
    """State of the minor schedule."""
    full: StrategyState | None = None
    """State of the full schedule."""
    sort: StrategyState | None = None
    """State of the sort schedule."""


class OrphanFilesState(ScheduleState):
    """State of the search for orphan files."""

    files: Int64 | None = None
    """Orphan files that the last report counts."""
    bytes: Int64 | None = None
    """Their bytes."""
    unknown: Int64 | None = None
    """Files that Paimon does not put there. They are never touched."""
    report: Annotated[str, Field(max_length=1024)] | None = None
    """Path of the last report."""
    kept: Int64 | None = None
    """Files that were moved away and can be moved back."""
    kept_bytes: Int64 | None = None
    """Their bytes."""


class PartitionsDoneState(ScheduleState):
    """State of marking partitions as done."""

    unmarked: Int64 | None = None
    """Partitions whose mark was missing or outdated after the last successful run: not done yet, more than one run
    marks, or without a time that can be read."""
    snapshot: Int64 | None = None
    """Snapshot of the table at that run. Absent after an edit and a recreation: the next tick starts a run."""


class VerificationState(ApiModel):
    """Verification of maintenance, which is to change no row."""

    last_run: RunName | None = None
    """Last run that has compared rows."""
    last_time: Time | None = None
    """Time of the last comparison without a difference."""
    last: VerificationResult | None = None
    """What that run has compared."""
    held_by: RunName | None = None
    """Run that has found a difference. Maintenance is held until the annotation
    paimon-operator.dev/accept-rows names this run. Absent: none has."""
    found_at: Time | None = None
    """Time when that run ended."""
    difference: RowDifferenceFound | None = None
    """The difference that it has found."""


class WriteState(ScheduleState):
    """State of one write."""

    name: MemberName
    """Name of the write."""
    hash: Hash | None = None
    """Hash of from and mode, by which the write is recognised under another name."""
    ledger: LedgerName | None = None
    """Directory of its list of loaded files. Absent: the write's name. A renamed write keeps its directory."""
    pending_since: Time | None = None
    """Since when a write of type Once is to be done."""
    once_hash: Hash | None = None
    """Hash of the from and mode that a write of type Once has loaded."""
    committed_snapshot: Int64 | None = None
    """Snapshot of the last commit."""
    rows: Int64 | None = None
    """Number of rows of the last load. Mode Auto uses it."""


class FormerWrite(ApiModel):
    """A write that is no longer in the manifest, or not with this from and mode. It continues where it was if it comes
    back, under any name."""

    ledger: LedgerName
    """Directory of its list of loaded files."""
    hash: Hash
    """Hash of its from and mode."""
    once_done: bool | None = None
    """True: as a write of type Once, it has loaded."""


class DropState(ApiModel):
    """State of dropping the table."""

    last_run: RunName | None = None
    """Name of the last run that ended."""
    attempts: Int32 | None = None
    """Number of failed runs."""
    done: bool | None = None
    """True: nothing more is to be done. The table no longer exists in Paimon, or it is kept."""
    kept: bool | None = None
    """True: the table stays, because it existed before this PaimonTable took it over."""
    failure: LastFailure | None = None
    """Failure of the last attempt to drop the table."""


class TableStatus(ApiModel):
    """State of the table at the last reconcile."""

    observed_generation: Int64 = -1
    """Generation of the spec that this status describes."""
    conditions: Annotated[tuple[Condition, ...], Field(max_length=16, json_schema_extra=keyed_by("type"))] = ()
    """Conditions: Ready, Reconciling, Stalled, Healthy, CommitSafe, WritesPaused, MaintenanceHeld, BucketsFit,
    Drifted, Suspended."""
    verified_generation: Int64 | None = None
    """Generation of the spec for which the table was Ready before a bug of the operator. Absent without a bug."""
    active_run: ActiveRun | None = None
    """The one run that may change the table."""
    following_runs: Annotated[
        tuple[ActiveRun, ...] | None, Field(max_length=MAX_FOLLOWING, json_schema_extra=keyed_by("name"))
    ] = None
    """Maintenance that is due together with the active run and shares its driver Pod. Each starts once the table names
    it as its active run."""
    deferred_run: ActiveRun | None = None
    """Maintenance that has given way before its turn in a shared driver Pod. It is the next active run."""
    queued_run: QueuedRun | None = None
    """The next run, while a limit of the catalog or of the operator stops it."""
    ownership: Ownership | None = None
    """Where and since when this PaimonTable owns the physical table. Absent: no run has proved it."""
    plan: EditPlan | None = None
    """Plan of an edit that is not applied yet. Absent: there is none, or only a run finds it out."""
    engine: EngineName | None = None
    """Engine that last verified the table. Another engine verifies it again before any other run starts."""
    table: TableFacts | None = None
    """The table as Paimon describes it. Absent until the table was first verified."""
    health: Health | None = None
    """Measurements of the last run."""
    outside_writers: OutsideWriters | None = None
    """Foreign commits that the runs have found."""
    provision: ProvisionState | None = None
    """State of Provision, the operation that makes the table match the spec."""
    drift: DriftState | None = None
    """What somebody else has changed in the table, and when the operator observed it."""
    rescale: RescaleState | None = None
    """State of rescaling the table to another number of buckets."""
    compaction: CompactionState | None = None
    """State of compaction."""
    verification: VerificationState | None = None
    """Verification of maintenance. Absent: no run has compared rows."""
    retention: MaintenanceState | None = None
    """State of snapshot expiry, which also expires changelogs, consumers and tags."""
    partition_expiry: ScheduleState | None = None
    """State of partition expiry."""
    partitions_done: PartitionsDoneState | None = None
    """State of marking partitions as done."""
    orphan_files: OrphanFilesState | None = None
    """State of the search for orphan files."""
    writes: Annotated[tuple[WriteState, ...], Field(max_length=MAX_WRITES, json_schema_extra=keyed_by("name"))] = ()
    """State of each write."""
    former_writes: (
        Annotated[tuple[FormerWrite, ...], Field(max_length=16, json_schema_extra=keyed_by("ledger", "hash"))] | None
    ) = None
    """Writes that are no longer in the manifest, or not with these from and mode."""
    usage: Usage | None = None
    """Resources that the table's runs used."""
    learned_sizes: Annotated[tuple[LearnedSize, ...], Field(max_length=MAX_LEARNED)] = ()
    """Driver memory of runs that ran out of memory before."""
    drop: DropState | None = None
    """State of dropping the table."""
    effective: Effective | None = None
    """Effective settings, after the defaults of catalog and operator."""
