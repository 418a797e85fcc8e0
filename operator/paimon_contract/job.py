"""The job: the document in a run's ConfigMap that tells a driver what to do.

The common parts are here, the parameters of each operation in `parameters/`. They stand in the document under the
operation's name in camelCase, `expireSnapshots`. Reading is strict: an unknown or missing key means that operator and
image do not fit together, and nothing must be done then.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from paimon_contract.documents import VERSION, Document, DocumentError, read, to_json, to_text
from paimon_contract.spark_conf import ALLOWED_CONF, CONF_VALUE

SAFE_NAME: Final = re.compile(r"[^./\\$`'\"\x00-\x1f][^/\\$`'\"\x00-\x1f]{0,127}")
"""Names become directories, and `$` and a leading dot mean something to Paimon."""

OPERATION: Final = re.compile(r"(?:[A-Z][a-z]+)+")

ParametersT = TypeVar("ParametersT")


class JobError(Exception):
    """The job document is not one of this version. The message names the key."""


@dataclass(frozen=True)
class JobRun(Document):
    """The PaimonRun."""

    name: str
    uid: str
    namespace: str


@dataclass(frozen=True)
class JobCatalog(Document):
    """How to open the catalog. `options` are Paimon's catalog options and hold no secret."""

    warehouse: str
    metastore: str
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class JobTable(Document):
    """The table in Paimon."""

    database: str
    name: str

    def __str__(self) -> str:
        return f"{self.database}.{self.name}"


@dataclass(frozen=True)
class JobExecutors(Document):
    """Executors of mode Cluster. Sizes of one, in MiB and in thousandths of a CPU."""

    instances: int
    cores: int
    cpu_millis: int
    heap_mib: int
    overhead_mib: int
    service_account: str
    timeout_seconds: int


@dataclass(frozen=True)
class JobSpark(Document):
    """How Spark is set up: settings from the catalog, and executors unless the driver works alone."""

    conf: dict[str, str] = field(default_factory=dict)
    executors: JobExecutors | None = None
    event_log: bool | None = None
    """Whether Spark writes its event log beside the tables of the warehouse."""


@dataclass(frozen=True, kw_only=True)
class JobHead(Document):
    """What every job has."""

    version: int = VERSION
    run: JobRun
    operation: str
    engine: str
    catalog: JobCatalog
    hadoop: dict[str, str] = field(default_factory=dict)
    table: JobTable
    owner: str
    commit_user: str
    since_snapshot: int | None = None
    """Commits after this snapshot must be the operator's. None: nothing is known of the commits so far."""
    since_commit: str | None = None
    """Identity of that snapshot (`Seen.seen_commit`): a rollback by hand gives its number to another commit."""
    run_prefix: str | None = None
    """What the names of the operator's own runs of this table begin with."""
    user_runs: tuple[str, ...] | None = None
    """Commit users of the runs that users have created. None: an earlier release did not record them."""
    stop_at_foreign_commit: bool | None = None
    """True: a foreign commit makes the run's own commits unsafe, so it stops when it finds one."""
    bucket_count: int | None = None
    """Number of buckets of the verified table. Write and Compact stop at another one. None: not fixed, or unknown."""
    spark: JobSpark | None = None


@dataclass(frozen=True, kw_only=True)
class Job(JobHead):
    """What a driver is to do. `parameters` is the dataclass of its operation."""

    parameters: object

    def parameters_as(self, form: type[ParametersT]) -> ParametersT:
        """The parameters of an operation that is known. Raises TypeError for those of another one."""
        if not isinstance(self.parameters, form):
            raise TypeError(f"a job of {self.operation} has no {form.__name__}")
        return self.parameters


def job_text(job: Job) -> str:
    """The job as it stands in the ConfigMap: the same text for the same job."""
    document = to_json(job)
    document[parameters_key(job.operation)] = document.pop("parameters")
    return to_text(document)


def files_digest(files: Mapping[str, str]) -> str:
    """SHA-256 of the job's files, name -> text, in hexadecimal: the data of the run's ConfigMap.

    The operator stores it before it creates the ConfigMap and gives it to the Pod. So a ConfigMap that somebody else
    wrote, or wrote again, starts nothing.
    """
    return hashlib.sha256(json.dumps(dict(files), sort_keys=True).encode()).hexdigest()


def read_job(text: str, form_of: Callable[[str], type]) -> Job:
    """The job in `text`. `form_of` gives the parameters' dataclass of an operation, or raises JobError.

    Raises JobError for anything but a whole job of this version.
    """
    document = _document(text)
    operation = document.get("operation")
    if not isinstance(operation, str) or not OPERATION.fullmatch(operation):
        raise JobError(f"{operation!r} is no operation")
    key = parameters_key(operation)
    if key not in document:
        raise JobError(f"operation {operation} without the member {key}")
    try:
        parameters: object = read(form_of(operation), document.pop(key), f"job.{key}")
        head = read(JobHead, document, "job")
    except DocumentError as error:
        raise JobError(str(error)) from error
    _check_names(head.table)
    _check_settings(head.spark)
    return Job(**vars(head), parameters=parameters)


def parameters_key(operation: str) -> str:
    """The key of an operation's parameters: `expireSnapshots`."""
    return operation[:1].lower() + operation[1:]


def _document(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise JobError(f"the job is not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise JobError(f"the job is not of version {VERSION}")
    return document


def _check_names(table: JobTable) -> None:
    for name in (table.database, table.name):
        if not SAFE_NAME.fullmatch(name):
            raise JobError(f"{name[:60]!r} cannot be the name of a database or table")


def _check_settings(spark: JobSpark | None) -> None:
    """A setting of Spark can name code to load, and the job may come from somebody who has the operator's token."""
    for key, value in (spark.conf if spark is not None else {}).items():
        if key not in ALLOWED_CONF or not CONF_VALUE.fullmatch(value):
            raise JobError(f"job.spark.conf: {key[:60]!r} cannot be {value[:60]!r}")
