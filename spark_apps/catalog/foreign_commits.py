"""Whether somebody else has committed to the table since the operator looked last. Asked before every operation.

A run tells at which snapshot it began, and the next one looks from there on: so it finds what others committed while
the first was at work, whose own commits it knows by their commit user.
"""

from __future__ import annotations

import itertools
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from paimon_contract.result import ForeignCommit, Seen
from spark_apps.catalog.ownership import owner_of
from spark_apps.catalog.snapshots import latest_snapshot
from spark_apps.failures.classify import caused_by

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_contract.job import Job
    from spark_apps.catalog.session import Session

AT_EACH_END: Final = 500
"""Snapshots that are read at most, of the oldest and of the newest each. The first of others
ends the search, and runs of ours add a few each, so that only a result lost many times over could make it so long."""
MAX_USER: Final = 100
_UUID: Final = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_OURS: Final = re.compile(f"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?-{_UUID}_{_UUID}")
"""`<run>-<its UID>`, and what Paimon adds to a prefix: the commit user of every run of every operator has this form."""


def look(job: Job, session: Session) -> Seen:
    """Looks at the commits since `job.since_snapshot`. A table that is not ours yet, or any more, is nobody's fault."""
    if job.operation == "Drop":
        return Seen()
    table = session.find_table()
    if table is None:
        return Seen(seen_snapshot=0)
    latest = latest_snapshot(table)
    if job.since_snapshot is None or owner_of(table) != job.owner:
        return Seen(seen_snapshot=latest)
    first = max(job.since_snapshot + 1, int(table.snapshotManager().earliestSnapshotId() or 0))
    return Seen(seen_snapshot=latest, outside_commit=_first_of_others(job, table, range(first, latest + 1)))


def _first_of_others(job: Job, table: Any, snapshot_ids: range) -> ForeignCommit | None:
    for snapshot_id in _bounded(snapshot_ids):
        snapshot = _snapshot(table, snapshot_id)
        if snapshot is not None and not is_ours(str(snapshot.commitUser()), job.commit_user):
            return ForeignCommit(
                snapshot_id=snapshot_id,
                commit_user=re.sub(r"[^\x20-\x7e]", "?", str(snapshot.commitUser()))[:MAX_USER],
                kind=str(snapshot.commitKind().toString()),
                time=datetime.fromtimestamp(snapshot.timeMillis() // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            )
    return None


def _snapshot(table: Any, snapshot_id: int) -> Any:
    """The Snapshot (Java); None when it expired while we look."""
    try:
        return table.snapshotManager().snapshot(snapshot_id)
    except Exception as error:
        if caused_by(error, "FileNotFoundException"):
            return None
        raise


def is_ours(commit_user: str, own_prefix: str) -> bool:
    """Whether a run of an operator made the commit: this run, or any by the form of its name."""
    return commit_user.startswith(f"{own_prefix}_") or _OURS.fullmatch(commit_user) is not None


def _bounded(snapshot_ids: range) -> Iterable[int]:
    if len(snapshot_ids) <= 2 * AT_EACH_END:
        return snapshot_ids
    return itertools.chain(snapshot_ids[:AT_EACH_END], snapshot_ids[-AT_EACH_END:])
