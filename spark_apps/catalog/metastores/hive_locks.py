"""Locks of a Hive metastore that dead drivers of the job's table have left behind.

Paimon releases no lock but its own, and a server only where its cleaner runs. So a driver that is killed while it
commits would block the table's commits for ever. All drivers of one table have the same host name
(paimon_operator.core.naming), which Paimon's HiveCatalogLock records with the lock, and no two of them live at once.
"""

from __future__ import annotations

import socket
import time
from typing import Any, Final

from paimon_contract.hive import LOCK_STALE_AFTER_S
from paimon_contract.job import JobTable
from spark_apps.catalog.metastores.base import OpenCatalog
from spark_apps.progress import log_step

STALE_AFTER_S: Final = LOCK_STALE_AFTER_S
"""It leaves a driver that cannot be stopped (its node is cut off) the time to end its commit. Counted from when this
process has first seen the heartbeat: the times in a lock are of another clock, in an unknown zone."""
POLL_S: Final = 5


def release_own_locks(catalog: OpenCatalog) -> None:
    """Releases the locks that this host holds on the table, each once it is stale. Waits until none is left."""
    client, table = catalog.catalog.getHmsClient(), catalog.job.table
    request = _locks_request(catalog)
    first_seen: dict[tuple[int, int], float] = {}
    while own := [lock for lock in client.showLocks(request).getLocks() if _is_own(lock, table)]:
        for lock in own:
            key = lock.getLockid(), lock.getLastheartbeat()
            if key not in first_seen:
                first_seen[key] = time.monotonic()
                log_step(f"lock {key[0]} is of an earlier driver of the table: it is released in {STALE_AFTER_S} s")
            elif time.monotonic() - first_seen[key] >= STALE_AFTER_S:
                client.unlock(key[0])
                log_step(f"released lock {key[0]}, which an earlier driver of the table had left")
        time.sleep(POLL_S)  # polling: a metastore does not report when a lock is released or gets a heartbeat


def _locks_request(catalog: OpenCatalog) -> Any:
    request = catalog.jvm.org.apache.hadoop.hive.metastore.api.ShowLocksRequest()
    request.setDbname(catalog.job.table.database)
    request.setTablename(catalog.job.table.name)
    return request


def _is_own(lock: Any, table: JobTable) -> bool:
    is_on_table = (lock.getDbname(), lock.getTablename()) == (table.database, table.name)
    return bool(is_on_table and lock.getHostname() == socket.gethostname())
