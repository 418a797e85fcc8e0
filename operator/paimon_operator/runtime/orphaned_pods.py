"""Releases Pods with our finalizer whose run is gone, because somebody removed the run's finalizer by hand."""

from __future__ import annotations

from datetime import timedelta

from paimon_operator.api.run.status import RunStatus
from paimon_operator.core.naming import controlling_run, is_batch
from paimon_operator.core.ports import Kind
from paimon_operator.core.run.pod import read_pod
from paimon_operator.core.run.pod_release import orphaned
from paimon_operator.runtime.dependencies import Dependencies
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.reads import Doubt
from paimon_operator.runtime.shared_pods import SharedPodReconciler


class OrphanedPodReconciler:
    """Reconciles Pods that several runs share, and driver Pods without a run. A run handles its own Pods."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self._shared = SharedPodReconciler(dependencies)

    async def reconcile(self, key: Key, _doubt: Doubt) -> timedelta | None:
        """Reconciles one Pod, always from live reads. Raises KubernetesError; the worker then retries."""
        body = await self._dependencies.store.get(Kind.POD, key.namespace, key.name)
        if body is not None and is_batch(body):
            return await self._shared.reconcile(body)
        run = controlling_run(body) if body is not None else None
        if body is None or run is None:
            return None
        pod = read_pod(body)
        owner = await self._dependencies.store.get(Kind.RUN, key.namespace, run)
        if owner is not None and owner["metadata"]["uid"] == pod.controller_uid:
            return None
        decision = orphaned(pod, self._dependencies.clock.now())
        return await self._dependencies.applier.apply(Kind.POD, body, RunStatus(), decision)
