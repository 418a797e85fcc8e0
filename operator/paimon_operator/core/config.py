"""What a decision about a table rests on: the manifest, what holds for every table, and what was seen of the world."""

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
    """What holds where neither table nor catalog says anything. Schedules are read in the table's time zone."""

    full_compaction: str = "0 3 * * *"
    """Schedule of full compaction in mode Dedicated."""
    minor_compaction: str = "*/30 * * * *"
    """Schedule of minor compaction in mode Dedicated, on engines that have it."""
    expiry: str = "30 4 * * *"
    """Schedule of snapshot expiry where writers skip it (write-only tables), or snapshots would pile up for ever."""
    time_zone: str = "UTC"
    driver: Driver = field(default_factory=lambda: Driver(cores=1, memory="2Gi"))
    mode: SparkMode = SparkMode.LOCAL
    """Where the work is done; Local needs neither rights nor accounts."""
    executor: Executor = field(default_factory=lambda: Executor(instances=2, cores=1, memory="2Gi"))
    cluster_from_rows: int = 10_000_000
    """Auto: work on so many rows is done by executors. Below, their start costs more than they save."""
    cluster_from_bytes: int = 1 << 30
    """Auto: the same by the size of the table's files."""
    long_from_rows: int = 3_000_000
    """The driver compiles for a long run from here. Measured: it loses 10 s with 1 million rows and wins 20 s with 5.
    """
    run_policy: RunPolicy = field(default_factory=lambda: USUAL_RUN_POLICY)


@dataclass(frozen=True, kw_only=True)
class Accounts:
    """Service accounts of mode Cluster."""

    driver: str = "paimon-driver"
    """Of drivers: it may handle Pods, and nothing else."""
    executor: str = "paimon-spark"
    """Of executors whose catalog names none: without any right and without a token."""

    @property
    def driver_prefix(self) -> str:
        """What the name of a catalog's own account of such drivers begins with."""
        return f"{self.driver}-"


@dataclass(frozen=True, kw_only=True)
class OperatorFacts:
    """What holds for every table of this operator."""

    engines: Mapping[str, Engine]
    """By id, newest last."""
    default_engine: str
    """For catalogs that name none."""
    cluster_id: str
    """UID of the namespace kube-system: the first part of a table's owner."""
    unavailable_engines: Mapping[str, str] = field(default_factory=dict)
    """Engine -> why it cannot be used here (no image for it)."""
    claims_allowed: bool = False
    """Whether a warehouse may lie on a PersistentVolumeClaim."""
    defaults: Defaults = field(default_factory=Defaults)
    accounts: Accounts = field(default_factory=Accounts)
    executor_timeout_s: int = 300
    """How long a driver waits for its first executor."""

    def engine_of(self, catalog: PaimonCatalog) -> str:
        """Id of the engine that does the catalog's work; it need not exist."""
        return catalog.spec.engine or self.default_engine


@dataclass(frozen=True, kw_only=True)
class RunLimits:
    """What holds for a run that does not say it itself: the table's effective runPolicy, the operator's settings."""

    active_deadline: timedelta = timedelta(hours=1)
    """How long a container may run, from its start."""
    backoff_limit: int = 3
    """How many attempts may follow the first."""
    pending_timeout: timedelta = timedelta(minutes=10)
    """How long a Pod may wait for its node, image and Secrets, from its creation."""
