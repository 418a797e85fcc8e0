"""A driver's first program, for the operations that may end without a JVM: `without_jvm.py /etc/paimon-run/job.json`.

It leaves the same report as main.py, or none and ends with START_JVM: then entrypoint.sh starts main.py. Whatever it
cannot read is left to the JVM, which reads it or classifies the failure.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

from paimon_contract.job import Job
from paimon_contract.result import Elapsed, Outcome, Seen
from paimon_schema.option_changes import OWNER_OPTION
from spark_apps.catalog.foreign_commits import FileCommits, inspected
from spark_apps.driver.dispatch import inspects_commits, operation_of, reuses_files, without_jvm_of
from spark_apps.driver.process import Performed, engine_of, milliseconds_since, run_job
from spark_apps.driver.report import document_of
from spark_apps.failures.causes import first_line
from spark_apps.failures.errors import RunError
from spark_apps.metadata import files_of
from spark_apps.metadata.base import MetadataFiles
from spark_apps.metadata.remembered import RememberedFiles, RememberedTimedFiles
from spark_apps.metadata.snapshots import SnapshotFiles
from spark_apps.metadata.table_files import TableFiles, location_of
from spark_apps.progress import log_exception, log_step


@dataclass
class Look:
    """What a look leaves to the JVM of the same process."""

    found: RememberedFiles | None = None
    """The files that it has read, of an operation that may begin with them."""


def perform(job: Job, look: Look | None = None) -> Performed | None:
    """The result document and the exit code of the job; None: it needs a JVM, which may begin with `look`."""
    started = time.monotonic()
    seen, failure = Seen(), None
    try:
        found = _outcome(job, look or Look())
    except RunError as error:
        log_exception()
        outcome, failure = error.outcome or Outcome(), error
    except Exception as error:  # noqa: BLE001  (the JVM finds it again, and classifies it)
        log_step(f"the JVM is needed: {first_line(f'{type(error).__name__}: {error}')}")
        return None
    else:
        if found is None:
            return None
        outcome, seen = found
    elapsed = Elapsed(session=0, total=milliseconds_since(started))
    return document_of(job, seen, outcome, failure, elapsed), failure.exit_code if failure else 0


def _outcome(job: Job, look: Look) -> tuple[Outcome, Seen] | None:
    """The outcome, and the commits by others that the files show: a run that ends here makes none itself."""
    operation, engine = operation_of(job.operation), engine_of(job)
    without_jvm = without_jvm_of(operation)
    files = files_of(job, engine) if without_jvm else None
    if files is not None and reuses_files(operation):
        files = look.found = RememberedTimedFiles(files)
    outcome = without_jvm(job, engine, files) if without_jvm and files else None
    if outcome is None or files is None:
        return None
    return outcome, _seen(job, files) if inspects_commits(operation) else Seen()


def _seen(job: Job, files: MetadataFiles) -> Seen:
    location = location_of(job)
    schema = TableFiles(files, location).latest_schema()
    owner = None if schema is None else schema.options.get(OWNER_OPTION)
    return inspected(job, FileCommits(SnapshotFiles(files, location)), owner)


def main(arguments: list[str]) -> int:
    """Tries the job in the file named by the one argument and returns the exit code, or START_JVM."""
    return run_job(arguments, perform)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
