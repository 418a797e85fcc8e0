"""Asking Paimon which snapshots a run has committed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spark_apps.failures import caused_by

DATA_KINDS = frozenset({"APPEND", "OVERWRITE"})
"""A writer that compacts as it goes also commits a COMPACT snapshot, which carries no rows of its own."""


@dataclass(frozen=True)
class Commit:
    """A snapshot with data; `rows` is what it added to the table's files."""

    snapshot: int
    rows: int


@dataclass(frozen=True)
class Answer:
    """`commit` is None if there is none among the snapshots that still exist; `expired` if some no longer do."""

    commit: Commit | None
    expired: bool


def latest_snapshot(table: Any) -> int:
    """The id of the latest snapshot, 0 for none."""
    return int(table.snapshotManager().latestSnapshotId() or 0)


def find_commit(table: Any, commit_user: str, after: int) -> Answer:
    """Looks for the commit of `commit_user` (the prefix that Paimon was given) among the snapshots after `after`."""
    snapshots = table.snapshotManager()
    latest, earliest = latest_snapshot(table), int(snapshots.earliestSnapshotId() or 0)
    for snapshot_id in range(max(after + 1, earliest), latest + 1):
        try:
            snapshot = snapshots.snapshot(snapshot_id)
        except Exception as error:
            if caused_by(error, "FileNotFoundException"):  # expired while we look
                return Answer(None, expired=True)
            raise
        if snapshot.commitUser().startswith(commit_user + "_") and str(snapshot.commitKind().toString()) in DATA_KINDS:
            return Answer(Commit(snapshot_id, int(snapshot.deltaRecordCount())), expired=False)
    return Answer(None, expired=earliest > after + 1)
