"""Driver Pods on an API server, with the fields that kubelet, scheduler and node controllers write."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from paimon_operator.api.base import rfc3339
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.core.launch.driver_pod import config_map_of
from paimon_operator.core.naming import FINALIZER, USER_PREFIX, executor_labels, owner_reference, pod_labels, pod_name
from paimon_operator.core.run.pod import PodObserved, read_pod

Json = dict[str, Any]

MADE = datetime(2026, 11, 21, 8, 10, 0, tzinfo=UTC)
STARTED = datetime(2026, 11, 21, 8, 10, 5, tzinfo=UTC)
FINISHED = datetime(2026, 11, 21, 8, 10, 46, tzinfo=UTC)
DEADLINE_S = 4500


def pod(
    run: PaimonRun,
    attempt: int = 1,
    *,
    owner_uid: str | None = None,
    deleting: bool | datetime = False,
    guarded: bool = True,
    volumes: Sequence[Json] = (),
    **status: Any,
) -> Json:
    """The Pod of one attempt, Pending and not yet scheduled unless `status` says otherwise.

    `deleting` may be the end of its grace period, `guarded` says whether it still has our finalizer.
    """
    name = pod_name(config_map_of(run), attempt)
    metadata: Json = {
        "name": name,
        "namespace": run.metadata.namespace,
        "uid": f"uid-of-{name}",
        "creationTimestamp": rfc3339(MADE),
        "labels": pod_labels(run.spec.table_ref.name, run.metadata.name, attempt),
        "ownerReferences": [owner_reference("PaimonRun", run.metadata.name, owner_uid or run.metadata.uid)],
    }
    if deleting:
        metadata["deletionTimestamp"] = rfc3339(deleting if isinstance(deleting, datetime) else FINISHED)
    if guarded:
        metadata["finalizers"] = [FINALIZER]
    spec: Json = {"activeDeadlineSeconds": DEADLINE_S, "volumes": [*volumes]}
    if "containerStatuses" in status or status.get("phase", "Pending") != "Pending":
        spec["nodeName"] = "node-1"
    whole = {"phase": "Pending"} | status
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": whole}


def executor(number: int, *, of: str, deleting: bool = False, **status: Any) -> Json:
    """An executor's Pod of the driver Pod `of`, running unless `status` says otherwise."""
    name = f"{of}-exec-{number}"
    metadata: Json = {
        "name": name,
        "namespace": "shop",
        "uid": f"uid-of-{name}",
        "creationTimestamp": rfc3339(MADE),
        "labels": executor_labels("orders", of.rpartition("-")[0].removeprefix(USER_PREFIX)),
        "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": of, "uid": f"uid-of-{of}", "controller": True}],
    }
    if deleting:
        metadata["deletionTimestamp"] = rfc3339(FINISHED)
    running_ = {"name": "executor", "state": {"running": {"startedAt": rfc3339(STARTED)}}}
    whole = {"phase": "Running", "containerStatuses": [running_]} | status
    spec = {"activeDeadlineSeconds": DEADLINE_S, "nodeName": "node-1"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": whole}


def waiting(reason: str = "ContainerCreating", message: str = "") -> Json:
    """Status of a Pod on a node whose container waits."""
    return {"phase": "Pending", "containerStatuses": [_driver({"waiting": {"reason": reason, "message": message}})]}


def unschedulable(message: str = "0/1 nodes are available: 1 Insufficient memory.") -> Json:
    """Status of a Pod that fits on no node."""
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    return {"phase": "Pending", "conditions": [condition]}


def running(started: datetime = STARTED) -> Json:
    """Status of a Pod whose container runs."""
    return {"phase": "Running", "containerStatuses": [_driver({"running": {"startedAt": rfc3339(started)}})]}


def ended(
    exit_code: int = 0, message: str = "", *, reason: str | None = None, finished: datetime = FINISHED, **status: Any
) -> Json:
    """Status of a Pod whose container ended."""
    terminated = {
        "exitCode": exit_code,
        "reason": reason or ("Completed" if exit_code == 0 else "Error"),
        "message": message,
        "startedAt": rfc3339(STARTED),
        "finishedAt": rfc3339(finished),
    }
    phase = "Succeeded" if exit_code == 0 else "Failed"
    return {"phase": phase, "containerStatuses": [_driver({"terminated": terminated})]} | status


def evicted(message: str = 'Usage of EmptyDir volume "tmp" exceeds the limit "10Gi".') -> Json:
    """Status of a Pod that the kubelet evicted. It has no container statuses."""
    return {"phase": "Failed", "reason": "Evicted", "message": message}


def disrupted(exit_code: int, by: str = "Eviction API: evicting") -> Json:
    """Status of a Pod that was evicted from its node."""
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI", "message": by}
    return ended(exit_code, conditions=[condition])


def collected(last_seen: Json) -> Json:
    """Status that the Pod garbage collector writes after the node was removed. `last_seen` is the status before."""
    why = {"reason": "DeletionByPodGC", "message": "PodGC: node no longer exists"}
    return last_seen | {"phase": "Failed", "conditions": [{"type": "DisruptionTarget", "status": "True"} | why]}


def observed(run: PaimonRun, attempt: int = 1, status: Json | None = None, **how: Any) -> PodObserved:
    """The Pod of `run` in `status`, as the core reads it."""
    return read_pod(pod(run, attempt, **(status or {}), **how))


def result(run: PaimonRun, **facts: Any) -> str:
    """The termination message of a successful driver of `run`; `facts` add to it or replace parts."""
    document = {"version": 1, "run": run.metadata.name, "operation": run.spec.type, "ok": True}
    return json.dumps(document | facts)


def error(run: PaimonRun, class_: str, reason: str, message: str = "the driver failed", **facts: Any) -> str:
    """The termination message of a driver that failed."""
    failure = {"class": class_, "reason": reason, "message": message} | facts
    return result(run, ok=False, error=failure)


def _driver(state: Json) -> Json:
    return {"name": "driver", "state": state, "ready": False, "restartCount": 0, "image": "spark", "imageID": ""}
