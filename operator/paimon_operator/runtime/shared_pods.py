"""Releases and deletes Pods that several runs have shared, once none of these runs needs to know how the Pod ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Final

from paimon_operator.api.run.status import AttemptState, RunStatus
from paimon_operator.core.decision import Decision
from paimon_operator.core.launch.batch_pod import SharedPod, read_batch
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.core.run.pod import PodObserved, read_pod
from paimon_operator.core.run.pod_release import ended_batch, unstarted_batch
from paimon_operator.runtime.dependencies import Dependencies

_AGAIN: Final = timedelta(seconds=5)
"""Until the next look at an ended Pod whose end some run has not read: no event of a run leads here."""


class SharedPodReconciler:
    """Reconciles shared Pods."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies

    async def reconcile(self, body: Manifest) -> timedelta | None:
        """Reconciles one Pod. Raises KubernetesError; the worker then retries."""
        shared, pod, now = read_batch(body), read_pod(body), self._dependencies.clock.now()
        if not pod.stopped_or_expired(now):
            return await self._apply(body, unstarted_batch(pod, now))
        if shared is not None and self._in_turn(shared, pod):
            return _AGAIN
        return await self._apply(body, ended_batch(pod, now))

    async def _apply(self, body: Manifest, decision: Decision[RunStatus]) -> timedelta | None:
        return await self._dependencies.applier.apply(Kind.POD, body, RunStatus(), decision)

    def _in_turn(self, shared: SharedPod, pod: PodObserved) -> bool:
        """Whether the turn of one of its runs has begun and its end is not stored."""
        cache, namespace = self._dependencies.cache, shared.namespace
        return any(is_in_turn(cache.get(Kind.RUN, namespace, run), pod.name) for run in shared.runs)


def is_in_turn(run: Manifest | None, pod: str) -> bool:
    """Whether an attempt of the run in this Pod has not ended."""
    attempts: Iterable[Mapping[str, Any]] = ((run or {}).get("status") or {}).get("attempts") or ()
    return any(each.get("pod") == pod and each.get("state") != AttemptState.ENDED for each in attempts)
