"""What a commit does by the way on a table that nobody else looks after: its own expiry, once the ledger is marked.

The commit itself is told to expire nothing (session.py): it could take the very snapshot that says whether it happened.
"""

from __future__ import annotations

import sys
from typing import Any

from spark_apps.catalog.session import Session
from spark_apps.contract import Job
from spark_apps.loading.recovery import settle_all


def expire_after_write(job: Job, session: Session, table: Any) -> None:
    """Expires by the options that the commit had. The rows are loaded, so an error is left to the next write."""
    try:
        _expire(job, session, table.copy(session.java_map(job.write.options if job.write else {})))
    except Exception as error:  # noqa: BLE001  (whatever it is, it does not undo the commit)
        sys.stderr.write(f"snapshots could not be expired, the next write tries again: {error}\n")


def _expire(job: Job, session: Session, table: Any) -> None:
    options = table.coreOptions()
    if options.writeOnly() or _snapshots(table) <= int(options.snapshotNumRetainMin()):
        return  # most writes end here, before anything is listed
    settle_all(job, session, table)
    config = options.expireConfig()
    table.newExpireSnapshots().config(config).expire()
    if options.changelogLifecycleDecoupled():
        table.newExpireChangelog().config(config).expire()


def _snapshots(table: Any) -> int:
    snapshots = table.snapshotManager()
    return int(snapshots.latestSnapshotId() or 0) - int(snapshots.earliestSnapshotId() or 0) + 1
