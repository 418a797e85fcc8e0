"""One attempt of a run, which is one driver Pod, from the stored intent to its end: transitions of `Attempt`."""

from __future__ import annotations

from datetime import datetime

from paimon_operator.api.base import MESSAGE_LENGTH, truncated
from paimon_operator.api.reasons import Reason, known_reason
from paimon_operator.api.run.status import Attempt, AttemptState, FailureClass
from paimon_operator.core.run.outcome import AttemptFailure, Success
from paimon_operator.core.run.pod import PodObserved

_IMAGE_REASONS = {
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "ImageInspectError",
    "RegistryUnavailable",
}
_CONFIG_ERROR = "CreateContainerConfigError"
_NOT_READ_YET = "failed to sync"
"""Begins the kubelet's message while it has not read a Secret or ConfigMap yet. Whether that exists is unknown."""


def observe_pod(attempt: Attempt, pod: PodObserved) -> Attempt:
    """The attempt with what its Pod reports: UID, start, end and exit code. A turn has begun later than its Pod."""
    started = pod.container.started or attempt.started
    started = attempt.started if attempt.shared else started
    running = attempt.state is AttemptState.LAUNCHING and started is not None
    ended = pod.container.terminated
    return attempt.model_copy(
        update={
            "pod_uid": pod.uid,
            "started": _whole(started),
            "finished": _whole(ended.finished) if ended else attempt.finished,
            "exit_code": min(ended.exit_code, 255) if ended else attempt.exit_code,
            "state": AttemptState.RUNNING if running else attempt.state,
        }
    )


def waiting(attempt: Attempt, reason: Reason | None, message: str | None) -> Attempt:
    """The attempt with what its Pod waits for; None and None once the Pod waits no longer."""
    word = None if reason is None else reason.value
    text = None if message is None else truncated(message, MESSAGE_LENGTH)
    return attempt.model_copy(update={"reason": word, "message": text})


def stopping(attempt: Attempt, failure: AttemptFailure) -> Attempt:
    """The attempt with the intent to stop its Pod, stored before the deletion, and the failure that it ends with."""
    return attempt.model_copy(update={"state": AttemptState.STOPPING, **_why(failure)})


def record_end(attempt: Attempt, outcome: Success | AttemptFailure, now: datetime) -> Attempt:
    """The attempt after its end was read. Called once per attempt: an ended attempt is not observed again."""
    why = (
        _why(outcome)
        if isinstance(outcome, AttemptFailure)
        else {"failure_class": None, "reason": None, "message": None}
    )
    finished = attempt.finished or (_whole(now) if attempt.started else None)
    return attempt.model_copy(update={"state": AttemptState.ENDED, "finished": finished, **why})


def recorded(attempt: Attempt) -> AttemptFailure:
    """The failure that was stored with the intent to stop this attempt."""
    return AttemptFailure(
        failure_class=attempt.failure_class or FailureClass.INFRASTRUCTURE,
        reason=known_reason(attempt.reason, Reason.DRIVER_FAILED),
        message=attempt.message or "",
    )


def why_pending(attempt: Attempt, pod: PodObserved) -> tuple[Reason, str]:
    """The reason and message for a Pod whose container has not started."""
    if pod.container.waiting is not None and pod.container.waiting.reason in _IMAGE_REASONS:
        if pod.container.waiting.reason == "ImagePullBackOff" and attempt.reason == Reason.IMAGE_PULL_FAILED:
            # The kubelet alternates between the cause and "Back-off". Keeping the cause keeps the status unchanged.
            return Reason.IMAGE_PULL_FAILED, attempt.message or ""
        return Reason.IMAGE_PULL_FAILED, f"the Spark image cannot be pulled: {_waiting_message(pod)}"
    if pod.container.waiting is not None and pod.container.waiting.reason == _CONFIG_ERROR:
        return _why_not_configured(pod)
    if pod.unschedulable is not None:
        return Reason.UNSCHEDULABLE, f"no node takes pod {pod.name}: {pod.unschedulable}"
    # Only an Event reports a volume that cannot be mounted, so the message lists all of them.
    needed = f"; it cannot without {', '.join(pod.mounts)}, each with its keys" if pod.mounts else ""
    return Reason.POD_PENDING, f"pod {pod.name} is waiting for its container to start{needed}"


def _why(failure: AttemptFailure) -> dict[str, object]:
    return {
        "failure_class": failure.failure_class,
        "reason": failure.reason.value,
        "message": truncated(failure.message, MESSAGE_LENGTH),
    }


def _why_not_configured(pod: PodObserved) -> tuple[Reason, str]:
    message = _waiting_message(pod)
    if message.startswith(_NOT_READ_YET):
        return Reason.POD_PENDING, f"pod {pod.name} waits for its node: {message}"
    if "secret" in message.lower():
        return (
            Reason.SECRET_NOT_FOUND,
            f"the Pod cannot start: {message}. Create the Secret that the catalog names",
        )
    return Reason.POD_NOT_STARTED, f"the Pod cannot start: {message}"


def _waiting_message(pod: PodObserved) -> str:
    waiting_for = pod.container.waiting
    return "" if waiting_for is None else (waiting_for.message or waiting_for.reason)


def _whole(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.replace(microsecond=0)
