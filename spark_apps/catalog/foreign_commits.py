"""Detects foreign commits since the last inspected snapshot. Runs before every operation that makes commits.

A run reports the snapshot at which it began, and the next run inspects from there on. So it finds foreign commits that
were made while the first run was active; that run's own commits are recognised by their commit user.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

from paimon_contract.job import Job
from paimon_contract.result import ForeignCommit, Seen
from spark_apps.catalog.ownership import owner_of
from spark_apps.catalog.session import Session
from spark_apps.catalog.snapshots import latest_snapshot
from spark_apps.failures.causes import is_caused_by

AT_EACH_END: Final = 500
"""Snapshots that are read at most, of the oldest and of the newest each. The first foreign commit ends the search, and
each run adds a few, so only a result that is lost many times makes the range that long."""
MAX_USER: Final = 100
_UUID: Final = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_OURS: Final = re.compile(f"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?-{_UUID}_{_UUID}")
"""Commit user of every run of every operator: `<run>-<its UID>`, and the suffix that Paimon adds to a prefix."""


def inspect_commits(job: Job, session: Session) -> Seen:
    """Inspects the commits since `job.since_snapshot`, unless the table has no owner yet or another one."""
    table = session.find_table()
    if table is None:
        return Seen(seen_snapshot=0)
    latest = latest_snapshot(table)
    if job.since_snapshot is None or owner_of(table) != job.owner:
        return Seen(seen_snapshot=latest)
    first = max(job.since_snapshot + 1, int(table.snapshotManager().earliestSnapshotId() or 0))
    return Seen(seen_snapshot=latest, outside_commit=_first_foreign(job, table, range(first, latest + 1)))


def _first_foreign(job: Job, table: Any, snapshot_ids: range) -> ForeignCommit | None:
    for snapshot_id in _bounded(snapshot_ids):
        snapshot = _snapshot(table, snapshot_id)
        if snapshot is not None and not is_run_commit(str(snapshot.commitUser()), job.commit_user):
            return ForeignCommit(
                snapshot_id=snapshot_id,
                commit_user=re.sub(r"[^\x20-\x7e]", "?", str(snapshot.commitUser()))[:MAX_USER],
                kind=str(snapshot.commitKind().toString()),
                time=datetime.fromtimestamp(snapshot.timeMillis() // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            )
    return None


def _snapshot(table: Any, snapshot_id: int) -> Any:
    """The Snapshot (Java); None when it has expired meanwhile."""
    try:
        return table.snapshotManager().snapshot(snapshot_id)
    except Exception as error:
        if is_caused_by(error, "FileNotFoundException"):
            return None
        raise


def is_run_commit(commit_user: str, own_prefix: str) -> bool:
    """Whether a run of an operator made the commit: this run by its prefix, any other by the form of the name."""
    return commit_user.startswith(f"{own_prefix}_") or _OURS.fullmatch(commit_user) is not None


def _bounded(snapshot_ids: range) -> Iterable[int]:
    if len(snapshot_ids) <= 2 * AT_EACH_END:
        return snapshot_ids
    return itertools.chain(snapshot_ids[:AT_EACH_END], snapshot_ids[-AT_EACH_END:])
