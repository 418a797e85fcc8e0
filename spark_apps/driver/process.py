"""What the programs of a driver share: they read the job, perform it and leave its report."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paimon_contract import environment
from paimon_contract.documents import to_text
from paimon_contract.exit_codes import START_JVM, ExitCode
from paimon_contract.job import Job, JobError
from paimon_engines.engine import Engine
from paimon_engines.loader import load_engine
from spark_apps.driver.digest import JobChangedError, checked_text
from spark_apps.driver.dispatch import read_job
from spark_apps.failures.errors import RunError
from spark_apps.progress import log_error, log_steps_of

Performed = tuple[dict[str, Any], int]
"""The result document and the exit code."""


def run_job(arguments: list[str], perform: Callable[[Job], Performed | None]) -> int:
    """Performs the job in the file named by the one argument, leaves the report and returns the exit code.

    START_JVM without a report, if `perform` gives None.
    """
    try:
        job = read_job(checked_text(Path(arguments[0])))
    except JobChangedError as error:
        log_error(str(error))
        return int(ExitCode.JOB_CHANGED)
    except (IndexError, OSError, JobError) as error:
        log_error(f"cannot read the job: {error}")
        return RunError("Infrastructure", "JobUnreadable", str(error)).exit_code
    log_steps_of(job)
    performed = perform(job)
    if performed is None:
        return START_JVM
    document, code = performed
    text = to_text(document)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
    Path(os.environ.get(environment.TERMINATION_LOG, "/dev/termination-log")).write_text(text, encoding="utf-8")
    return code


def engine_of(job: Job) -> Engine:
    """The engine of a job. Raises RunError when this image has no such engine."""
    try:
        return load_engine(job.engine)
    except KeyError as error:
        message = f"this image knows no engine {job.engine}"
        remedy = "set the image of that engine in the operator's settings"
        raise RunError("Environment", "UnknownEngine", message, remedy, field="spec.engine") from error


def milliseconds_since(started: float) -> int:
    """Milliseconds since a time of `time.monotonic`."""
    return round((time.monotonic() - started) * 1000)
