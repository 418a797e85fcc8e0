"""What the JSON of a driver Pod says, read into types. Facts only: `failures` and `runs` decide what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from paimon_operator.core.naming import controller_uid
from paimon_operator.core.ports import Manifest

CONTAINER: Final = "driver"
"""The one container whose end is the attempt's end; a sidecar that a cluster injects does not count."""


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
    phase: PodPhase
    created: datetime
    deleting: bool
    reason: str
    """The Pod's own reason (`Evicted`, `DeadlineExceeded`, `NodeLost`), empty mostly."""
    message: str
    unschedulable: str | None
    """The scheduler's sentence while it finds no node."""
    disruption: str | None
    """The message of condition DisruptionTarget: who pushed the Pod off its node."""
    waiting: Waiting | None
    started: datetime | None
    """When the driver container started, None while it never did."""
    terminated: Terminated | None

    @property
    def terminal(self) -> bool:
        """Nothing of this Pod runs any more, nor ever will. A Failed Pod without container statuses counts too."""
        return self.phase in (PodPhase.SUCCEEDED, PodPhase.FAILED)


def read_pod(body: Manifest) -> PodObserved:
    """The facts in a Pod's JSON. Absent parts are normal: an evicted Pod has no container statuses at all."""
    metadata, status = body["metadata"], body.get("status") or {}
    state = _container_state(status)
    terminated = _terminated(state.get("terminated"))
    running = state.get("running") or {}
    return PodObserved(
        name=metadata["name"],
        uid=metadata["uid"],
        controller_uid=controller_uid(body),
        phase=PodPhase(status.get("phase") or PodPhase.PENDING),
        created=_time(metadata["creationTimestamp"]),
        deleting="deletionTimestamp" in metadata,
        reason=status.get("reason") or "",
        message=status.get("message") or "",
        unschedulable=_condition(status, "PodScheduled", "False"),
        disruption=_condition(status, "DisruptionTarget", "True"),
        waiting=_waiting(state.get("waiting")),
        started=terminated.started if terminated else _optional_time(running.get("startedAt")),
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


def _waiting(state: Mapping[str, Any] | None) -> Waiting | None:
    if state is None:
        return None
    return Waiting(reason=state.get("reason") or "", message=state.get("message") or "")


def _condition(status: Mapping[str, Any], type_: str, wanted: str) -> str | None:
    conditions: Iterable[Mapping[str, Any]] = status.get("conditions") or ()
    found = next((each for each in conditions if each.get("type") == type_ and each.get("status") == wanted), None)
    return None if found is None else (found.get("message") or found.get("reason") or type_)


def _optional_time(text: str | None) -> datetime | None:
    """A container that never started (failed in its creation) may carry the zero time, which is no time."""
    if not text:
        return None
    moment = _time(text)
    return moment if moment.timestamp() > 0 else None


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
