"""The two documents that pass between the operator and a Spark application: job in, result out.

`spark_apps/contract.py` has the same forms as dataclasses, because the Spark side never imports the operator; a test
holds the two together. A change of meaning raises VERSION.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Annotated, Final, Literal, Self

from pydantic import ConfigDict, Field, ValidationError, model_validator

from paimon_operator.api.base import ApiModel, Time
from paimon_operator.api.policies import AdoptionPolicy
from paimon_operator.api.run.spec import CompactStrategy
from paimon_operator.api.run.status import Measure, OutsideCommit, RunType, WriteResult
from paimon_operator.api.table.writes import FileFormat, FileSelection, WriteMode
from paimon_operator.errors import ContractError

VERSION: Final = 1
MAX_RESULT_BYTES: Final = 3072
"""Kubernetes keeps 4096 bytes of a termination message; the rest is room for multi-byte cuts."""


class ExitCode(IntEnum):
    """How a driver ends. Any other code, 137 for instance, is classified from the pod's status."""

    OK = 0
    CONFLICT = 10
    SPEC = 20
    ENVIRONMENT = 25
    INFRASTRUCTURE = 30
    RESULT_UNKNOWN = 40


class ErrorClass(StrEnum):
    """What kind of error a driver reports; each has an exit code."""

    CONFLICT = "Conflict"
    SPEC = "Spec"
    ENVIRONMENT = "Environment"
    INFRASTRUCTURE = "Infrastructure"
    RESULT_UNKNOWN = "ResultUnknown"

    @property
    def exit_code(self) -> ExitCode:
        """The exit code that goes with it."""
        return ExitCode[self.name]


class _Document(ApiModel):
    # A typing error in our own documents must not pass silently; users never write these.
    model_config = ConfigDict(extra="forbid")


class JobRun(_Document):
    """The PaimonRun."""

    name: str
    uid: str
    namespace: str


class JobCatalog(_Document):
    """How to open the catalog. `options` are Paimon's catalog options and hold no secret."""

    warehouse: str
    metastore: str
    options: dict[str, str] = Field(default_factory=dict)


class JobTable(_Document):
    """The table in Paimon."""

    database: str
    name: str


class JobColumn(_Document):
    """A column; `type` is Paimon's text."""

    name: str
    type: str
    comment: str | None = None


class ProvisionJob(_Document):
    """Make the table, or verify and adopt the one that is there. `options` are all options that the spec asks for."""

    columns: tuple[JobColumn, ...]
    primary_keys: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    comment: str = ""
    options: dict[str, str] = Field(default_factory=dict)
    adoption: AdoptionPolicy


class WriteJob(_Document):
    """Load files. `hash` is that of from and mode; `ledger` the directory that lists loaded files."""

    name: str
    hash: str
    mode: WriteMode
    format: FileFormat
    location: str
    path: str = ""
    select: FileSelection
    once: bool
    options: dict[str, str] = Field(default_factory=dict)
    ledger: str


class CompactJob(_Document):
    """Compact. `partition_idle_time` is in Paimon's notation (`10 min`); `partitions` are all that is compacted."""

    strategy: CompactStrategy
    partitions: tuple[dict[str, str], ...] | None = None
    partition_idle_time: str | None = None


class ExpireSnapshotsJob(_Document):
    """Expire snapshots. `time_retained` is in Paimon's notation (`1 d`)."""

    time_retained: str | None = None
    num_retained_min: int | None = None
    num_retained_max: int | None = None


class DropJob(_Document):
    """Drop the table, if it is ours."""


class JobExecutors(_Document):
    """Executors of mode Cluster. Sizes of one, in MiB and in thousandths of a CPU."""

    instances: int
    cores: int
    cpu_millis: int
    heap_mib: int
    overhead_mib: int
    service_account: str
    timeout_seconds: int


class JobSpark(_Document):
    """How Spark is set up: settings from the catalog, and executors unless the driver works alone."""

    conf: dict[str, str] = Field(default_factory=dict)
    executors: JobExecutors | None = None


class Job(_Document):
    """What a driver is to do. Exactly the member of its operation is set."""

    version: Literal[1] = VERSION
    run: JobRun
    operation: RunType
    engine: str
    catalog: JobCatalog
    hadoop: dict[str, str] = Field(default_factory=dict)
    table: JobTable
    owner: str
    commit_user: str
    since_snapshot: int | None = None
    """Commits after this snapshot must be the operator's; None: nothing is known of the commits so far."""
    spark: JobSpark | None = None
    provision: ProvisionJob | None = None
    write: WriteJob | None = None
    compact: CompactJob | None = None
    expire_snapshots: ExpireSnapshotsJob | None = None
    drop: DropJob | None = None

    @model_validator(mode="after")
    def _exactly_the_member_of_the_operation(self) -> Self:
        members = {
            RunType.PROVISION: self.provision,
            RunType.WRITE: self.write,
            RunType.COMPACT: self.compact,
            RunType.EXPIRE_SNAPSHOTS: self.expire_snapshots,
            RunType.DROP: self.drop,
        }
        present = [operation.value for operation, member in members.items() if member is not None]
        if present != [self.operation.value]:
            raise ValueError(f"operation {self.operation.value} with members for {present}")
        return self


class ResultError(ApiModel):
    """What went wrong, where, and what to do."""

    error_class: Annotated[ErrorClass, Field(alias="class")]
    reason: Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9]*$", max_length=64)]
    field: str | None = None
    message: str
    remedy: str = ""


class ResultTable(ApiModel):
    """The table after the run. Sizes in bytes."""

    schema_id: int | None = None
    snapshot_id: int | None = None
    bucket_mode: str | None = None
    files: int | None = None
    rows: int | None = None
    size_bytes: int | None = None
    sorted_runs_max: int | None = None
    small_files: int | None = None
    oldest_snapshot: Time | None = None


class Elapsed(ApiModel):
    """Milliseconds since the driver's process started."""

    session: int
    total: int


class Result(ApiModel):
    """What a driver did. Unknown fields are ignored, so that an older operator reads a newer image's result."""

    version: Literal[1]
    run: str
    operation: RunType
    ok: bool
    error: ResultError | None = None
    seen_snapshot: int | None = None
    outside_commit: OutsideCommit | None = None
    table: ResultTable | None = None
    created: bool | None = None
    differences: tuple[str, ...] = ()
    before: Measure | None = None
    after: Measure | None = None
    write: WriteResult | None = None
    expired: int | None = None
    dropped: bool | None = None
    ms: Elapsed | None = None

    @model_validator(mode="after")
    def _an_error_exactly_when_not_ok(self) -> Self:
        if self.ok == (self.error is not None):
            raise ValueError("ok and error contradict each other")
        return self


def job_text(job: Job) -> str:
    """The job as it stands in the ConfigMap: the same text for the same job."""
    return job.model_dump_json(by_alias=True, exclude_none=True)


def read_result(text: str) -> Result:
    """The result in a termination message. Raises ContractError when it is none: a log's tail, or cut short."""
    try:
        return Result.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ContractError(f"not a result of version {VERSION}: {where or 'document'}: {first['msg']}") from error
