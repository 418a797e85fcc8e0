"""A driver's program for the jobs of several runs in one JVM: `batch.py`.

Jobs and configuration come from the Pod's own variables (paimon_contract.turns). Before each job the driver asks the
operator whether the run's turn begins, and reports the result of the turn before. A turn that is not begun was not
touched. One result that could not be reported becomes the termination message, which has no room for more.

The exit code is 0 unless something has ended the process: the class of a failure is in each run's own result.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from paimon_contract import environment
from paimon_contract.documents import DocumentError
from paimon_contract.exit_codes import ExitCode
from paimon_contract.job import Job, JobError
from paimon_contract.turns import MAX_BYTES, TURNS_AT_ONCE, BatchConfig, TurnReport, job_texts, read_config
from spark_apps.catalog import spark_use
from spark_apps.catalog.java_names import names_of
from spark_apps.driver import main as with_jvm
from spark_apps.driver import without_jvm
from spark_apps.driver.dispatch import operation_of, read_job, without_jvm_of
from spark_apps.driver.process import Performed
from spark_apps.driver.turn_loop import JobQueue, TurnLoop, run_loops
from spark_apps.driver.turns import TurnClient
from spark_apps.operator_http import OperatorHttp
from spark_apps.progress import log_error, log_exception

HEAP_OF_TURN_MIB: Final = 128
"""An expiry has the paths of the files of 1,000 snapshots in memory."""


def perform(job: Job) -> Performed:
    """The result document and the exit code of one job, without Spark where that is enough."""
    look = without_jvm.Look()
    if without_jvm_of(operation_of(job.operation)) is not None:
        performed = without_jvm.perform(job, look)
        if performed is not None:
            return performed
    return with_jvm.perform(job, look.found)


def is_usable() -> bool:
    """Whether the JVM answers, and its Spark may serve another job."""
    from pyspark import SparkContext  # noqa: PLC0415  (pyspark takes long to import)

    if SparkContext._gateway is None:
        return True
    try:
        names_of(SparkContext._gateway.jvm).java.lang.System.nanoTime()
    except Exception:  # noqa: BLE001  (whatever it is, the next job would meet it)
        log_exception()
        return False
    return not spark_use.is_broken()


def main() -> int:
    """Runs the batch that the environment describes and returns the exit code."""
    try:
        config = read_config(os.environ.get(environment.BATCH_CONFIG, ""))
        jobs = [read_job(text) for text in job_texts(os.environ)]
    except (DocumentError, JobError) as error:
        log_error(f"cannot read the jobs: {error}")
        return int(ExitCode.INFRASTRUCTURE)
    _run(config, jobs)
    return int(ExitCode.OK)


def _run(config: BatchConfig, jobs: Sequence[Job]) -> None:
    client = TurnClient(OperatorHttp(config.url, Path(config.token_file), MAX_BYTES))
    until = time.monotonic() + config.seconds
    most = turns_at_once(os.environ.get(environment.DRIVER_HEAP, ""))
    queue = JobQueue(jobs, has_time=lambda: time.monotonic() < until, most=most)
    threading.Thread(target=_import_pyspark, name="import of pyspark", daemon=True).start()
    run_loops(queue, lambda: TurnLoop(queue, client.ask, perform, is_usable), leave)


def _import_pyspark() -> None:
    """Imports pyspark while the operator answers the first requests, so that no turn waits for it."""
    with contextlib.suppress(Exception):  # the turn that needs it reports why
        importlib.import_module("pyspark")


def leave(report: TurnReport) -> None:
    """Leaves a result that could not be reported as the termination message, which has room for one."""
    log = Path(os.environ.get(environment.TERMINATION_LOG, "/dev/termination-log"))
    log.write_text(report.result, encoding="utf-8")


def turns_at_once(heap: str) -> int:
    """How many turns the heap has room for (`1280m`). A turn has the metadata of many snapshots in memory."""
    mib = int(heap.removesuffix("m")) if heap.removesuffix("m").isdecimal() else HEAP_OF_TURN_MIB
    return max(1, min(TURNS_AT_ONCE, mib // HEAP_OF_TURN_MIB))


if __name__ == "__main__":
    sys.exit(main())
