"""A driver's first program, for the operations that may end without a JVM: `without_jvm.py /etc/paimon-run/job.json`.

It leaves the same report as main.py, or none and ends with START_JVM: then entrypoint.sh starts main.py. Whatever it
cannot read is left to the JVM, which reads it or classifies the failure.
"""

from __future__ import annotations

import sys
import time
import traceback

from paimon_contract.job import Job
from paimon_contract.result import Elapsed, Outcome, Seen
from spark_apps.driver.dispatch import operation_of, without_jvm_of
from spark_apps.driver.process import Performed, engine_of, milliseconds_since, run_job
from spark_apps.driver.report import document_of
from spark_apps.failures.causes import first_line
from spark_apps.failures.errors import RunError
from spark_apps.metadata import files_of
from spark_apps.progress import log_step


def perform(job: Job) -> Performed | None:
    """The result document and the exit code of the job; None: it needs a JVM."""
    started = time.monotonic()
    failure: RunError | None = None
    try:
        outcome = _outcome(job)
    except RunError as error:
        traceback.print_exc()
        outcome, failure = error.outcome or Outcome(), error
    except Exception as error:  # noqa: BLE001  (the JVM finds it again, and classifies it)
        log_step(f"the JVM is needed: {first_line(f'{type(error).__name__}: {error}')}")
        return None
    if outcome is None:
        return None
    elapsed = Elapsed(session=0, total=milliseconds_since(started))
    return document_of(job, Seen(), outcome, failure, elapsed), failure.exit_code if failure else 0


def _outcome(job: Job) -> Outcome | None:
    without_jvm = without_jvm_of(operation_of(job.operation))
    engine = engine_of(job)
    files = files_of(job, engine) if without_jvm else None
    return without_jvm(job, engine, files) if without_jvm and files else None


def main(arguments: list[str]) -> int:
    """Tries the job in the file named by the one argument and returns the exit code, or START_JVM."""
    return run_job(arguments, perform)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
