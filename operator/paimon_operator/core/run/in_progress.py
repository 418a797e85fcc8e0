"""What follows for an attempt in progress, for each state of its Pod. `machine` decides which function applies."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import Attempt, AttemptState, FailureClass, Phase
from paimon_operator.core.decision import Refusal
from paimon_operator.core.run import attempt as attempts
from paimon_operator.core.run import never_started, pod_release, turn
from paimon_operator.core.run import outcome as outcomes
from paimon_operator.core.run.completion import failed, finish_attempt
from paimon_operator.core.run.observed import RunObserved
from paimon_operator.core.run.outcome import AttemptFailure, Success
from paimon_operator.core.run.pod import PodObserved, PodPhase
from paimon_operator.core.run.transition import (
    MISSED_EVENT_REQUEUE,
    Step,
    blocked_findings,
    in_phase,
    launching,
    under_way,
    with_attempt,
)

_NEEDS_A_HUMAN: Final = {Reason.SECRET_NOT_FOUND, Reason.IMAGE_PULL_FAILED, Reason.POD_NOT_STARTED}
"""Reasons of a pending Pod that only a human removes. An unschedulable Pod may find a node by itself."""
_REPORTED_AFTER: Final = timedelta(seconds=5)
"""A Pod that starts sooner was never reported as pending: that saves a write of each run."""


def close_stopped(observed: RunObserved, attempt: Attempt, now: datetime) -> Step:
    """The Pod is gone as intended: the attempt ends with the failure that was recorded when it was stopped."""
    return _close(observed, attempt, attempts.recorded(attempt), now)


def close_lost(observed: RunObserved, attempt: Attempt, now: datetime) -> Step:
    """The Pod existed and is gone before its result was read: the attempt ends as lost."""
    return _close(observed, attempt, outcomes.lost(attempt.pod), now)


def close_reported(observed: RunObserved, attempt: Attempt, result: str, now: datetime) -> Step:
    """The driver of a shared Pod has reported how the turn ended. The Pod goes on with other runs."""
    outcome = outcomes.reported(result, observed.run.metadata.name)
    return _close(observed, attempt, _outcome_of_stop(attempt, outcome), now)


def success(observed: RunObserved, attempt: Attempt, now: datetime) -> Step | None:
    """Ends the attempt if its driver has succeeded. None if it has not, or nothing is known."""
    pod, result = observed.own_pod, turn.reported(observed, attempt)
    if result is not None:
        step = close_reported(observed, attempt, result, now)
    elif pod is not None and pod.end_known:
        step = read_end(observed, attempts.observe_pod(attempt, pod), pod, now)
    else:
        return None
    return step if step.status.phase is Phase.SUCCEEDED else None


def wait_for_name(observed: RunObserved, attempt: Attempt, now: datetime) -> Step:
    """Another object's Pod has the name that this attempt needs. The shared Pod of a turn has existed before."""
    if attempt.shared:
        return close_lost(observed, attempt, now)
    message = f"pod {attempt.pod} belongs to another object; the run continues once that Pod is deleted"
    refusal = Refusal(reason=Reason.NAME_TAKEN, message=message)
    failure = never_started.unstartable(
        observed.run, attempt, refusal, now, pending_timeout=observed.limits.pending_timeout
    )
    if failure is not None:
        ended = with_attempt(observed.run.status, attempts.record_end(attempt, failure, now))
        return failed(ended, failure, now)
    return Step(status=observed.run.status, findings=blocked_findings(Reason.NAME_TAKEN, message))


def wait_for_node(observed: RunObserved, attempt: Attempt, pod: PodObserved, _now: datetime) -> Step:
    """Keep the phase until the kubelet reports the end, its own deadline passes, or someone removes the Pod."""
    return Step(status=with_attempt(observed.run.status, attempt), findings=pod_release.silence(observed, pod))


def read_end(observed: RunObserved, attempt: Attempt, pod: PodObserved, now: datetime) -> Step:
    """Ends the attempt and releases the Pod, which happens after the end is stored.

    A shared Pod is released once no run reads its end any more (runtime/shared_pods.py).
    """
    outcome = _outcome_of_stop(attempt, _outcome_of(observed, attempt, pod))
    actions = () if attempt.shared else pod_release.release(pod)
    return replace(_close(observed, attempt, outcome, now), actions=actions)


def wait_for_start(observed: RunObserved, attempt: Attempt, pod: PodObserved, now: datetime) -> Step:
    """The container has not started. The Pod is stopped when it is older than the pending timeout."""
    reason, message = attempts.why_pending(attempt, pod)
    left = pod.created + observed.limits.pending_timeout - now
    if left <= timedelta(0):
        failure = _not_started(reason, message, observed.limits.pending_timeout)
        return stop(observed, attempts.stopping(attempt, failure), pod, now)
    unreported = attempt.launched + _REPORTED_AFTER - now
    is_usual = attempt.reason is None and reason is Reason.POD_PENDING and not pod.deleting
    if is_usual and unreported > timedelta(0):
        return Step(status=observed.run.status, findings=launching(pod.name), requeue_after=min(unreported, left))
    status = with_attempt(in_phase(observed.run.status, Phase.LAUNCHING), attempts.waiting(attempt, reason, message))
    found = blocked_findings(reason, message) if reason in _NEEDS_A_HUMAN else under_way(reason, message)
    return Step(status=status, findings=found, requeue_after=_requeue(pod, left))


def wait_for_end(observed: RunObserved, attempt: Attempt, pod: PodObserved, now: datetime) -> Step:
    """The container has started. The Pod is stopped when the container runs longer than the active deadline."""
    left = (attempt.started or now) + observed.active_deadline - now
    if left <= timedelta(0):
        return stop(observed, attempts.stopping(attempt, _deadline_exceeded(observed.active_deadline)), pod, now)
    status = with_attempt(in_phase(observed.run.status, Phase.RUNNING), attempts.waiting(attempt, None, None))
    return Step(
        status=status, findings=under_way(Reason.RUNNING, _progress(attempt, pod)), requeue_after=_requeue(pod, left)
    )


def stop(observed: RunObserved, attempt: Attempt, pod: PodObserved, _now: datetime) -> Step:
    """Stores the intent, then deletes the Pod. The next attempt waits until the Pod has ended or is gone."""
    findings = under_way(Reason.STOPPING, f"pod {pod.name} is being stopped: {attempt.message}")
    actions = pod_release.delete(pod)
    status = with_attempt(observed.run.status, attempt)
    return Step(status=status, findings=pod_release.with_refusal(observed, findings, actions), actions=actions)


def _outcome_of(observed: RunObserved, attempt: Attempt, pod: PodObserved) -> Success | AttemptFailure:
    if pod.end_known and attempt.shared:
        return outcomes.classify_turn(pod, observed.run.metadata.name)
    if pod.end_known:
        return outcomes.classify(pod, observed.run.metadata.name)
    return outcomes.abandoned(pod.name)


def _outcome_of_stop(attempt: Attempt, outcome: Success | AttemptFailure) -> Success | AttemptFailure:
    """The outcome; for a Pod that we stopped, the recorded failure, unless the driver succeeded or may have committed.

    A driver that reports ResultUnknown forbids a retry, whatever it was stopped for.
    """
    if attempt.state is not AttemptState.STOPPING or isinstance(outcome, Success):
        return outcome
    if outcome.failure_class is FailureClass.RESULT_UNKNOWN:
        return outcome
    return attempts.recorded(attempt)


def _close(observed: RunObserved, attempt: Attempt, outcome: Success | AttemptFailure, now: datetime) -> Step:
    return finish_attempt(observed.run, attempt, outcome, backoff_limit=observed.backoff_limit, now=now)


def _not_started(reason: Reason, message: str, timeout: timedelta) -> AttemptFailure:
    why = Reason.POD_NOT_STARTED if reason is Reason.POD_PENDING else reason
    message = f"the Pod did not start within {_duration(timeout)}: {message}"
    return AttemptFailure(failure_class=FailureClass.ENVIRONMENT, reason=why, message=message)


def _deadline_exceeded(deadline: timedelta) -> AttemptFailure:
    message = f"the container ran longer than activeDeadline, {_duration(deadline)}, and was stopped"
    return AttemptFailure(failure_class=FailureClass.DEADLINE, reason=Reason.DEADLINE_EXCEEDED, message=message)


def _requeue(pod: PodObserved, left: timedelta) -> timedelta:
    """No event reports that the node of a deleted Pod has become unreachable, so a deleted Pod is checked often."""
    return min(left, MISSED_EVENT_REQUEUE) if pod.deleting else left


def _progress(attempt: Attempt, pod: PodObserved) -> str:
    if pod.deleting:
        return f"pod {pod.name} is being deleted by someone else; the run continues once the Pod has ended"
    if pod.phase is PodPhase.UNKNOWN:
        return f"the node of pod {pod.name} does not answer"
    return turn.turn_message(pod.name) if attempt.shared else f"pod {pod.name} is running"


def _duration(delta: timedelta) -> str:
    seconds = int(delta.total_seconds())
    return f"{seconds // 60} min" if seconds % 60 == 0 else f"{seconds} s"
