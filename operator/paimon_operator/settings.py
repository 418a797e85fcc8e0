"""Settings of the operator process: environment variables `PAIMON_OPERATOR_*`, read once at the start.

Every attribute is one variable: `api_rate` is `PAIMON_OPERATOR_API_RATE`. Its docstring explains it. The argument
`--api-rate=50` takes precedence.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from paimon_operator.api import units
from paimon_operator.core.launch.pod_security import SPARK_UID
from paimon_operator.errors import OperatorError, SpecError

PREFIX: Final = "PAIMON_OPERATOR_"
_OF_THE_BUILD: Final = ("cache", "jars_dir")
"""Variables with our prefix for the build and the tests, which may share a shell with the operator."""
_NAMESPACE_FILE: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


class SettingsError(OperatorError):
    """An environment variable of the operator is wrong; the message names each one and what is wrong with it."""


def _names(value: object) -> object:
    """`shop,web` as a tuple; an empty text is no name at all."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _absent(value: object) -> object:
    """An empty text is no value."""
    return None if value == "" else value


def _json(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error}") from error


def _span(value: object) -> object:
    """`10m` as everywhere in the API; a bare number is seconds."""
    if not isinstance(value, str) or not value[-1:].isalpha():
        return value
    try:
        return units.seconds(value)
    except SpecError as error:
        raise ValueError(f"{error.problem}. {error.remedy}") from error


Seconds = Annotated[float, BeforeValidator(_span), Field(gt=0, le=86_400)]
Port = Annotated[int, Field(ge=0, le=65_535)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", max_length=63)]


class Settings(BaseModel):
    """Settings of one operator process."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    watch_namespaces: Annotated[tuple[Name, ...], BeforeValidator(_names)] = ()
    """Namespaces to watch, separated by commas. Empty: all namespaces of the cluster."""
    spark_images: Annotated[dict[str, str], BeforeValidator(_json)] = Field(default_factory=dict)
    """JSON object from engine to image, for example `{"paimon-1.4": "registry.example/paimon-spark:paimon-1.4"}`.
    An engine without an image cannot be used: catalogs that name it are Stalled."""
    default_engine: str = "paimon-1.4"
    """The engine of catalogs that name none."""
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    """Pull policy of the driver Pods."""
    workers: int = Field(default=8, ge=1, le=64)
    """Number of objects that are reconciled in parallel. One object is never reconciled twice at once."""
    max_concurrent_runs: int = Field(default=100, ge=0)
    """How many runs of all catalogs may be active at once; 0: no limit. Other runs wait, and the table that has waited
    longest starts first."""
    maintenance_pod_hours_per_day: int = Field(default=0, ge=0, le=100_000)
    """Hours that the Pods of scheduled maintenance may run each day (UTC) in each namespace; 0: no limit."""
    resync: Seconds = 600.0
    """Time (`10m`, `90s`, or seconds) between two lists of all objects, which find changes that the watches missed. Up
    to a quarter longer, by a hash of the process's identity, so that several operators do not list together."""
    api_rate: float = Field(default=200.0, gt=0)
    """Requests per second to the API server, on average. The leader's Lease does not count. The API server's own limits
    (Priority and Fairness) are the brake: the operator pauses as its Retry-After says. This one is for the case that
    they are off."""
    api_burst: int = Field(default=400, ge=1)
    """Largest burst of requests after a pause."""
    new_tables_rate: float = Field(default=5.0, ge=0)
    """How many new tables of one namespace are reconciled per second, after a burst of ten times as many; 0: no limit.
    It applies while another namespace has tables, whose requests would otherwise wait for a busy API server."""
    request_timeout: Seconds = 30.0
    """Timeout of a request to the API server. Its outcome is then unknown; the next reconcile reads it first."""
    health_port: Port = 8080
    """Port of `/livez` and `/readyz`."""
    metrics_port: Port = 9090
    """Port of `/metrics`."""
    table_metrics_limit: int = Field(default=500, ge=0, le=20_000)
    """Number of tables with metrics of their own, the first by namespace and name. 0: none has."""
    looks_port: Port = 8082
    """Port to which observers report."""
    looks_url: Annotated[str, Field(pattern=r"^(http://[a-z0-9.:-]+/v1/looks)?$", max_length=300)] = ""
    """Address of that port for Pods of the cluster, for example `http://paimon-operator.paimon-system.svc:8082/v1/looks`.
    Empty: no catalog has an observer."""
    looks_interval: Annotated[Seconds, Field(ge=10)] = 60.0
    """Time from one pass of an observer over its tables to the next. At least `10s`."""
    turns_url: Annotated[str, Field(pattern=r"^(http://[a-z0-9.:-]+/v1/turns)?$", max_length=300)] = ""
    """Address of the same port for drivers of several runs, for example
    `http://paimon-operator.paimon-system.svc:8082/v1/turns`. Empty: each run has its own Pod."""
    batch_window: Annotated[Seconds, Field(le=60)] = 2.0
    """Time that a small run waits for others to share a driver Pod with, counted from the latest that came. At most
    `60s`; no run waits longer than 30 s unless this is more."""
    lease_namespace: Name
    """Namespace of the leader's Lease. Absent: the operator's own (POD_NAMESPACE, or the service account's)."""
    lease_name: Name = "paimon-operator"
    """Name of the leader's Lease. `<name>-canary` is the Lease of the heartbeat that checks the watches."""
    allow_claims: bool = False
    """Whether catalogs may have their warehouse on a PersistentVolumeClaim, for development."""
    driver_cpu_share: float = Field(default=1.0, gt=0, le=1)
    """CPU request of a driver Pod per core. Below 1, more drivers fit on a node and share its cores."""
    spark_uid: Annotated[int | None, BeforeValidator(_absent), Field(ge=1, le=2**31 - 1)] = SPARK_UID
    """User, group and fsGroup of Spark Pods. Empty: the platform sets them, as OpenShift does."""
    spark_cpu_limits: bool = False
    """Whether Spark Pods have a CPU limit, equal to their cores. A quota of `limits.cpu` demands it."""
    pod_pending_timeout: Seconds = 600.0
    """Longest time that a driver Pod may wait for a Secret, an image or a node. Then the attempt fails."""
    driver_account: Name = "paimon-driver"
    """Service account of Cluster-mode drivers. It needs rights on Pods."""
    executor_account: Name = "paimon-spark"
    """Service account of executors if their catalog names none. It needs no rights and no token."""
    executor_timeout: Seconds = 300.0
    """Longest wait of a driver for its first executor. Then the attempt fails with NoExecutors."""
    observe_interval: Annotated[Seconds, Field(ge=3600)] = 3600.0
    """Time without a look after which a run looks for changes that somebody else made in a table. At least `1h`. Up to
    a quarter longer, by a hash of the table's UID."""
    cluster_id: str = Field(default="", max_length=63)
    """Identity of this cluster in the tables that it owns. Empty: the UID of namespace kube-system."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """The least severe level that is logged."""

    @property
    def resync_period(self) -> timedelta:
        """`resync` as a time span."""
        return timedelta(seconds=self.resync)

    @property
    def pending_timeout(self) -> timedelta:
        """`pod_pending_timeout` as a time span."""
        return timedelta(seconds=self.pod_pending_timeout)


def read(environ: Mapping[str, str]) -> Settings:
    """Settings from environment variables. An unknown name that begins with `PAIMON_OPERATOR_` is an error.

    Raises SettingsError with one line per wrong variable.
    """
    given: dict[str, Any] = {
        name.removeprefix(PREFIX).lower(): value for name, value in environ.items() if name.startswith(PREFIX)
    }
    for name in _OF_THE_BUILD:
        given.pop(name, None)
    if own := given.pop("lease_namespace", "") or environ.get("POD_NAMESPACE") or _own_namespace():
        given["lease_namespace"] = own
    try:
        return Settings.model_validate(given)
    except ValidationError as error:
        raise SettingsError("\n".join(_sentences(error))) from error


def named_by(arguments: Iterable[str]) -> dict[str, str]:
    """The variables for arguments such as `--api-rate=50`. Raises SettingsError for another form."""
    found = {}
    for argument in arguments:
        name, equals, value = argument.removeprefix("--").partition("=")
        if not argument.startswith("--") or not equals or not name:
            raise SettingsError(f"{argument}: an argument has the form --api-rate=50")
        found[PREFIX + name.replace("-", "_").upper()] = value
    return found


def _own_namespace() -> str:
    return _NAMESPACE_FILE.read_text(encoding="utf-8").strip() if _NAMESPACE_FILE.exists() else ""


def _sentences(error: ValidationError) -> list[str]:
    return [
        f"{PREFIX}{'.'.join(str(part) for part in problem['loc']).upper()}: {problem['msg']}"
        for problem in error.errors(include_url=False)
    ]
