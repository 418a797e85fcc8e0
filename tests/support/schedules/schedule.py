"""A schedule: what several writers and the maintenance of one table do, in order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tests.support.schedules.kinds import TableKind


@dataclass(frozen=True)
class Row:
    """A row that is written; `gone`: it deletes its key."""

    p: int
    k: int
    seq: int
    a: int | None
    b: int | None
    gone: bool = False


class Do(StrEnum):
    """What a step does."""

    BEGIN_WRITE = "BeginWrite"
    """A writer writes its files and prepares its commit."""
    BEGIN_COMPACTION = "BeginCompaction"
    COMMIT = "Commit"
    """Commits what an earlier step has begun."""
    DIE = "Die"
    """The writer of an earlier step is killed before its commit."""
    DIE_IN_COMMIT = "DieInCommit"
    """It is killed in its commit: the manifests are there, the snapshot is not."""
    EXPIRE_SNAPSHOTS = "ExpireSnapshots"
    """As the run does: automatic tags are created before."""
    DIE_IN_EXPIRY = "DieInExpiry"
    """The expiry is killed when it has removed files, and not all of its snapshots."""
    DROP_PARTITION = "DropPartition"
    """What ExpirePartitions commits."""
    CREATE_TAG = "CreateTag"
    DELETE_TAG = "DeleteTag"
    CREATE_BRANCH = "CreateBranch"
    """From a tag."""
    DELETE_BRANCH = "DeleteBranch"
    CREATE_CONSUMER = "CreateConsumer"
    ADVANCE_CONSUMER = "AdvanceConsumer"
    """It has read everything."""
    DELETE_CONSUMER = "DeleteConsumer"
    SORT = "Sort"
    """The compaction of strategy Sort, of a table without a key. An engine without it does nothing."""
    COMPACT_MANIFESTS = "CompactManifests"
    ANALYZE = "Analyze"
    PASS_TIME = "PassTime"
    REPORT_ORPHANS = "ReportOrphans"
    DELETE_ORPHANS = "DeleteOrphans"
    DIE_IN_ORPHANS = "DieInDeleteOrphans"
    """The removal is killed at one of its changes."""
    CHECK = "Check"
    """Compares the head, tags, branches and snapshots with the model."""


@dataclass(frozen=True)
class Step:
    """One step. Only the members that its kind needs are given."""

    do: StrEnum
    name: str = ""
    """Of a write, a compaction, a tag, a branch, a consumer or a run."""
    rows: tuple[Row, ...] = ()
    full: bool = False
    """Of a compaction."""
    keep: int = 0
    """Snapshots that an expiry keeps."""
    partition: int = 0
    back: int = 0
    """Snapshots between the latest one and that of a tag or consumer."""
    tag: str = ""
    """Of a branch."""
    hours: int = 0
    run: str = ""
    """Type of a run."""
    strategy: str = ""
    """Of a run that compacts."""
    death: str = ""
    """Of its driver."""
    settings: tuple[tuple[str, str | None], ...] = ()
    """Settings of the manifest that an edit changes; None removes one."""
    call: int = 0
    """At which a removal of orphans is killed, an expiry, or the commit of a writer that makes two snapshots."""

    def __str__(self) -> str:
        given = {key: value for key, value in vars(self).items() if value and key not in ("do", "rows")}
        rows = [
            f"{'-' if each.gone else '+'}{(each.p, each.k, each.seq, each.a, each.b)}".replace(" ", "")
            for each in self.rows
        ]
        return " ".join([self.do.value, *(f"{key}={value}" for key, value in given.items()), *rows])


@dataclass(frozen=True)
class Schedule:
    """All of it, from one seed."""

    seed: int
    kind: TableKind
    steps: tuple[Step, ...]
