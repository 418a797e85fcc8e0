"""Detects foreign commits since the last inspected snapshot. Runs before every operation that makes commits or looks.

A run reports the snapshot at which it began, and the next run inspects from there on. So it finds foreign commits that
were made while the first run was active; that run's own commits are recognised by their commit user.

A rollback by hand gives the numbers after it to other commits. So the last inspected snapshot is also known by its
identity. If it is not the same any more, every commit that is younger than it is inspected.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from paimon_contract.job import Job
from paimon_contract.result import ForeignCommit, Seen
from spark_apps.catalog.ownership import owner_of
from spark_apps.catalog.session import Session
from spark_apps.catalog.snapshots import latest_snapshot
from spark_apps.catalog.warehouse_files import files_at_start
from spark_apps.failures.causes import is_caused_by
from spark_apps.failures.errors import RunError
from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.snapshots import Snapshot, SnapshotFiles
from spark_apps.metadata.table_files import location_of
from spark_apps.progress import log_step

AT_EACH_END: Final = 500
"""Snapshots that are read at most, of the oldest and of the newest each. The first foreign commit ends the search, and
each run adds a few, so only a result that is lost many times makes the range that long."""
MAX_USER: Final = 100
_UUID: Final = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_ANY_RUN: Final = re.compile(f"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?-{_UUID}_{_UUID}")
"""Commit user of every run of every operator: `<run>-<its UID>`, and the suffix that Paimon adds to a prefix."""
CLOCKS_APART: Final = 60_000
"""Milliseconds by which the clocks of two writers may differ. Inspecting an own commit again finds nothing new."""


@dataclass(frozen=True)
class InspectedCommit:
    """A snapshot, by what its commit says of itself."""

    snapshot_id: int
    user: str
    identifier: int
    kind: str
    time_ms: int


class Commits(Protocol):
    """The commits of a table whose snapshots still exist."""

    def latest_id(self) -> int:
        """The id of the latest snapshot, 0 for none."""

    def earliest_id(self) -> int:
        """The id of the earliest snapshot, 0 for none."""

    def commit(self, snapshot_id: int) -> InspectedCommit | None:
        """The commit of a snapshot; None when it has expired meanwhile."""


@dataclass(frozen=True)
class JavaCommits:
    """Read by Paimon from a table (Java FileStoreTable)."""

    table: Any

    def latest_id(self) -> int:
        return latest_snapshot(self.table)

    def earliest_id(self) -> int:
        return int(self.table.snapshotManager().earliestSnapshotId() or 0)

    def commit(self, snapshot_id: int) -> InspectedCommit | None:
        try:
            found = self.table.snapshotManager().snapshot(snapshot_id)
        except Exception as error:
            if is_caused_by(error, "FileNotFoundException"):
                return None
            raise
        return InspectedCommit(
            snapshot_id,
            user=str(found.commitUser()),
            identifier=int(found.commitIdentifier()),
            kind=str(found.commitKind().toString()),
            time_ms=int(found.timeMillis()),
        )


@dataclass(frozen=True)
class FileCommits:
    """Read from the snapshot files. Each method raises UnreadableError where a JVM is needed."""

    snapshots: SnapshotFiles

    def latest_id(self) -> int:
        found = self._latest()
        return 0 if found is None else found.id

    def earliest_id(self) -> int:
        found = self._latest()
        return 0 if found is None else self.snapshots.earliest(found).id

    def commit(self, snapshot_id: int) -> InspectedCommit | None:
        found = self.snapshots.snapshot(snapshot_id)
        if found is None:
            return None
        return InspectedCommit(found.id, found.commit_user, found.commit_identifier, found.commit_kind, found.time_ms)

    def _latest(self) -> Snapshot | None:
        return self.snapshots.latest_by_hint()


def inspect_commits(job: Job, session: Session, *, adopts: bool) -> Seen:
    """Inspects the commits since `job.since_snapshot`. `adopts`: the run may take over a table."""
    table = session.table_found
    if table is None:
        return Seen(seen_snapshot=0)
    owner, files = owner_of(table), FileCommits(SnapshotFiles(files_at_start(session), location_of(job)))
    try:
        return inspected(job, files, owner, adopts=adopts)
    except UnreadableError as error:
        log_step(f"Paimon reads the snapshots: {error}")
    return inspected(job, JavaCommits(table), owner, adopts=adopts)


def inspected(job: Job, commits: Commits, owner: str | None, *, adopts: bool = False) -> Seen:
    """The same from the commits of a table that exists, and its owner mark.

    Of a table without the mark of the job, the commits before its adoption are known and not foreign. To a run that
    does not adopt, nothing of it counts as inspected.
    """
    is_own = owner == job.owner or job.since_snapshot is None
    if not is_own and not adopts:
        return Seen()
    latest = commits.latest_id()
    last = commits.commit(latest) if latest else None
    seen = Seen(seen_snapshot=latest, seen_commit=None if last is None else identity_of(last))
    if job.since_snapshot is None or not is_own:
        return seen
    return replace(seen, outside_commit=_first_foreign(job, commits, job.since_snapshot, latest))


def refuse_unsafe_commit(job: Job, seen: Seen) -> None:
    """Raises RunError when a foreign commit was found and the run's own commits are not safe beside that writer."""
    found = seen.outside_commit
    if found is None or not job.stop_at_foreign_commit:
        return
    raise RunError(
        "Environment",
        "OutsideCommit",
        f"snapshot {found.snapshot_id} of {job.table} was made by commit user {found.commit_user or 'unnamed'}, not by "
        "the operator; nothing was committed beside that writer",
        "stop that writer, or declare it in externalWriters",
        field="spec.externalWriters",
    )


def identity_of(commit: InspectedCommit) -> str:
    """What distinguishes a snapshot from another one of its number: `<time in ms>/<8 hex digits>`."""
    text = f"{commit.user}\0{commit.identifier}"
    return f"{commit.time_ms}/{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _first_foreign(job: Job, commits: Commits, since: int, latest: int) -> ForeignCommit | None:
    earliest = commits.earliest_id()
    younger_than = _rolled_back(job, commits, since, latest)
    first = earliest if younger_than is not None else max(since + 1, earliest)
    for each in _existing(commits, range(first, latest + 1)):
        is_old = younger_than is not None and each.time_ms < younger_than - CLOCKS_APART
        if not is_old and not is_run_commit(each.user, job):
            return ForeignCommit(
                snapshot_id=each.snapshot_id,
                commit_user=re.sub(r"[^\x20-\x7e]", "?", each.user)[:MAX_USER],
                kind=each.kind,
                time=datetime.fromtimestamp(each.time_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            )
    return None


def _rolled_back(job: Job, commits: Commits, since: int, latest: int) -> int | None:
    """The time (ms) of the last inspected snapshot if another one has its number or none has; None if it is there.

    A snapshot that has expired was not rolled back.
    """
    if job.since_commit is None:
        return None
    if since <= latest:
        now = commits.commit(since)
        if now is None or identity_of(now) == job.since_commit:
            return None
    return int(job.since_commit.partition("/")[0])


def _existing(commits: Commits, snapshot_ids: range) -> Iterator[InspectedCommit]:
    found = (commits.commit(snapshot_id) for snapshot_id in _bounded(snapshot_ids))
    return (each for each in found if each is not None)


def is_run_commit(commit_user: str, job: Job) -> bool:
    """Whether a run of this table made the commit.

    This run and runs of users are known by name and UID, the operator's own by the form of their names: anybody else
    could have a prefix like that of a user's run.
    """
    if any(commit_user.startswith(f"{run}_") for run in (job.commit_user, *(job.user_runs or ()))):
        return True
    own = f"{re.escape(job.run_prefix)}[a-z]{{1,20}}-[0-9a-f]{{8}}-{_UUID}_{_UUID}" if job.run_prefix else "(?!)"
    return re.fullmatch(own, commit_user) is not None or (
        job.user_runs is None and _ANY_RUN.fullmatch(commit_user) is not None
    )


def _bounded(snapshot_ids: range) -> Iterable[int]:
    if len(snapshot_ids) <= 2 * AT_EACH_END:
        return snapshot_ids
    return itertools.chain(snapshot_ids[:AT_EACH_END], snapshot_ids[-AT_EACH_END:])
