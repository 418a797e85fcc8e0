"""The facts in the JSON of a Pod, as types. `outcome` and `machine` decide what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from paimon_contract.exit_codes import ExitCode
from paimon_operator.core.launch.driver_pod import CONTAINER, JOB_VOLUME
from paimon_operator.core.naming import FINALIZER, controller_uid, is_executor
from paimon_operator.core.ports import Manifest

_REPORT_ALLOWANCE: Final = timedelta(minutes=1)
"""Time beyond a Pod's grace period in which its kubelet reports how a deleted Pod ended."""
_DEADLINE_ALLOWANCE: Final = timedelta(minutes=2)
"""How late a kubelet may enforce a deadline: it checks periodically, a kill has a grace period, clocks differ."""
_POD_GC: Final = "DeletionByPodGC"
_EXIT_CODES_OF_THE_DRIVER: Final = frozenset(ExitCode)
"""Exit codes that a driver chooses itself. The cause of any other needs the Pod's phase and reason."""


class PodPhase(StrEnum):
    """`status.phase` of a Pod."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """Why a container is not running yet, as its kubelet reports it."""

    reason: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Terminated:
    """How a container ended."""

    exit_code: int
    reason: str
    message: str
    """The termination message, or with FallbackToLogsOnError the tail of the log."""
    started: datetime | None
    finished: datetime | None


@dataclass(frozen=True, kw_only=True)
class ContainerObserved:
    """The driver's container as its kubelet last reported it."""

    waiting: Waiting | None
    running: bool
    started: datetime | None
    """When it started; None if it never did."""
    terminated: Terminated | None


@dataclass(frozen=True, kw_only=True)
class PodObserved:
    """A Pod as a live GET returned it."""

    name: str
    uid: str
    controller_uid: str | None
    executor: bool
    """Whether it is a Spark executor. Executors commit nothing."""
    finalizers: tuple[str, ...]
    phase: PodPhase
    created: datetime
    deletion_deadline: datetime | None
    """When its grace period ends; None until its deletion is requested."""
    node: str | None
    """Node the Pod is bound to. A terminating Pod is never bound."""
    kubelet_deadline: datetime | None
    """When its kubelet has stopped it by activeDeadlineSeconds, even if cut off; None without such a deadline."""
    reason: str
    """status.reason of the Pod (`Evicted`, `DeadlineExceeded`, `NodeLost`); usually empty."""
    message: str
    unschedulable: str | None
    """Message of the scheduler while no node fits; None otherwise."""
    disruption: str | None
    """Message of the condition DisruptionTarget: what evicted the Pod; None without it."""
    failed_by_control_plane: bool
    """Whether the control plane marked the Pod because its node is lost. That stops no container."""
    mounts: tuple[str, ...]
    """Secrets and ConfigMaps that its containers cannot start without, except the run's own."""
    container: ContainerObserved

    @property
    def deleting(self) -> bool:
        """Whether its deletion was requested."""
        return self.deletion_deadline is not None

    @property
    def has_finalizer(self) -> bool:
        """Whether it carries our finalizer, so that it stays until the finalizer is released."""
        return FINALIZER in self.finalizers

    @property
    def ended(self) -> bool:
        """Whether no container of this Pod runs or ever will: the kubelet reported the end, or no kubelet gets the Pod.

        A Failed Pod without container statuses (evicted, refused by its node) has ended. One that only the control
        plane failed has not: its container may still run.
        """
        if self.node is None:
            return self._is_terminal or self.deleting
        terminated = self.container.terminated
        if terminated is not None and terminated.exit_code in _EXIT_CODES_OF_THE_DRIVER:
            return True  # the phase follows about a second later
        return self._is_terminal and self._kubelet_reported_end

    @property
    def _is_terminal(self) -> bool:
        return self.phase in (PodPhase.SUCCEEDED, PodPhase.FAILED)

    @property
    def _kubelet_reported_end(self) -> bool:
        """Whether a terminal phase comes from the kubelet: it reported the container's end, or never started one."""
        if self.container.terminated is not None:
            return True
        return not self.container.running and not self.failed_by_control_plane

    @property
    def end_known(self) -> bool:
        """Whether anything is known about its end."""
        return self.ended or self.container.terminated is not None

    @property
    def overdue_from(self) -> datetime | None:
        """When the kubelet of a deleted Pod should have reported its end; None while it is not being deleted."""
        return None if self.deletion_deadline is None else self.deletion_deadline + _REPORT_ALLOWANCE

    def node_unreachable(self, now: datetime) -> bool:
        """Whether the kubelet should have reported the end and has not: the node is dead, or cut off and still working.

        Of a Pod that has not ended, phase Failed was set by the control plane.
        """
        if self.ended:
            return False
        is_overdue = self.overdue_from is not None and now >= self.overdue_from
        return is_overdue or self.phase is PodPhase.FAILED

    def stopped_or_expired(self, now: datetime) -> bool:
        """Whether no driver of this Pod is running: it has ended, or its kubelet's own deadline has passed."""
        if self.ended:
            return True
        if not self.node_unreachable(now):
            return False
        is_expired = self.kubelet_deadline is not None and now >= self.kubelet_deadline
        return is_expired or self.container.terminated is not None


def read_pod(body: Manifest) -> PodObserved:
    """The facts in a Pod's JSON. Absent parts are normal: an evicted Pod has no container statuses at all."""
    metadata, spec, status = body["metadata"], body.get("spec") or {}, body.get("status") or {}
    reason = status.get("reason") or ""
    return PodObserved(
        name=metadata["name"],
        uid=metadata["uid"],
        controller_uid=controller_uid(body),
        executor=is_executor(body),
        finalizers=tuple(metadata.get("finalizers") or ()),
        phase=PodPhase(status.get("phase") or PodPhase.PENDING),
        created=_time(metadata["creationTimestamp"]),
        deletion_deadline=_optional_time(metadata.get("deletionTimestamp")),
        node=spec.get("nodeName"),
        kubelet_deadline=_kubelet_deadline(metadata, spec, status),
        reason=reason,
        message=status.get("message") or "",
        unschedulable=_condition(status, "PodScheduled", "False"),
        disruption=_condition(status, "DisruptionTarget", "True"),
        failed_by_control_plane=reason == "NodeLost"
        or _found(status, "DisruptionTarget", "True").get("reason") == _POD_GC,
        mounts=tuple(_mounts(spec)),
        container=_container(status),
    )


def _container(status: Mapping[str, Any]) -> ContainerObserved:
    statuses: Iterable[Mapping[str, Any]] = status.get("containerStatuses") or ()
    driver: Mapping[str, Any] = next((entry for entry in statuses if entry.get("name") == CONTAINER), {})
    state: Mapping[str, Any] = driver.get("state") or {}
    terminated, running = _terminated(state.get("terminated")), state.get("running")
    return ContainerObserved(
        waiting=_waiting(state.get("waiting")),
        running=running is not None,
        started=terminated.started if terminated else _optional_time((running or {}).get("startedAt")),
        terminated=terminated,
    )


def _terminated(state: Mapping[str, Any] | None) -> Terminated | None:
    if state is None:
        return None
    return Terminated(
        exit_code=int(state["exitCode"]),
        reason=state.get("reason") or "",
        message=state.get("message") or "",
        started=_optional_time(state.get("startedAt")),
        finished=_optional_time(state.get("finishedAt")),
    )


def _mounts(spec: Mapping[str, Any]) -> Iterator[str]:
    for volume in spec.get("volumes") or ():
        if "secret" in volume:
            yield f"Secret {volume['secret']['secretName']}"
        if "configMap" in volume and volume["name"] != JOB_VOLUME:
            yield f"ConfigMap {volume['configMap']['name']}"


def _waiting(state: Mapping[str, Any] | None) -> Waiting | None:
    if state is None:
        return None
    return Waiting(reason=state.get("reason") or "", message=state.get("message") or "")


def _kubelet_deadline(
    metadata: Mapping[str, Any], spec: Mapping[str, Any], status: Mapping[str, Any]
) -> datetime | None:
    """activeDeadlineSeconds from status.startTime on, or from the binding where the kubelet never reported a start."""
    seconds = spec.get("activeDeadlineSeconds")
    bound = _found(status, "PodScheduled", "True").get("lastTransitionTime")
    start = _time(status.get("startTime") or bound or metadata["creationTimestamp"])
    return None if seconds is None else start + timedelta(seconds=seconds) + _DEADLINE_ALLOWANCE


def _condition(status: Mapping[str, Any], type_: str, wanted: str) -> str | None:
    found = _found(status, type_, wanted)
    return (found.get("message") or found.get("reason") or type_) if found else None


def _found(status: Mapping[str, Any], type_: str, wanted: str) -> Mapping[str, Any]:
    """The condition of this type and status, else an empty one."""
    conditions: Iterable[Mapping[str, Any]] = status.get("conditions") or ()
    return next((each for each in conditions if each.get("type") == type_ and each.get("status") == wanted), {})


def _optional_time(text: str | None) -> datetime | None:
    """The time; None for the zero time, which a container carries whose creation failed."""
    if not text:
        return None
    moment = _time(text)
    return moment if moment.timestamp() > 0 else None


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
