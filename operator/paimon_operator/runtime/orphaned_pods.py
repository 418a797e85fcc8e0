"""Releases Pods with our finalizer whose run is gone, because somebody removed the run's finalizer by hand."""

from __future__ import annotations

from datetime import timedelta

from paimon_operator.api.run.status import RunStatus
from paimon_operator.core.naming import controlling_run
from paimon_operator.core.ports import Kind
from paimon_operator.core.run.pod import read_pod
from paimon_operator.core.run.pod_release import orphaned
from paimon_operator.runtime.dependencies import Dependencies
from paimon_operator.runtime.keys import Key


class OrphanedPodReconciler:
    """Reconciles driver Pods without a run. The run reconciler handles Pods that have one."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies

    async def reconcile(self, key: Key) -> timedelta | None:
        """Reconciles one Pod. Raises KubernetesError; the worker then retries."""
        body = await self._dependencies.store.get(Kind.POD, key.namespace, key.name)
        run = controlling_run(body) if body is not None else None
        if body is None or run is None:
            return None
        pod = read_pod(body)
        owner = await self._dependencies.store.get(Kind.RUN, key.namespace, run)
        if owner is not None and owner["metadata"]["uid"] == pod.controller_uid:
            return None
        decision = orphaned(pod, self._dependencies.clock.now())
        return await self._dependencies.applier.apply(Kind.POD, body, RunStatus(), decision)
