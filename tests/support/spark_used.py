"""The program of a shared driver whose expiries of snapshots also use Spark SQL, and log a warning in Java.

An expiry fails if another thread has Spark at the same time.
"""

from __future__ import annotations

import sys
import threading

from paimon_contract.job import Job
from paimon_contract.result import Outcome
from spark_apps.catalog.session import Session
from spark_apps.driver import batch
from spark_apps.operations import expire_snapshots

_run, _stop_spark = expire_snapshots.run, Session._stop_spark
_in_use = threading.Lock()


def _with_spark(job: Job, session: Session) -> Outcome:
    session.jvm.org.apache.logging.log4j.LogManager.getLogger("test").warn(f"a warning of {job.run.name}")
    spark = session.spark
    assert _in_use.acquire(blocking=False), "another thread has Spark"
    assert spark.range(3).count() == 3
    return _run(job, session)


def _stopped(self: Session) -> None:
    _in_use.release()
    _stop_spark(self)


if __name__ == "__main__":
    expire_snapshots.run, Session._stop_spark = _with_spark, _stopped  # type: ignore[method-assign]
    sys.exit(batch.main())
