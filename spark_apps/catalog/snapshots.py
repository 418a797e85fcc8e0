"""Finds the snapshots that a run has committed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from spark_apps.failures.causes import is_caused_by

DATA_KINDS = frozenset({"APPEND", "OVERWRITE"})
"""A writer that compacts as it goes also commits a COMPACT snapshot, which carries no rows of its own."""


@dataclass(frozen=True)
class Commit:
    """A snapshot with data; `rows` is what it added to the table's files. Every writer has a `user` of its own.

    `time` is when it was made, in ms by the clock of the driver that made it.
    """

    snapshot: int
    rows: int
    user: str
    time: int


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
    expired = False
    for snapshot_id, snapshot in _snapshots(table, after):
        expired = expired or snapshot is None
        commit = snapshot and _commit_of(commit_user, snapshot_id, snapshot)
        if commit:
            return Answer(commit, expired)
    return Answer(None, expired)


def find_commits(table: Any, commit_user: str, after: int) -> list[Commit]:
    """All commits of `commit_user` among the snapshots after `after` that still exist, oldest first."""
    found = (snapshot and _commit_of(commit_user, number, snapshot) for number, snapshot in _snapshots(table, after))
    return [commit for commit in found if commit]


def _snapshots(table: Any, after: int) -> Iterator[tuple[int, Any | None]]:
    """Snapshots by id, None where one has expired (one None stands for all before the earliest)."""
    snapshots = table.snapshotManager()
    latest, earliest = latest_snapshot(table), int(snapshots.earliestSnapshotId() or 0)
    if earliest > after + 1:
        yield after + 1, None
    for snapshot_id in range(max(after + 1, earliest), latest + 1):
        try:
            yield snapshot_id, snapshots.snapshot(snapshot_id)
        except Exception as error:
            if not is_caused_by(error, "FileNotFoundException"):
                raise
            yield snapshot_id, None  # it has expired meanwhile


def _commit_of(commit_user: str, snapshot_id: int, snapshot: Any) -> Commit | None:
    user = str(snapshot.commitUser())
    if user.startswith(commit_user + "_") and str(snapshot.commitKind().toString()) in DATA_KINDS:
        return Commit(snapshot_id, int(snapshot.deltaRecordCount()), user, int(snapshot.timeMillis()))
    return None
