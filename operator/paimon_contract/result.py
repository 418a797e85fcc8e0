"""The result: the document that a driver leaves as its termination message. Sizes in bytes, times ISO 8601 in UTC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from paimon_contract.documents import VERSION, Document
from paimon_contract.exit_codes import ErrorClass

MAX_RESULT_BYTES: Final = 3072
"""Kubernetes keeps 4096 bytes of a termination message. The rest is room for multi-byte cuts."""


@dataclass(frozen=True)
class ResultError(Document):
    """What went wrong, where, and what to do."""

    class_: ErrorClass
    reason: str
    message: str
    remedy: str = ""
    field: str | None = None


@dataclass(frozen=True, kw_only=True)
class Pin(Document):
    """A Tag, Branch or Consumer (`kind`), and the bytes in data files that it keeps and the latest snapshot has not.

    None: they could not be found out.
    """

    kind: str
    name: str
    bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class ResultTable(Document):
    """The table after the run. Everything about its files is that of snapshot `snapshot_id`."""

    schema_id: int | None = None
    schema_digest: str | None = None
    """`TableSchema.digest` of that schema. A table that was dropped and made again can have the same number."""
    bucket_mode: str | None = None
    bucket_count: int | None = None
    """Buckets per partition by the table's option; None unless they are fixed."""
    rescaling: bool | None = None
    """True: some partitions may have another number of buckets."""
    partitions: int | None = None
    """Partitions that have files; None without buckets or without data in one, as of the two below."""
    bucket_bytes_median: int | None = None
    """Of the buckets that have files, over all partitions."""
    bucket_bytes_max: int | None = None
    files: int | None = None
    rows: int | None = None
    size_bytes: int | None = None
    sorted_runs_max: int | None = None
    small_files: int | None = None
    snapshot_id: int | None = None
    oldest_snapshot: str | None = None
    snapshots: int | None = None
    measured_at: str | None = None
    """When this was read."""
    # The rest is absent where the metadata files could not be read without Paimon.
    manifests: int | None = None
    """Those that a reader of the latest snapshot has to read."""
    buckets: int | None = None
    """Those that have files, over all partitions."""
    small_files_max: int | None = None
    """Of the partition that has most, without those that are alone in their bucket."""
    level0_files_max: int | None = None
    """Of the bucket that has most."""
    delete_percent: int | None = None
    """Deleted rows of 100, rounded down. None: the writer has not counted them."""
    unmerged_percent: int | None = None
    """Rows of 100 outside of the highest level of their bucket: an upper bound of duplicates. With a primary key."""
    oldest_partition: str | None = None
    """The smallest, as `day=2026-11-22/hour=7`."""
    pins: tuple[Pin, ...] | None = None
    """The largest of `pins_count`. None: they were not read."""
    pins_count: int | None = None


@dataclass(frozen=True, kw_only=True)
class ResultMeasure(Document):
    """What a run of maintenance started from or ended with."""

    files: int | None = None
    bytes: int | None = None
    rows: int | None = None
    sorted_runs_max: int | None = None
    snapshot_id: int | None = None
    snapshots: int | None = None
    manifests: int | None = None


@dataclass(frozen=True, kw_only=True)
class LoadSummary(Document):
    """`rows` were read from `files` files. `committed_snapshot` is None when no file held a row."""

    files: int = 0
    rows: int = 0
    committed_snapshot: int | None = None
    already_committed: bool = False
    skipped: bool = False


@dataclass(frozen=True, kw_only=True)
class LoadedWrite(Document):
    """A write of the job whose from and mode (`hash`) a ledger of the table has.

    `ledger` is the name of that ledger's directory; None: the one in the job. `done`: it has committed as type Once.
    """

    name: str
    hash: str
    ledger: str | None = None
    done: bool | None = None


@dataclass(frozen=True, kw_only=True)
class PlanStep(Document):
    """A step of a plan: its kind, the field of the manifest that asks for it, what it costs, and a short sentence."""

    change: str
    field: str
    cost: str
    message: str


@dataclass(frozen=True, kw_only=True)
class ResultPlan(Document):
    """The plan that waits for approval. `steps` are the first of its `count`, those that lose data before others."""

    hash: str
    count: int
    steps: tuple[PlanStep, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RescaleSummary(Document):
    """`done` of `total` partitions have the new number of buckets. `finished`: they are verified, too."""

    done: int
    total: int
    finished: bool


@dataclass(frozen=True, kw_only=True)
class PartitionExpiry(Document):
    """`expired` of `total` partitions expired. `remaining` are due too, and were left for the next run.

    `unreadable` partitions have no time that can be read, as `example`, or cannot be named: they stay.
    """

    expired: int
    total: int
    remaining: int = 0
    unreadable: int = 0
    example: str | None = None


@dataclass(frozen=True, kw_only=True)
class PartitionsDone(Document):
    """`marked` partitions were marked as done now, `already_marked` ones before, and `not_yet_done` ones are not done.

    `remaining` are done too, and were left for the next run. `unreadable` partitions have no time that can be read, as
    `example`.
    """

    marked: int
    already_marked: int
    not_yet_done: int
    remaining: int = 0
    unreadable: int = 0
    example: str | None = None


@dataclass(frozen=True, kw_only=True)
class OrphanFiles(Document):
    """Of `files` files, `orphans` are old and referenced by nothing, and `unknown` ones are none of Paimon's.

    `report` is the path of the list. A run of mode Delete has compared it with the report of the time `compared_with`
    (None: there is none that is old enough), and moved `moved` files away, which `restored` moves back. `kept` ones can
    still be moved back, `removed` ones were removed for good.
    """

    files: int | None = None
    orphans: int | None = None
    orphan_bytes: int | None = None
    unknown: int | None = None
    report: str | None = None
    compared_with: str | None = None
    moved: int | None = None
    moved_bytes: int | None = None
    kept: int | None = None
    kept_bytes: int | None = None
    removed: int | None = None
    removed_bytes: int | None = None
    restored: int | None = None


@dataclass(frozen=True, kw_only=True)
class RowDifference(Document):
    """A commit of the run after which the table held other rows: that of snapshot `after`, based on `before`.

    `found`: what differs, as a clause. `tag`: what keeps snapshot `before`. `rolled_back`: the table is at it again.
    """

    before: int
    after: int
    found: str
    tag: str
    rolled_back: bool = False


@dataclass(frozen=True, kw_only=True)
class Verification(Document):
    """`commits` of the run were compared with the snapshots that they are based on, over `rows` rows after them.

    `uncompared` are others, whose snapshot has expired. `buckets`: size of the sample; None: all rows were compared.
    `difference`: the first one; None: no row has changed.
    """

    commits: int
    rows: int
    uncompared: int = 0
    buckets: int | None = None
    difference: RowDifference | None = None


@dataclass(frozen=True, kw_only=True)
class DriftedField(Document):
    """A change that somebody else made: `change` is a kind of `paimon_schema.drift.DriftKind`.

    `field` is an option, or a column or nested field by its name before the change; empty for the table itself.
    `correctable`: True if driftPolicy Correct takes it back.
    """

    change: str
    field: str = ""
    before: str | None = None
    after: str | None = None
    correctable: bool | None = None


@dataclass(frozen=True, kw_only=True)
class ResultDrift(Document):
    """The latest schema of the table, and how it differs from the one that the operator has left.

    `changes` are the first of `count` changes since then. None where `baseline_id` is None: there was no such schema.
    """

    baseline_id: int | None = None
    schema_id: int
    schema_digest: str
    """`TableSchema.digest`."""
    schema_time: str
    """When the latest schema was written."""
    count: int = 0
    changes: tuple[DriftedField, ...] = ()
    refused: str | None = None
    """Why the table cannot be made as declared any more; None if it can."""
    taken_back: tuple[DriftedField, ...] = ()
    """Changes that the run has taken back."""


@dataclass(frozen=True)
class ForeignCommit(Document):
    """A commit that no run of the operator made."""

    snapshot_id: int
    commit_user: str
    kind: str
    time: str


@dataclass(frozen=True)
class Elapsed(Document):
    """Milliseconds since the driver's process started."""

    session: int
    total: int
    share: int | None = None
    """Of a run that shares its driver: each moment of the turn, divided by the turns in progress at that moment."""


@dataclass(frozen=True, kw_only=True)
class ResultHead(Document):
    """Whose result it is."""

    version: int = VERSION
    run: str
    operation: str
    ok: bool


@dataclass(frozen=True, kw_only=True)
class Seen(Document):
    """The table's latest snapshot when the run began (0: none), and the first foreign commit since the last run.

    `seen_commit` identifies that snapshot: `<its time in ms>/<8 hex digits over its commit user and identifier>`.
    """

    seen_snapshot: int | None = None
    seen_commit: str | None = None
    outside_commit: ForeignCommit | None = None


@dataclass(frozen=True, kw_only=True)
class Outcome(Document):
    """What an operation reports."""

    table: ResultTable | None = None
    created: bool | None = None
    differences: tuple[str, ...] = ()
    plan: ResultPlan | None = None
    columns_digest: str | None = None
    """`TableSchema.columns_digest` of the table as it is now."""
    before: ResultMeasure | None = None
    after: ResultMeasure | None = None
    compacted_partitions: int | None = None
    """Partitions that were compacted; 0: no partition needed it. None: which ones is Paimon's choice."""
    only_for_records: int | None = None
    """Those of `compacted_partitions` that reached no threshold: they had records to remove by their age."""
    write: LoadSummary | None = None
    expired: int | None = None
    described: int | None = None
    dropped: bool | None = None
    kept: bool | None = None
    loaded: tuple[LoadedWrite, ...] = ()
    rescale: RescaleSummary | None = None
    partitions: PartitionExpiry | None = None
    partitions_done: PartitionsDone | None = None
    orphan_files: OrphanFiles | None = None
    drift: ResultDrift | None = None
    verification: Verification | None = None
    """None: nothing was compared."""


@dataclass(frozen=True, kw_only=True)
class Result(Outcome, Seen, ResultHead):
    """What a driver did. Raises ValueError where `ok` and `error` contradict each other."""

    ms: Elapsed | None = None
    error: ResultError | None = None

    def __post_init__(self) -> None:
        if self.ok == (self.error is not None):
            raise ValueError("ok and error contradict each other")
