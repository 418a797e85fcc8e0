"""A driver's program with a JVM: reads the job, runs its operation and reports: `main.py /etc/paimon-run/job.json`.

The report is one JSON document, written to the file named by TERMINATION_LOG and printed as the last line of the log.
The exit code says the class of the failure (paimon_contract.exit_codes). A JVM out of memory ends the process itself.
"""

from __future__ import annotations

import sys
import time

from paimon_contract.job import Job
from paimon_contract.result import Elapsed, Outcome, Seen
from spark_apps.catalog import foreign_commits
from spark_apps.catalog.metastores import metastore_of
from spark_apps.catalog.session import Session
from spark_apps.driver.dispatch import adopts, inspects_commits, makes_commits, operation_of
from spark_apps.driver.process import Performed, engine_of, milliseconds_since, run_job
from spark_apps.driver.report import document_of
from spark_apps.failures.classify import classify
from spark_apps.failures.errors import RunError
from spark_apps.metadata.remembered import RememberedFiles
from spark_apps.progress import JVM_READY, log_exception, log_step
from spark_apps.storage import storage_of


def new_session(job: Job, found: RememberedFiles | None = None) -> Session:
    """The session of a job, with its metastore and its storage. Starts nothing yet.

    Raises RunError when this image has no such engine.
    """
    engine = engine_of(job)
    return Session(job, engine, metastore_of(job.catalog, engine), storage_of(job, engine), found)


def perform(job: Job, found: RememberedFiles | None = None) -> Performed:
    """Runs the job; returns the result document and the exit code. Raises only what ends a process.

    `found`: the files of its table, as a look right before has found them.
    """
    started = time.monotonic()
    outcome, seen, failure, ready = Outcome(), Seen(), None, started
    session: Session | None = None
    try:
        session = new_session(job, found)
        session.open()  # (its start-up is a number of its own)
        ready = time.monotonic()
        log_step(JVM_READY)
        operation = operation_of(job.operation)
        if makes_commits(operation):
            session.metastore.release_stale_locks(session)
        if inspects_commits(operation):
            seen = foreign_commits.inspect_commits(job, session, adopts=adopts(operation))
        if makes_commits(operation):
            foreign_commits.refuse_unsafe_commit(job, seen)
        outcome = operation.run(job, session)
    except Exception as error:  # noqa: BLE001  (every error becomes a result)
        log_exception()
        failure = _failure(error, session)
        outcome = failure.outcome or outcome
    finally:
        _close(session)
    elapsed = Elapsed(session=round((ready - started) * 1000), total=milliseconds_since(started))
    return document_of(job, seen, outcome, failure, elapsed), failure.exit_code if failure else 0


def _failure(error: Exception, session: Session | None) -> RunError:
    if session is None:
        return classify(error)
    return classify(error, metastore=session.metastore, storage=session.storage)


def _close(session: Session | None) -> None:
    """Closes the session. The outcome is known by now, so an error here is only logged."""
    try:
        if session is not None:
            session.close()
    except Exception:  # noqa: BLE001
        log_exception()


def main(arguments: list[str]) -> int:
    """Runs the job in the file named by the one argument and returns the exit code."""
    return run_job(arguments, perform)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
