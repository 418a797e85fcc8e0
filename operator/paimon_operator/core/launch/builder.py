"""What the driver Pod of a run is made from: its job, its engine's image, its size, its account and credentials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

from paimon_contract.job import JobExecutors
from paimon_operator.api import units
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spark import RunSpark
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.spark import CatalogSpark, SparkMode
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core import storage
from paimon_operator.core.config import OperatorFacts, RunLimits
from paimon_operator.core.launch.driver_memory import learned_mib
from paimon_operator.core.launch.driver_pod import Launch, PullPolicy
from paimon_operator.core.launch.executor_pod import Executors
from paimon_operator.core.launch.job import Owners, build_job
from paimon_operator.core.launch.memory import EXECUTOR_MEMORY
from paimon_operator.core.launch.pod_security import PodRules
from paimon_operator.core.launch.spark_mode import execution, is_long
from paimon_operator.core.spec import effective
from paimon_operator.core.spec.spark_limits import most_memory_mib, spark_limits
from paimon_operator.errors import RunEnvironmentError

ValueT = TypeVar("ValueT")


@dataclass(frozen=True, kw_only=True)
class LaunchBuilder:
    """What the operator's settings add to tables and catalogs."""

    operator: OperatorFacts
    images: Mapping[str, str]
    """Engine -> image."""
    pull_policy: PullPolicy
    pending_timeout: timedelta
    cpu_share: float
    """CPU requested per core of a driver; below 1 more drivers fit on a node than can compute at full speed at once."""
    rules: PodRules = field(default_factory=PodRules)

    def launch_of(
        self,
        run: PaimonRun,
        table: PaimonTable | None,
        catalog: PaimonCatalog | None,
        owners_beside: Owners = (),
    ) -> Launch:
        """Raises SpecError for a wrong manifest, RunEnvironmentError for what is missing beside it."""
        if table is None:
            raise _missing("PaimonTable", "Delete the run.", Reason.TABLE_NOT_FOUND)
        if catalog is None:
            raise _missing("PaimonCatalog", "Create it.", Reason.CATALOG_NOT_FOUND)
        return self._launch_of(run, table, catalog, owners_beside)

    def _launch_of(self, run: PaimonRun, table: PaimonTable, catalog: PaimonCatalog, owners: Owners) -> Launch:
        executors = self._executors(where := self._execution(run, table, catalog), table, catalog)
        job = build_job(run, table, catalog, self.operator, executors.job if executors else None, owners_beside=owners)
        way, own = storage.access(catalog, self.operator.engines[job.engine]), catalog.spec.spark or CatalogSpark()
        size = effective.driver(table, catalog, self.operator.defaults)
        return Launch(
            job=job,
            image=self._image(job.engine),
            pull_policy=self.pull_policy,
            service_account=own.service_account_name,
            cores=_given(size.cores),
            cpu_request_millis=self._millis(_given(size.cores)),
            memory_mib=units.mebibytes(_given(size.memory)),
            most_memory_mib=most_memory_mib(spark_limits(catalog).driver),
            learned_memory_mib=learned_mib(run, table),
            scratch=_given(size.scratch),
            execution=where,
            long_work=is_long(run, table, where, self.operator.defaults),
            executors=executors,
            overlay=own.pod_overlay,
            variables=way.variables,
            mounts=way.mounts,
            table_host_name=way.table_host_name,
            rules=self.rules,
        )

    def _execution(self, run: PaimonRun, table: PaimonTable, catalog: PaimonCatalog) -> RunSpark:
        defaults = self.operator.defaults
        mode, unknown = effective.mode(table, catalog, defaults), storage.lacks_executor_accounts(catalog)
        return execution(run, table, mode, defaults, accounts_unknown=unknown)

    def _executors(self, where: RunSpark, table: PaimonTable, catalog: PaimonCatalog) -> Executors | None:
        if where.mode is not SparkMode.CLUSTER:
            return None
        size = effective.executor(table, catalog, self.operator.defaults)
        memory, cores = units.mebibytes(_given(size.memory)), _given(size.cores)
        own = catalog.spec.spark or CatalogSpark()
        job = JobExecutors(
            instances=_given(size.instances),
            cores=cores,
            cpu_millis=self._millis(cores),
            heap_mib=EXECUTOR_MEMORY.heap_mib(memory),
            overhead_mib=EXECUTOR_MEMORY.overhead_mib(memory),
            service_account=own.service_account_name or self.operator.accounts.executor,
            timeout_seconds=self.operator.executor_timeout_s,
        )
        account = own.driver_service_account_name or self.operator.accounts.driver
        return Executors(job=job, driver_account=account, scratch=_given(size.scratch))

    def _millis(self, cores: int) -> int:
        return max(1, round(cores * self.cpu_share * 1000))

    def limits_of(self, table: PaimonTable | None, catalog: PaimonCatalog | None) -> RunLimits:
        """The effective runPolicy of the table, and how long its Pods may wait."""
        if table is None:
            return RunLimits(pending_timeout=self.pending_timeout)
        policy = effective.run_policy(table, catalog, self.operator.defaults)
        return RunLimits(
            active_deadline=units.delta(_given(policy.active_deadline)),
            backoff_limit=_given(policy.backoff_limit),
            pending_timeout=self.pending_timeout,
        )

    def observer_image(self, engine: str) -> str | None:
        """The image of the observer of a catalog with this engine."""
        return self.images.get(engine)

    def _image(self, engine: str) -> str:
        if engine not in self.images:
            remedy = "Set its image in the chart's values, or another engine in the PaimonCatalog."
            raise RunEnvironmentError(
                f"no Spark image is configured for engine {engine}", remedy, reason=Reason.UNKNOWN_ENGINE
            )
        return self.images[engine]


def _missing(kind: str, remedy: str, reason: Reason) -> RunEnvironmentError:
    return RunEnvironmentError(f"the run's {kind} does not exist", remedy, reason=reason)


def _given(value: ValueT | None) -> ValueT:
    """A value that the operator's defaults always fill."""
    if value is None:
        raise ValueError("the operator's defaults leave a value open")
    return value
