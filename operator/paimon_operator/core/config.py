"""Configuration of the operator that decisions depend on: defaults, service accounts, engines, limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from paimon_engines.engine import Engine
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.policies import RunPolicy
from paimon_operator.api.spark import Driver, Executor, SparkMode

USUAL_RUN_POLICY: Final = RunPolicy(
    active_deadline="1h", backoff_limit=3, successful_runs_history_limit=3, failed_runs_history_limit=5
)


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """Values for what neither table nor catalog sets.

    Schedules are in the table's time zone. Each table has its own minute: `core/spec/spread.py`.
    """

    full_compaction: str = "0 3 * * *"
    """Schedule of full compaction in mode Dedicated."""
    minor_compaction: str = "*/30 * * * *"
    """Schedule of minor compaction in mode Dedicated, on engines that have it."""
    expiry: str = "30 4 * * *"
    """Schedule of snapshot expiry for write-only tables, whose writers expire no snapshots."""
    partition_expiry: str = "30 2 * * *"
    """Schedule of partition expiry: before full compaction, which then does not rewrite what is dropped."""
    partition_marks: str = "0 * * * *"
    """Schedule of marking partitions as done."""
    orphan_files: str = "30 5 * * 0"
    """Schedule of the search for orphan files."""
    time_zone: str = "UTC"
    driver: Driver = field(default_factory=lambda: Driver(cores=1, memory="2Gi", scratch="10Gi"))
    mode: SparkMode = SparkMode.LOCAL
    """Where Spark runs its tasks. Local needs neither rights nor service accounts."""
    executor: Executor = field(default_factory=lambda: Executor(instances=2, cores=1, memory="2Gi", scratch="10Gi"))
    cluster_from_rows: int = 10_000_000
    """Auto: from this number of rows on, executors do the work. Below it, their start costs more than they save."""
    cluster_from_bytes: int = 1 << 30
    """Auto: the same by the size of the table's files."""
    long_from_rows: int = 3_000_000
    """Rows from which on the driver's JVM compiles for a long run. Measured: 1 million rows take 10 s longer with it,
    5 million rows 20 s less."""
    run_policy: RunPolicy = field(default_factory=lambda: USUAL_RUN_POLICY)


@dataclass(frozen=True, kw_only=True)
class Accounts:
    """Service accounts of mode Cluster."""

    driver: str = "paimon-driver"
    """Account of drivers: it has rights on Pods and no others."""
    executor: str = "paimon-spark"
    """Account of executors whose catalog names none: it has no rights and no token."""

    @property
    def driver_prefix(self) -> str:
        """Prefix that the name of a catalog's own driver account must have."""
        return f"{self.driver}-"


@dataclass(frozen=True, kw_only=True)
class ObserverFacts:
    """How observers reach the operator."""

    url: str
    """Where they report: the operator's Service."""
    interval_s: int = 60
    """Seconds from one pass over the tables to the next."""


@dataclass(frozen=True, kw_only=True)
class SharingFacts:
    """How small runs share driver Pods."""

    url: str
    """Where their drivers ask for turns: the operator's Service."""
    window_s: float = 2.0
    """Seconds that a run waits for others."""


@dataclass(frozen=True, kw_only=True)
class OperatorFacts:
    """Facts that are the same for every table of this operator."""

    engines: Mapping[str, Engine]
    """Engines by id, the newest last."""
    default_engine: str
    """Id of the engine for catalogs that name none."""
    cluster_id: str
    """UID of the namespace kube-system; the first part of a table's owner mark."""
    unavailable_engines: Mapping[str, str] = field(default_factory=dict)
    """Engine id -> why it cannot be used here (it has no image)."""
    claims_allowed: bool = False
    """Whether a warehouse may be on a PersistentVolumeClaim."""
    defaults: Defaults = field(default_factory=Defaults)
    accounts: Accounts = field(default_factory=Accounts)
    executor_timeout_s: int = 300
    """Seconds that a driver waits for its first executor."""
    observe_interval: timedelta | None = timedelta(hours=1)
    """How long a table's schema may stay unread before a run reads it. None: no run is started for that."""

    observer: ObserverFacts | None = None
    """None: no catalog has an observer."""

    def engine_of(self, catalog: PaimonCatalog) -> str:
        """Id of the catalog's engine; the operator may not have it."""
        return catalog.spec.engine or self.default_engine


@dataclass(frozen=True, kw_only=True)
class RunLimits:
    """Limits for a run that does not set its own: the table's effective runPolicy and the operator's settings."""

    active_deadline: timedelta = timedelta(hours=1)
    """How long a container may run, from its start."""
    backoff_limit: int = 3
    """How many attempts may follow the first."""
    pending_timeout: timedelta = timedelta(minutes=10)
    """How long a Pod may wait for its node, image and Secrets, from its creation."""
