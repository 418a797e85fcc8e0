"""The run controller: reads a run, its table and its Pods, calls `step`, applies the decision."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from pydantic import ValidationError

from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import RunStatus
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core import naming
from paimon_operator.core.decision import Decision
from paimon_operator.core.launch.builder import LaunchBuilder
from paimon_operator.core.launch.driver_pod import config_map_of
from paimon_operator.core.operations import registry
from paimon_operator.core.ports import Kind
from paimon_operator.core.run.completion import ENDED
from paimon_operator.core.run.machine import step
from paimon_operator.core.run.observed import RunObserved, current_pod, needs_executors
from paimon_operator.core.run.pod import PodObserved, read_pod
from paimon_operator.core.run.start import makes_pod
from paimon_operator.runtime.adoption import RefusedError
from paimon_operator.runtime.dependencies import Dependencies
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.refusals import Refusals
from paimon_operator.runtime.unreadable import problem_of

_log = logging.getLogger(__name__)


class RunReconciler:
    """Reconciles PaimonRuns."""

    def __init__(
        self, dependencies: Dependencies, launches: LaunchBuilder, *, on_finished: Callable[[str, str], None]
    ) -> None:
        """`on_finished(type, phase)` is called once for each run that ends."""
        self._dependencies, self._applier = dependencies, dependencies.applier
        self._launches, self._on_finished = launches, on_finished
        self._refusals = Refusals(dependencies.clock)

    async def reconcile(self, key: Key) -> timedelta | None:
        """Reconciles one run. Raises KubernetesError; the worker then retries."""
        body = await self._dependencies.store.get(Kind.RUN, key.namespace, key.name)
        if body is None:
            self._refusals.forget(key)
            return None
        self._dependencies.router.on_stored(Kind.RUN, body)
        try:
            run = registry.OPERATIONS.read_run(body)
        except ValidationError as error:
            await self._applier.record_unreadable(Kind.RUN, body, problem_of(error), self._dependencies.clock.now())
            return None
        uid, (decision, reduced) = run.metadata.uid, await self._decide(key, run)
        try:
            again = await self._applier.apply(
                Kind.RUN, body, run.status, reduced or decision, on_stored=lambda: self._report_end(run, decision)
            )
        except RefusedError as error:
            return self._refusals.record(key, uid, error)
        self._refusals.record_done(key, decision, reduced)
        return again

    async def _decide(self, key: Key, run: PaimonRun) -> tuple[Decision[RunStatus], Decision[RunStatus] | None]:
        """The decision, and the decision without recently refused actions if there are any.

        Only a run that is about to create a Pod lists the Pods of other runs, and decides again with them.
        """
        uid, observed, now = run.metadata.uid, await self._observe(key, run), self._dependencies.clock.now()
        decision = step(observed, now)
        reduced = self._refusals.without_refused(key, uid, decision)
        if makes_pod(reduced or decision):
            decision = step(replace(observed, others=await self._pods_of_others(run)), now)
            reduced = self._refusals.without_refused(key, uid, decision)
        return decision, reduced

    def _report_end(self, run: PaimonRun, decision: Decision[RunStatus]) -> None:
        if decision.status and decision.status.phase in ENDED and run.status.phase not in ENDED:
            self._on_finished(run.spec.type, decision.status.phase)

    async def _observe(self, key: Key, run: PaimonRun) -> RunObserved:
        namespace = run.metadata.namespace
        table = await self._table(namespace, run.spec.table_ref.name)
        catalog = self._dependencies.router.catalog_of(table) if table is not None else None
        claims = self._dependencies.claims
        owners = claims.owners_beside(table) if table is not None else ()
        return RunObserved(
            run=run,
            table=table,
            pod=await self._pod(run),
            executors=await self._executors(run),
            limits=self._launches.limits_of(table, catalog),
            claimant=claims.holder(table, catalog) if table is not None else None,
            launch=lambda: self._launches.launch_of(run, table, catalog, owners),
            refusal=self._refusals.of(key, run.metadata.uid, {config_map_of(run), current_pod(run)}),
        )

    async def _table(self, namespace: str, name: str) -> PaimonTable | None:
        """The table, read live because its activeRun decides about a Pod. None also if its model cannot be read."""
        body = await self._dependencies.store.get(Kind.TABLE, namespace, name)
        try:
            return PaimonTable.model_validate(body) if body is not None else None
        except ValidationError as error:
            _log.warning("table %s/%s: %s", namespace, name, problem_of(error))
            return None

    async def _pod(self, run: PaimonRun) -> PodObserved | None:
        name = current_pod(run)
        body = await self._dependencies.store.get(Kind.POD, run.metadata.namespace, name) if name is not None else None
        return read_pod(body) if body is not None else None

    async def _pods_of_others(self, run: PaimonRun) -> tuple[PodObserved, ...]:
        """Pods of other runs of the table, read live because a running one blocks a new Pod."""
        labels = {naming.TABLE_LABEL: naming.label_value(run.spec.table_ref.name)}
        bodies = await self._dependencies.store.list(Kind.POD, run.metadata.namespace, labels)
        at_work = (each for each in bodies if naming.controlling_run(each) is not None or naming.is_executor(each))
        pods = (read_pod(body) for body in at_work)
        return tuple(pod for pod in pods if pod.controller_uid != run.metadata.uid)

    async def _executors(self, run: PaimonRun) -> tuple[PodObserved, ...]:
        """Executor Pods of the run, read live because they block a new attempt and the release of the run."""
        if not needs_executors(run):
            return ()
        labels = naming.executor_labels(run.spec.table_ref.name, run.metadata.name)
        bodies = await self._dependencies.store.list(Kind.POD, run.metadata.namespace, labels)
        return tuple(read_pod(body) for body in bodies)
