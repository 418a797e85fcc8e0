"""The module of an operation, found by the operation's name: `ExpireSnapshots` is operations/expire_snapshots.py.

Each has PARAMETERS, the dataclass of its parameters, and run(job, session). One that makes no commit sets COMMITS to
False, and LOOKS to True if it reports commits by others nevertheless. ADOPTS is True if it may take over a table.

One that may end without a JVM also has without_jvm(job, engine, files), and its OperationSpec sets
`may_end_without_jvm`. The function gives the outcome, or None where a JVM is needed. It raises RunError only where
run(job, session) would raise it; any other exception means that a JVM is needed. REUSES_FILES is True if run(job,
session) may begin with the files that it has read.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import Protocol, cast

from paimon_contract import job as contract
from paimon_contract.job import Job, JobError
from paimon_contract.result import Outcome
from paimon_engines.engine import Engine
from spark_apps.catalog.session import Session
from spark_apps.metadata.base import TimedFiles

OPERATIONS = "spark_apps.operations"
WithoutJvm = Callable[[Job, Engine, TimedFiles], Outcome | None]
_INNER_CAPITAL = re.compile("(?<=[a-z])(?=[A-Z])")


class Operation(Protocol):
    """A module of `operations`."""

    PARAMETERS: type
    run: Callable[[Job, Session], Outcome]


def operation_of(name: str) -> Operation:
    """The module of an operation. Raises JobError when there is none."""
    module = f"{OPERATIONS}.{_INNER_CAPITAL.sub('_', name).lower()}"
    try:
        return cast("Operation", importlib.import_module(module))
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise JobError(f"operation {name} is unknown to this image") from error


def without_jvm_of(operation: Operation) -> WithoutJvm | None:
    """The function by which runs of the operation may end without a JVM; None: they always need one."""
    return cast("WithoutJvm | None", getattr(operation, "without_jvm", None))


def inspects_commits(operation: Operation) -> bool:
    """Whether runs of the operation report commits by others: those that make commits, and those that look."""
    return makes_commits(operation) or bool(getattr(operation, "LOOKS", False))


def reuses_files(operation: Operation) -> bool:
    """Whether a run of the operation may begin with the files that its step without a JVM has just read."""
    return bool(getattr(operation, "REUSES_FILES", False))


def adopts(operation: Operation) -> bool:
    """Whether runs of the operation may take over a table of nobody or of somebody else."""
    return bool(getattr(operation, "ADOPTS", False))


def makes_commits(operation: Operation) -> bool:
    """Whether runs of the operation commit to the table. Only then do locks and foreign commits matter to them."""
    return bool(getattr(operation, "COMMITS", True))


def read_job(text: str) -> Job:
    """The job in `text`. Raises JobError for anything but a whole job of this version."""
    return contract.read_job(text, lambda operation: operation_of(operation).PARAMETERS)
