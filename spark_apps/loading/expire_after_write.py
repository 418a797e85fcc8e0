"""What a commit does by the way on a table that nobody else looks after: its own expiry, once the ledger is marked.

The commit itself is told to expire nothing (session.py): it could take the very snapshot that says whether it happened.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from paimon_contract.parameters.write import WriteParameters
from spark_apps.loading.recovery import settle_all

if TYPE_CHECKING:
    from paimon_contract.job import Job
    from spark_apps.catalog.session import Session


def expire_after_write(job: Job, session: Session, table: Any) -> None:
    """Expires by the options that the commit had. The rows are loaded, so an error is left to the next write."""
    try:
        write = job.parameters_as(WriteParameters)
        _expire(job, session, table.copy(session.java_map(write.options)))
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
