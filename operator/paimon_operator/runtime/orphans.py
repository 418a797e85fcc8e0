"""Held Pods without their run: somebody took the run's finalizer off by hand. Nobody else would ever let them go."""

from __future__ import annotations

from datetime import timedelta

from paimon_operator.api.run.status import RunStatus
from paimon_operator.core.naming import controlling_run
from paimon_operator.core.ports import Kind
from paimon_operator.core.run.pod import read_pod
from paimon_operator.core.run.pod_release import orphaned
from paimon_operator.runtime.dependencies import Dependencies
from paimon_operator.runtime.keys import Key


class Orphans:
    """Reconciles driver Pods that have no run any more; a Pod with a run is its run's affair."""

    def __init__(self, world: Dependencies) -> None:
        self._world = world

    async def reconcile(self, key: Key) -> timedelta | None:
        """One look at one Pod. Raises the KubernetesError tree; the look is then repeated."""
        body = await self._world.store.get(Kind.POD, key.namespace, key.name)
        run = controlling_run(body) if body is not None else None
        if body is None or run is None:
            return None
        pod = read_pod(body)
        owner = await self._world.store.get(Kind.RUN, key.namespace, run)
        if owner is not None and owner["metadata"]["uid"] == pod.controller_uid:
            return None
        decision = orphaned(pod, self._world.clock.now())
        return await self._world.executor.carry_out(Kind.POD, body, RunStatus(), decision)
