"""The run controller: reads a run, its table and its Pods, calls `step`, applies the decision."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from pydantic import ValidationError

from paimon_operator.api.run.status import RunStatus
from paimon_operator.core.decision import Decision
from paimon_operator.core.launch.builder import LaunchBuilder
from paimon_operator.core.operations import registry
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.core.run.machine import step
from paimon_operator.core.run.observed import BACKSTOP, RunObserved
from paimon_operator.core.run.start import makes_pod
from paimon_operator.core.run.turn import begins_turn, has_begun, member, waits_for_turn
from paimon_operator.runtime.adoption import RefusedError
from paimon_operator.runtime.batches import Offer
from paimon_operator.runtime.dependencies import Dependencies
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.reads import Doubt
from paimon_operator.runtime.refusals import Refusals
from paimon_operator.runtime.run_changes import RunChanges, RunMetrics
from paimon_operator.runtime.run_observations import RunObservations
from paimon_operator.runtime.unreadable import problem_of


class RunReconciler:
    """Reconciles PaimonRuns."""

    def __init__(self, dependencies: Dependencies, launches: LaunchBuilder, *, metrics: RunMetrics) -> None:
        self._dependencies, self._applier = dependencies, dependencies.applier
        self._changes = RunChanges(metrics)
        self._refusals = Refusals(dependencies.clock)
        self._observations = RunObservations(dependencies, launches, self._refusals)

    async def reconcile(self, key: Key, doubt: Doubt) -> timedelta | None:
        """Reconciles one run. Raises KubernetesError; the worker then retries."""
        return await self._reconcile(key, live=doubt is not Doubt.NONE)

    async def _reconcile(self, key: Key, *, live: bool) -> timedelta | None:
        body = await self._dependencies.reads.own(key, live=live)
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
        observed = await self._observations.of(key, run, live=live)
        decision, reduced = self._decide(key, observed)
        if makes_pod(reduced or decision) or begins_turn(run, decision):
            observed = await self._observations.of(key, run, live=live, starting=True)
            decision, reduced = self._decide(key, observed)
            if not live and decision.status == run.status:  # no write of the status would notice another version
                return await self._reconcile(key, live=True)
        return await self._act(key, body, observed, decision, reduced)

    def _decide(self, key: Key, observed: RunObserved) -> tuple[Decision[RunStatus], Decision[RunStatus] | None]:
        """The decision, and the decision without recently refused actions if there are any."""
        decision = step(observed, self._dependencies.clock.now())
        return decision, self._refusals.without_refused(key, observed.run.metadata.uid, decision)

    async def _act(
        self,
        key: Key,
        body: Manifest,
        observed: RunObserved,
        decision: Decision[RunStatus],
        reduced: Decision[RunStatus] | None,
    ) -> timedelta | None:
        """Carries out what was decided; `reduced` without what was refused."""
        run, uid = observed.run, observed.run.metadata.uid
        if begins_turn(run, decision) and observed.turn is not None:
            self._dependencies.batches.record_begin(observed.turn.pod.uid, uid)
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
