"""Expiry of snapshots after a write, on a table without expiry runs, once the ledger entry is marked.

The commit itself expires nothing (session.py): it could expire the very snapshot that proves it.
"""

from __future__ import annotations

from typing import Any

from paimon_contract.job import Job
from paimon_contract.parameters.write import WriteParameters
from spark_apps.catalog.expiry import CALL_LIMIT, expire_all_snapshots, may_have_outlived_changelogs
from spark_apps.catalog.session import Session
from spark_apps.loading.recovery import resolve_all_entries
from spark_apps.progress import log_warning


def expire_after_write(job: Job, session: Session, table: Any) -> None:
    """Expires all that is due by the options of the commit.

    An error is only logged: the rows are loaded, the next write retries.
    """
    try:
        write = job.parameters_as(WriteParameters)
        _expire(job, session, table.copy(session.java_map(write.options | CALL_LIMIT)))
    except Exception as error:  # noqa: BLE001  (no error undoes the commit)
        log_warning(f"snapshots could not be expired, the next write tries again: {error}")


def _expire(job: Job, session: Session, table: Any) -> None:
    options = table.coreOptions()
    if options.writeOnly() or _snapshots(table) <= int(options.snapshotNumRetainMin()):
        return  # most writes end here, before anything is listed
    resolve_all_entries(job, session, table)
    expire_all_snapshots(table, options.expireConfig(), lambda: may_have_outlived_changelogs(session))


def _snapshots(table: Any) -> int:
    snapshots = table.snapshotManager()
    return int(snapshots.latestSnapshotId() or 0) - int(snapshots.earliestSnapshotId() or 0) + 1
