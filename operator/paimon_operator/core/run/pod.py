"""What the JSON of a driver Pod says, read into types. Facts only: `failures` and `runs` decide what they mean."""

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

_PATIENCE: Final = timedelta(minutes=1)
"""What a kubelet may take, beyond a Pod's grace period, to say how a deleted Pod ended."""
_LATE: Final = timedelta(minutes=2)
"""How late a kubelet enforces a deadline: it looks now and then, what it kills has its grace period, clocks differ."""
_COLLECTED: Final = "DeletionByPodGC"
_OF_ITS_OWN: Final = frozenset(ExitCode)
"""Exit codes by which a driver ends by itself. Why others ended it is known only with the Pod's phase and reason."""


class PodPhase(StrEnum):
    """`status.phase` of a Pod."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """Why a container does not run yet."""

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
class PodObserved:
    """A Pod as a live GET returned it."""

    name: str
    uid: str
    controller_uid: str | None
    executor: bool
    """A driver made it; it does a driver's work and commits nothing."""
    finalizers: tuple[str, ...]
    phase: PodPhase
    created: datetime
    deletion_deadline: datetime | None
    """When its grace period ends, once its deletion was asked for."""
    node: str | None
    """Who got it; the API server gives a Pod that is being deleted to nobody any more."""
    kubelet_deadline: datetime | None
    """When even a kubelet that is cut off has stopped it, by activeDeadlineSeconds; None without such a deadline."""
    reason: str
    """The Pod's own reason (`Evicted`, `DeadlineExceeded`, `NodeLost`), empty mostly."""
    message: str
    unschedulable: str | None
    """The scheduler's sentence while it finds no node."""
    disruption: str | None
    """The message of condition DisruptionTarget: who pushed the Pod off its node."""
    failed_by_control_plane: bool
    """The control plane gave the node up, and says so in the Pod; that stops no container."""
    waiting: Waiting | None
    mounts: tuple[str, ...]
    """The Secrets and ConfigMaps that its containers cannot start without, the run's own aside."""
    running: bool
    """The container runs, as far as its kubelet has said."""
    started: datetime | None
    """When the driver container started, None while it never did."""
    terminated: Terminated | None

    @property
    def deleting(self) -> bool:
        """Its deletion was asked for."""
        return self.deletion_deadline is not None

    @property
    def has_finalizer(self) -> bool:
        """It stays until we let it go."""
        return FINALIZER in self.finalizers

    @property
    def ended(self) -> bool:
        """Nothing of this Pod runs any more, nor ever will: its kubelet said so, or no kubelet ever gets it.

        A Failed Pod without container statuses (evicted, refused by its node) counts; one that only the control plane
        has failed does not, since its container may run on.
        """
        terminal = self.phase in (PodPhase.SUCCEEDED, PodPhase.FAILED)
        if self.node is None:
            return terminal or self.deleting
        if self.terminated is not None and self.terminated.exit_code in _OF_ITS_OWN:
            return True  # the phase follows a second later
        return terminal and (self.terminated is not None or not (self.running or self.failed_by_control_plane))

    @property
    def end_known(self) -> bool:
        """Something is known of its end."""
        return self.ended or self.terminated is not None

    @property
    def overdue_from(self) -> datetime | None:
        """From when on a deleted Pod's kubelet should have said how it ended."""
        return None if self.deletion_deadline is None else self.deletion_deadline + _PATIENCE

    def node_unreachable(self, now: datetime) -> bool:
        """Its kubelet should have said how it ended, and has not: the node is dead, or cut off and at work."""
        if self.ended:
            return False
        overdue = self.overdue_from is not None and now >= self.overdue_from
        return overdue or self.phase is PodPhase.FAILED

    def stopped_or_expired(self, now: datetime) -> bool:
        """No driver of this Pod is at work any more: it has ended, or has been silent beyond its kubelet's deadline."""
        if not self.node_unreachable(now):
            return self.ended
        return self.end_known or (self.kubelet_deadline is not None and now >= self.kubelet_deadline)


def read_pod(body: Manifest) -> PodObserved:
    """The facts in a Pod's JSON. Absent parts are normal: an evicted Pod has no container statuses at all."""
    metadata, spec, status = body["metadata"], body.get("spec") or {}, body.get("status") or {}
    state = _container_state(status)
    terminated = _terminated(state.get("terminated"))
    running = state.get("running")
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
        kubelet_deadline=_stopped_by(metadata, spec, status),
        reason=reason,
        message=status.get("message") or "",
        unschedulable=_condition(status, "PodScheduled", "False"),
        disruption=_condition(status, "DisruptionTarget", "True"),
        failed_by_control_plane=reason == "NodeLost"
        or _found(status, "DisruptionTarget", "True").get("reason") == _COLLECTED,
        waiting=_waiting(state.get("waiting")),
        mounts=tuple(_mounts(spec)),
        running=running is not None,
        started=terminated.started if terminated else _optional_time((running or {}).get("startedAt")),
        terminated=terminated,
    )


def _container_state(status: Mapping[str, Any]) -> Mapping[str, Any]:
    statuses: Iterable[Mapping[str, Any]] = status.get("containerStatuses") or ()
    driver: Mapping[str, Any] = next((entry for entry in statuses if entry.get("name") == CONTAINER), {})
    state: Mapping[str, Any] = driver.get("state") or {}
    return state


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


def _stopped_by(metadata: Mapping[str, Any], spec: Mapping[str, Any], status: Mapping[str, Any]) -> datetime | None:
    """The kubelet counts from when it first saw the Pod; if that never reached us, it was soon after it got it."""
    seconds = spec.get("activeDeadlineSeconds")
    bound = _found(status, "PodScheduled", "True").get("lastTransitionTime")
    begun = _time(status.get("startTime") or bound or metadata["creationTimestamp"])
    return None if seconds is None else begun + timedelta(seconds=seconds) + _LATE


def _condition(status: Mapping[str, Any], type_: str, wanted: str) -> str | None:
    found = _found(status, type_, wanted)
    return (found.get("message") or found.get("reason") or type_) if found else None


def _found(status: Mapping[str, Any], type_: str, wanted: str) -> Mapping[str, Any]:
    """The condition if it has the wanted status, else an empty one."""
    conditions: Iterable[Mapping[str, Any]] = status.get("conditions") or ()
    return next((each for each in conditions if each.get("type") == type_ and each.get("status") == wanted), {})


def _optional_time(text: str | None) -> datetime | None:
    """A container that never started (failed in its creation) may carry the zero time, which is no time."""
    if not text:
        return None
    moment = _time(text)
    return moment if moment.timestamp() > 0 else None


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
