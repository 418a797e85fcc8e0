"""The run controller: reads a run, its table and its Pods, calls `step`, applies the decision."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import timedelta
from functools import partial

from pydantic import ValidationError

from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import RunStatus
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core import naming
from paimon_operator.core.decision import Decision
from paimon_operator.core.launch.batch_pod import read_batch
from paimon_operator.core.launch.builder import LaunchBuilder
from paimon_operator.core.launch.driver_pod import config_map_of
from paimon_operator.core.operations import registry
from paimon_operator.core.ports import Kind
from paimon_operator.core.run.machine import step
from paimon_operator.core.run.observed import BACKSTOP, RunObserved, Sharing, current_pod, needs_executors
from paimon_operator.core.run.pod import PodObserved, read_pod
from paimon_operator.core.run.start import makes_pod
from paimon_operator.core.run.turn import begins_turn, has_begun, member, waits_for_turn
from paimon_operator.runtime.adoption import RefusedError
from paimon_operator.runtime.batches import Offer
from paimon_operator.runtime.dependencies import Dependencies
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.refusals import Refusals
from paimon_operator.runtime.run_changes import RunChanges, RunMetrics
from paimon_operator.runtime.unreadable import problem_of

_log = logging.getLogger(__name__)


class RunReconciler:
    """Reconciles PaimonRuns."""

    def __init__(self, dependencies: Dependencies, launches: LaunchBuilder, *, metrics: RunMetrics) -> None:
        self._dependencies, self._applier = dependencies, dependencies.applier
        self._launches, self._changes = launches, RunChanges(metrics)
        self._refusals = Refusals(dependencies.clock)

    async def reconcile(self, key: Key) -> timedelta | None:
        """Reconciles one run. Raises KubernetesError; the worker then retries."""
        body = await self._dependencies.store.get(Kind.RUN, key.namespace, key.name)
        if body is None:
            self._refusals.forget(key)
            self._dependencies.batches.forget(key)
            self._dependencies.turns.answer(key, None, None, None)
            return None
        self._dependencies.router.on_stored(Kind.RUN, body)
        try:
            run = registry.OPERATIONS.read_run(body)
        except ValidationError as error:
            await self._applier.record_unreadable(Kind.RUN, body, problem_of(error), self._dependencies.clock.now())
            return None
        self._changes.observe(run)
        uid, observed = run.metadata.uid, await self._observe(key, run)
        decision, reduced = await self._decide(key, observed)
        report = partial(self._changes.report, run, decision.status)
        try:
            again = await self._applier.apply(Kind.RUN, body, run.status, reduced or decision, on_stored=report)
        except RefusedError as error:
            return self._refusals.record(key, uid, error)
        self._refusals.record_done(key, decision, reduced)
        self._answer(key, observed, decision.status or run.status)
        self._offer(key, observed, decision)
        return again

    def _answer(self, key: Key, observed: RunObserved, status: RunStatus) -> None:
        """Answers the driver that asks for the run's turn, unless the turn may begin within seconds."""
        turns, turn = self._dependencies.turns, observed.turn
        if turn is not None and turn.asks and observed.is_following:
            return turns.defer(key, turn)
        if turn is not None and turn.result is not None and not has_begun(status, turn.pod.uid):
            self._dependencies.batches.record_end(turn.pod.uid, observed.run.metadata.uid)
        return turns.answer(key, observed.run.metadata.uid, turn, status)

    def _offer(self, key: Key, observed: RunObserved, decision: Decision[RunStatus]) -> None:
        """Offers a run that waits for a shared Pod to others of its catalog."""
        table, batches = observed.table, self._dependencies.batches
        catalog = self._dependencies.router.catalog_of(table) if table is not None else None
        if catalog is None or not waits_for_turn(decision):
            return batches.forget(key) if observed.run.status.attempts else batches.withdraw(key)
        wanted = member(observed)
        if wanted is not None and observed.sharing is not None:
            longest = observed.active_deadline + BACKSTOP + observed.limits.pending_timeout
            offered = Offer(run=key, catalog=catalog, member=wanted, launch=observed.launch(), longest=longest)
            batches.offer(offered)
        return None

    async def _decide(self, key: Key, observed: RunObserved) -> tuple[Decision[RunStatus], Decision[RunStatus] | None]:
        """The decision, and the decision without recently refused actions if there are any.

        Only a run that is about to create a Pod or to begin a turn lists the Pods of other runs, and decides again with
        them.
        """
        run, now = observed.run, self._dependencies.clock.now()
        uid = run.metadata.uid
        decision = step(observed, now)
        reduced = self._refusals.without_refused(key, uid, decision)
        if makes_pod(reduced or decision) or begins_turn(run, decision):
            decision = step(replace(observed, others=await self._pods_of_others(run)), now)
            reduced = self._refusals.without_refused(key, uid, decision)
        if begins_turn(run, decision) and observed.turn is not None:
            self._dependencies.batches.record_begin(observed.turn.pod.uid, uid)
        return decision, reduced

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
            sharing=self._sharing(key, run, table),
            turn=self._dependencies.turns.of(key, run.metadata.uid),
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
        beside = tuple(pod for pod in pods if pod.controller_uid != run.metadata.uid)
        return (*beside, *await self._shared_pods_of_others(run))

    async def _shared_pods_of_others(self, run: PaimonRun) -> tuple[PodObserved, ...]:
        """Shared Pods that may be performing a run of the table whose object is gone.

        The turn of a run that exists is in the run's status, and the table names only one of its runs.
        """
        store, namespace = self._dependencies.store, run.metadata.namespace
        if not self._dependencies.batches.is_enabled:
            return ()
        found, batches = [], self._dependencies.batches
        for body in await store.list(Kind.POD, namespace, naming.all_batches()):
            shared, pod = read_batch(body), read_pod(body)
            names = {} if shared is None or pod.ended else shared.runs
            others = [name for name, table in names.items() if table == run.spec.table_ref.name]
            others = [name for name in others if shared is not None and batches.may_perform(shared, name)]
            gone = [name for name in others if await store.get(Kind.RUN, namespace, name) is None]
            found += [pod] if gone else []
        return tuple(found)

    def _sharing(self, key: Key, run: PaimonRun, table: PaimonTable | None) -> Sharing | None:
        if table is None or run.status.attempts:
            return None
        catalog = Key(Kind.CATALOG, key.namespace, table.spec.catalog_ref.name)
        return self._dependencies.batches.sharing(key, run.metadata.uid, catalog)

    async def _executors(self, run: PaimonRun) -> tuple[PodObserved, ...]:
        """Executor Pods of the run, read live because they block a new attempt and the release of the run."""
        if not needs_executors(run):
            return ()
        labels = naming.executor_labels(run.spec.table_ref.name, run.metadata.name)
        bodies = await self._dependencies.store.list(Kind.POD, run.metadata.namespace, labels)
        return tuple(read_pod(body) for body in bodies)
