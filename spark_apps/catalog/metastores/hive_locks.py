"""Locks with the Hive metastore that dead drivers of the job's table have left behind.

Paimon takes away no lock but its own, and a server only where its cleaner runs; so a driver that is killed while it
commits would end the table's commits. All drivers of one table have the same host name (paimon_operator.core.naming),
which Paimon's HiveCatalogLock writes beside the lock, and no two of them live at once.
"""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Any, Final

from spark_apps.progress import log_step

if TYPE_CHECKING:
    from paimon_contract.job import Job
    from spark_apps.catalog.session import Session

SILENT_S: Final = 300
"""Seconds without a sign of life after which a lock counts as left behind: Hive's own metastore.txn.timeout, by which
its cleaner goes. It leaves a driver that nobody could stop (its node is cut off) the time to end its commit. Counted
from when this process has seen the lock: the times in it are of another clock, in a zone that nobody tells."""
LOOK_S: Final = 5


def take_away_own(job: Job, session: Session) -> None:
    """Unlocks the table where this host locked it, as soon as the lock counts as left behind. Waits for that."""
    client, request = session.catalog.getHmsClient(), _of_table(job, session)
    first_seen: dict[tuple[int, int], float] = {}
    while own := [lock for lock in client.showLocks(request).getLocks() if _is_own(lock, job)]:
        for lock in own:
            key = lock.getLockid(), lock.getLastheartbeat()
            if key not in first_seen:
                first_seen[key] = time.monotonic()
                log_step(f"lock {key[0]} is of an earlier driver of the table: to be taken away in {SILENT_S} s")
            elif time.monotonic() - first_seen[key] >= SILENT_S:
                client.unlock(key[0])
                log_step(f"took away lock {key[0]}, which an earlier driver of the table had left")
        time.sleep(LOOK_S)  # polling: a metastore tells nobody when a lock goes or gives a sign of life


def _of_table(job: Job, session: Session) -> Any:
    request = session.jvm.org.apache.hadoop.hive.metastore.api.ShowLocksRequest()
    request.setDbname(job.table.database)
    request.setTablename(job.table.name)
    return request


def _is_own(lock: Any, job: Job) -> bool:
    on_table = (lock.getDbname(), lock.getTablename()) == (job.table.database, job.table.name)
    return on_table and lock.getHostname() == socket.gethostname()
