"""What the run controller reads around a run: its table, its Pods, and the Pods of other runs."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache

from pydantic import ValidationError

from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core import naming
from paimon_operator.core.launch.batch_pod import read_batch
from paimon_operator.core.launch.builder import LaunchBuilder
from paimon_operator.core.launch.driver_pod import config_map_of
from paimon_operator.core.ports import Kind
from paimon_operator.core.run.observed import RunObserved, Sharing, current_pod, needs_executors
from paimon_operator.core.run.pod import PodObserved, read_pod
from paimon_operator.runtime.dependencies import Dependencies
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.refusals import Refusals
from paimon_operator.runtime.unreadable import problem_of

_log = logging.getLogger(__name__)


class RunObservations:
    """Observes runs."""

    def __init__(self, dependencies: Dependencies, launches: LaunchBuilder, refusals: Refusals) -> None:
        self._dependencies, self._launches, self._refusals = dependencies, launches, refusals

    async def of(self, key: Key, run: PaimonRun, *, live: bool, starting: bool = False) -> RunObserved:
        """What the run's decision depends on. `starting`: a Pod is about to be created, or a turn to begin."""
        table = await self._table(key.namespace, run.spec.table_ref.name, live=live or starting)
        catalog = self._dependencies.router.catalog_of(table) if table is not None else None
        claims = self._dependencies.claims
        owners = claims.owners_beside(table) if table is not None else ()
        return RunObserved(
            run=run,
            table=table,
            pod=await self._pod(run, live=live),
            executors=await self._executors(run),
            limits=self._launches.limits_of(table, catalog),
            claimant=claims.holder(table, catalog) if table is not None else None,
            launch=cache(lambda: self._launches.launch_of(run, table, catalog, owners)),  # asked for up to four times
            refusal=self._refusals.of(key, run.metadata.uid, {config_map_of(run), current_pod(run)}),
            sharing=self._sharing(key, run, table),
            turn=self._dependencies.turns.of(key, run.metadata.uid),
            others=await self._pods_of_others(run) if starting else (),
        )

    async def _table(self, namespace: str, name: str, *, live: bool) -> PaimonTable | None:
        """The table; None also if its model cannot be read."""
        body = await self._dependencies.reads.other(Kind.TABLE, namespace, name, live=live)
        try:
            return PaimonTable.model_validate(body) if body is not None else None
        except ValidationError as error:
            _log.warning("table %s/%s: %s", namespace, name, problem_of(error))
            return None

    async def _pod(self, run: PaimonRun, *, live: bool) -> PodObserved | None:
        name = current_pod(run)
        if name is None:
            return None
        body = await self._dependencies.reads.other(Kind.POD, run.metadata.namespace, name, live=live)
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
        store, batches = self._dependencies.store, self._dependencies.batches
        if not batches.is_enabled:
            return ()
        # Their bodies are large: each has the jobs of up to fifty runs, and those that have ended stay for a while.
        listed = await store.list_metadata(Kind.POD, run.metadata.namespace, naming.all_batches())
        batches.keep_ended(run.metadata.namespace, {each["metadata"]["uid"] for each in listed})
        found = [await self._at_a_lost_run(run.spec.table_ref.name, each["metadata"]) for each in listed]
        return tuple(pod for pod in found if pod is not None)

    async def _at_a_lost_run(self, table: str, identity: Mapping[str, str]) -> PodObserved | None:
        """The shared Pod of this metadata, if it may be performing a run of the table whose object is gone."""
        store, batches = self._dependencies.store, self._dependencies.batches
        namespace, name, uid = identity["namespace"], identity["name"], identity["uid"]
        if batches.has_ended(uid):
            return None
        shared = batches.pod(uid) or read_batch(await store.get(Kind.POD, namespace, name) or {})
        if shared is None:
            return None
        runs = [each for each, of in shared.runs.items() if of == table and batches.may_perform(shared, each)]
        if all([await store.get(Kind.RUN, namespace, each) is not None for each in runs]):
            return None
        body = await store.get(Kind.POD, namespace, name)
        return None if body is None else read_pod(body)

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
