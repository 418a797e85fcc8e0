"""The two documents that pass between the operator and a Spark application: job in, result out.

The operator has the same forms in paimon_operator.api.contract; a test holds the two together. Reading is strict: an
unknown or missing key means operator and image do not fit, and nothing must be done then.
"""

from __future__ import annotations

import json
import re
import types
import typing
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

VERSION = 1
MAX_RESULT_BYTES = 3072
"""Kubernetes keeps 4096 bytes of a termination message."""

EXIT_CODES = {"Conflict": 10, "Spec": 20, "Environment": 25, "Infrastructure": 30, "ResultUnknown": 40}
"""Exit code per error class; 0 is success, and anything else was not decided by this code."""

SAFE_NAME = re.compile(r"[^./\\$`'\"\x00-\x1f][^/\\$`'\"\x00-\x1f]{0,127}")
"""Names become directories, and `$` and a leading dot mean something to Paimon."""


class JobError(Exception):
    """The job document is not one of this version. The message names the key."""


@dataclass(frozen=True)
class JobRun:
    """The PaimonRun."""

    name: str
    uid: str
    namespace: str


@dataclass(frozen=True)
class JobCatalog:
    """How to open the catalog. `options` are Paimon's catalog options and hold no secret."""

    warehouse: str
    metastore: str
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class JobTable:
    """The table in Paimon."""

    database: str
    name: str

    def __post_init__(self) -> None:
        for name in (self.database, self.name):
            if not SAFE_NAME.fullmatch(name):
                raise JobError(f"{name[:60]!r} cannot be the name of a database or table")

    def __str__(self) -> str:
        return f"{self.database}.{self.name}"


@dataclass(frozen=True)
class JobColumn:
    """A column; `type` is Paimon's text."""

    name: str
    type: str
    comment: str | None = None


@dataclass(frozen=True)
class ProvisionJob:
    """Make the table, or verify and adopt the one that is there. `options` are all options that the spec asks for."""

    columns: tuple[JobColumn, ...]
    adoption: str
    primary_keys: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    comment: str = ""
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class WriteJob:
    """Load files. `hash` is that of from and mode; `ledger` the directory that lists loaded files."""

    name: str
    hash: str
    mode: str
    format: str
    location: str
    select: str
    once: bool
    ledger: str
    path: str = ""
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CompactJob:
    """Compact. `partition_idle_time` is in Paimon's notation (`10 min`); `partitions` are all that is compacted."""

    strategy: str
    partitions: tuple[dict[str, str], ...] | None = None
    partition_idle_time: str | None = None


@dataclass(frozen=True)
class ExpireSnapshotsJob:
    """Expire snapshots. `time_retained` is in Paimon's notation (`1 d`)."""

    time_retained: str | None = None
    num_retained_min: int | None = None
    num_retained_max: int | None = None


@dataclass(frozen=True)
class DropJob:
    """Drop the table, if it is ours."""


@dataclass(frozen=True)
class JobExecutors:
    """Executors of mode Cluster. Sizes of one, in MiB and in thousandths of a CPU."""

    instances: int
    cores: int
    cpu_millis: int
    heap_mib: int
    overhead_mib: int
    service_account: str
    timeout_seconds: int


@dataclass(frozen=True)
class JobSpark:
    """How Spark is set up: settings from the catalog, and executors unless the driver works alone."""

    conf: dict[str, str] = field(default_factory=dict)
    executors: JobExecutors | None = None


@dataclass(frozen=True)
class Job:
    """What a driver is to do. Exactly the member of its operation is set."""

    version: int
    run: JobRun
    operation: str
    engine: str
    catalog: JobCatalog
    table: JobTable
    owner: str
    commit_user: str
    since_snapshot: int | None = None
    """Commits after this snapshot must be the operator's; None: nothing is known of the commits so far."""
    hadoop: dict[str, str] = field(default_factory=dict)
    spark: JobSpark | None = None
    provision: ProvisionJob | None = None
    write: WriteJob | None = None
    compact: CompactJob | None = None
    expire_snapshots: ExpireSnapshotsJob | None = None
    drop: DropJob | None = None


@dataclass(frozen=True)
class ResultError:
    """What went wrong, where, and what to do."""

    class_: str
    reason: str
    message: str
    remedy: str = ""
    field: str | None = None


@dataclass(frozen=True)
class ResultTable:
    """The table after the run. Sizes in bytes; `oldest_snapshot` is ISO 8601 in UTC."""

    schema_id: int
    bucket_mode: str
    files: int = 0
    rows: int = 0
    size_bytes: int = 0
    sorted_runs_max: int = 0
    small_files: int = 0
    snapshot_id: int | None = None
    oldest_snapshot: str | None = None


@dataclass(frozen=True)
class Measure:
    """What a run that rewrites files started from or ended with."""

    files: int
    bytes: int
    rows: int
    sorted_runs_max: int
    snapshot_id: int | None = None


@dataclass(frozen=True)
class WriteResult:
    """`rows` were read from `files` files. `committed_snapshot` is None when no file held a row."""

    files: int = 0
    rows: int = 0
    committed_snapshot: int | None = None
    already_committed: bool = False
    skipped: bool = False


@dataclass(frozen=True)
class OutsideCommit:
    """A commit that no run of the operator made. `time` is ISO 8601 in UTC."""

    snapshot_id: int
    commit_user: str
    kind: str
    time: str


@dataclass(frozen=True)
class Seen:
    """The table's latest snapshot when the run began (0: none), and the first commit of others since the last look."""

    seen_snapshot: int | None = None
    outside_commit: OutsideCommit | None = None


@dataclass(frozen=True)
class Outcome:
    """What an operation reports; main adds the run and the times."""

    table: ResultTable | None = None
    created: bool | None = None
    differences: tuple[str, ...] = ()
    before: Measure | None = None
    after: Measure | None = None
    write: WriteResult | None = None
    expired: int | None = None
    dropped: bool | None = None


MEMBERS = {
    "Provision": "provision",
    "Write": "write",
    "Compact": "compact",
    "ExpireSnapshots": "expire_snapshots",
    "Drop": "drop",
}
"""Operation -> the member of Job that describes it, and the module of this package that does it."""


def read_job(text: str) -> Job:
    """The job in `text`. Raises JobError for anything but a whole job of this version."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise JobError(f"the job is not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise JobError(f"the job is not of version {VERSION}")
    job: Job = _read(Job, document, "job")
    present = [operation for operation, member in MEMBERS.items() if getattr(job, member) is not None]
    if present != [job.operation]:
        raise JobError(f"operation {job.operation} with members for {present}")
    return job


def _read(form: Any, value: Any, where: str) -> Any:
    if is_dataclass(form):
        return _read_object(form, value, where)
    origin, arguments = typing.get_origin(form), typing.get_args(form)
    if origin is types.UnionType:
        return None if value is None else _read(arguments[0], value, where)
    if origin is tuple:
        _expect(value, list, where)
        return tuple(_read(arguments[0], each, f"{where}[{index}]") for index, each in enumerate(value))
    if origin is dict:
        _expect(value, dict, where)
        return {key: _read(arguments[1], each, f"{where}.{key}") for key, each in value.items()}
    _expect(value, form, where)
    return value


def _read_object(form: Any, value: Any, where: str) -> Any:
    _expect(value, dict, where)
    hints = typing.get_type_hints(form)
    members = {json_name(each.name): each.name for each in fields(form)}
    unknown = sorted(value.keys() - members.keys())
    if unknown:
        raise JobError(f"{where} has an unknown key {unknown[0]}")
    given = {members[key]: _read(hints[members[key]], each, f"{where}.{key}") for key, each in value.items()}
    try:
        return form(**given)
    except TypeError as error:
        raise JobError(f"{where} lacks a key: {error}") from error


def _expect(value: Any, form: type, where: str) -> None:
    if not isinstance(value, form) or (form is int and isinstance(value, bool)):
        raise JobError(f"{where} must be a {form.__name__}, not {type(value).__name__}")


def json_name(name: str) -> str:
    """The JSON key of a field: lower camel case, `class_` is `class`."""
    head, *tail = name.rstrip("_").split("_")
    return head + "".join(part.capitalize() for part in tail)


def to_json(value: Any) -> Any:
    """A dataclass as JSON values: None and empty lists left out."""
    if is_dataclass(value):
        pairs = ((json_name(each.name), to_json(getattr(value, each.name))) for each in fields(value))
        return {key: each for key, each in pairs if each is not None and each != []}
    return [to_json(each) for each in value] if isinstance(value, tuple) else value
