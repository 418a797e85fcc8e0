"""A driver's log: one line of JSON for each step, with the run, its namespace, its Pod and its attempt as fields.

The result is the last line of the log, and has none of these fields. `log4j2.properties` gives Java's lines the same
form.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final, TextIO

from paimon_contract import environment
from paimon_contract.job import Job

JVM_READY: Final = "the JVM is ready"
SPARK_READY: Final = "Spark SQL is ready"
"""In mode Cluster: with its first executor."""


class _AboutJob(threading.local):
    """The job that this thread performs."""

    fields: Mapping[str, object] = MappingProxyType({})


_about_job: Final = _AboutJob()


def log_steps_of(job: Job | None) -> None:
    """Lines of this thread are about this job from now on; None: about none."""
    _about_job.fields = {} if job is None else _about_run(job.run.namespace, job.run.name) | {"type": job.operation}


def log_step(step: str) -> None:
    """Writes a line now."""
    _write(sys.stdout, "INFO", step)


def log_warning(message: str) -> None:
    """Writes a warning to standard error."""
    _write(sys.stderr, "WARN", message)


def log_error(message: str) -> None:
    """Writes an error to standard error."""
    _write(sys.stderr, "ERROR", message)


def log_exception() -> None:
    """Writes the error that is being handled to standard error, with its traceback."""
    last = "".join(traceback.format_exception_only(sys.exception())).strip()
    _write(sys.stderr, "ERROR", last, exc_info=traceback.format_exc())


def _write(stream: TextIO, level: str, message: str, **more: object) -> None:
    now = datetime.now(UTC)
    time = f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z"
    line: dict[str, object] = {"time": time, "level": level, "logger": "driver", "message": message}
    line |= {**_about_pod(), **_about_job.fields, **more}
    stream.write(json.dumps(line, ensure_ascii=False) + "\n")
    stream.flush()


def _about_pod() -> dict[str, object]:
    """The Pod, and the run and attempt unless several runs share it."""
    run, attempt = os.environ.get(environment.RUN_NAME), os.environ.get(environment.RUN_ATTEMPT, "")
    about = {
        **({} if run is None else _about_run(os.environ.get(environment.RUN_NAMESPACE), run)),
        "pod": os.environ.get(environment.HOSTNAME),
        "attempt": int(attempt) if attempt.isdecimal() else None,
    }
    return {field: value for field, value in about.items() if value is not None}


def _about_run(namespace: str | None, name: str) -> dict[str, object]:
    return {"kind": "PaimonRun", "namespace": namespace, "name": name, "run": name}
