"""The run controller's hands: read a run, its table and its Pod, let `step` decide, carry the decision out."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from pydantic import ValidationError

from paimon_operator.api.run import PaimonRun
from paimon_operator.api.run_status import RunStatus
from paimon_operator.api.table import PaimonTable
from paimon_operator.core.backoff import Backoff
from paimon_operator.core.decision import Create, Decision
from paimon_operator.core.endings import ENDED
from paimon_operator.core.pods import PodObserved, read_pod
from paimon_operator.core.ports import Kind
from paimon_operator.core.run_observed import RunObserved, current_pod
from paimon_operator.core.runs import step
from paimon_operator.errors import NamespaceTerminatingError
from paimon_operator.runtime.execute import AT_ONCE, CreateRefusedError
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.launch import Launches
from paimon_operator.runtime.unreadable import problem_of
from paimon_operator.runtime.world import World

REFUSED: Final = Backoff(first=timedelta(seconds=5), last=timedelta(minutes=5))
"""After the API server refused to create something: a quota may be raised, a right may be given."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class _Refusal:
    """What the API server said when something was to be created for a run, how often in a row, and how long to wait."""

    message: str
    count: int
    not_before: datetime


class Runs:
    """Reconciles PaimonRuns."""

    def __init__(self, world: World, launches: Launches, *, on_finished: Callable[[str, str], None]) -> None:
        """`on_finished(type, phase)` is called once for each run that ends."""
        self._world, self._executor = world, world.executor
        self._launches, self._on_finished = launches, on_finished
        self._refusals: dict[str, _Refusal] = {}

    async def reconcile(self, key: Key) -> timedelta | None:
        """One look at one run. Raises the KubernetesError tree; the look is then repeated."""
        body = await self._world.store.get(Kind.RUN, key.namespace, key.name)
        if body is None:
            return None
        self._world.notices.stored(Kind.RUN, body)
        try:
            run = PaimonRun.model_validate(body)
        except ValidationError as error:
            await self._executor.stall(Kind.RUN, body, problem_of(error), self._world.clock.now())
            return None
        observed = await self._observe(run)
        decision = step(observed, self._world.clock.now())
        held_back = self._held_back(run, decision)
        try:
            again = await self._executor.carry_out(
                Kind.RUN, body, run.status, held_back or decision, on_stored=lambda: self._tell_end(run, decision)
            )
        except NamespaceTerminatingError as error:
            return self._refused(run, f"the namespace is going away: {error}")
        except CreateRefusedError as error:
            return self._refused(run, str(error))
        if held_back is None:
            self._refusals.pop(run.metadata.uid, None)
        return again

    def _tell_end(self, run: PaimonRun, decision: Decision[RunStatus]) -> None:
        if decision.status and decision.status.phase in ENDED and run.status.phase not in ENDED:
            self._on_finished(run.spec.type, decision.status.phase)

    async def _observe(self, run: PaimonRun) -> RunObserved:
        namespace = run.metadata.namespace
        table = await self._table(namespace, run.spec.table_ref.name)
        catalog = self._world.notices.catalog_of(table) if table is not None else None
        refusal = self._refusals.get(run.metadata.uid)
        return RunObserved(
            run=run,
            table=table,
            pod=await self._pod(run),
            limits=self._launches.limits_of(table, catalog),
            launch=lambda: self._launches.launch_of(run, table, catalog),
            refusal=refusal.message if refusal else None,
        )

    async def _table(self, namespace: str, name: str) -> PaimonTable | None:
        """The table, live: whether it names this run decides about a Pod. None also when it cannot be read."""
        body = await self._world.store.get(Kind.TABLE, namespace, name)
        try:
            return PaimonTable.model_validate(body) if body is not None else None
        except ValidationError as error:
            _log.warning("table %s/%s: %s", namespace, name, problem_of(error))
            return None

    async def _pod(self, run: PaimonRun) -> PodObserved | None:
        name = current_pod(run)
        body = await self._world.store.get(Kind.POD, run.metadata.namespace, name) if name is not None else None
        return read_pod(body) if body is not None else None

    def _held_back(self, run: PaimonRun, decision: Decision[RunStatus]) -> Decision[RunStatus] | None:
        """The decision without what was refused a moment ago; None when nothing has to wait.

        A timer alone would not hold it back: the status that shows a refusal is a change, and wakes the run.
        """
        refusal, now = self._refusals.get(run.metadata.uid), self._world.clock.now()
        others = tuple(action for action in decision.actions if not isinstance(action, Create))
        if refusal is None or now >= refusal.not_before or others == decision.actions:
            return None
        return replace(decision, actions=others, requeue_after=refusal.not_before - now)

    def _refused(self, run: PaimonRun, message: str) -> timedelta:
        """Remembers the refusal for the next look, which shows it; after that it is tried ever more rarely.

        Whatever the message says: quotas count in it, and admission webhooks put request ids there.
        """
        known = self._refusals.get(run.metadata.uid)
        count = known.count if known is not None else 0
        wait = REFUSED.delay(count, run.metadata.uid) if count else AT_ONCE
        not_before = self._world.clock.now() + wait
        self._refusals[run.metadata.uid] = _Refusal(message=message, count=count + 1, not_before=not_before)
        _log.warning("run %s/%s: %s", run.metadata.namespace, run.metadata.name, message)
        return wait
