"""What a decision about a table rests on: the manifest, what holds for every table, and what was seen of the world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from paimon_operator.api.catalog import PaimonCatalog
from paimon_operator.api.policies import RunPolicy
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run import PaimonRun
from paimon_operator.api.spark import Driver, Executor, SparkMode
from paimon_operator.api.table import PaimonTable
from paimon_operator.core.claims import Claim
from paimon_operator.core.engines import Engine

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
class Wanted:
    """One table's manifest, and what holds for every table."""

    table: PaimonTable
    operator: OperatorFacts


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """What the API server said when something was to be created, deleted or let go; it is tried again anyway."""

    reason: Reason
    message: str


@dataclass(frozen=True, kw_only=True)
class TableObserved:
    """What was seen of the world around one table."""

    catalog: PaimonCatalog | None = None
    """The catalog it refers to; None when there is none of that name."""
    claimant: Claim | None = None
    """The other object that holds the physical table; None when this one may have it."""
    runs: tuple[PaimonRun, ...] = ()
    """All runs of this table, from a live LIST: a run that is not here does not exist."""
    refusal: Refusal | None = None
    """Why the run that the status names could not be made, or deleted, the last time (403, 422, a taken name)."""
    namespace_terminating: bool = False
    """Nothing can be created in the namespace any more."""
