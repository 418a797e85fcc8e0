"""The program of a shared driver whose expiries of snapshots also use Spark SQL, and log a warning in Java."""

from __future__ import annotations

import sys
import time

from paimon_contract.job import Job
from paimon_contract.result import Outcome
from spark_apps.catalog.session import Session
from spark_apps.driver import batch
from spark_apps.operations import expire_snapshots

_run = expire_snapshots.run


def _with_spark(job: Job, session: Session) -> Outcome:
    session.jvm.org.apache.logging.log4j.LogManager.getLogger("test").warn(f"a warning of {job.run.name}")
    for _ in range(2):
        assert session.spark.range(3).count() == 3
        time.sleep(0.2)  # for another thread, which would end this one's Spark
    return _run(job, session)


if __name__ == "__main__":
    expire_snapshots.run = _with_spark
    sys.exit(batch.main())
