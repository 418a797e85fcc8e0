"""The run controller's state machine: `step` looks at one run and says what is to be done next. Pure.

    Pending -> Launching -> Running -> Succeeded | Failed | Unknown
       ^___________|___________|  (a failed attempt that is worth another one)

What makes it safe to be killed at any moment: an attempt is written down before its Pod is made, its Pod's name follows
from it, stopping is written down before the Pod is deleted, and a new attempt begins only after a live read found the
Pod of the last one ended (its kubelet said so) and let go, or gone.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Attempt, AttemptState, FailureClass, Phase, RunStatus
from paimon_operator.core.conditions import Finding
from paimon_operator.core.decision import Decision
from paimon_operator.core.run import attempt as attempts
from paimon_operator.core.run import outcome as outcomes
from paimon_operator.core.run import pod_release
from paimon_operator.core.run.completion import ENDED, after_attempt
from paimon_operator.core.run.observed import RunObserved, last_attempt
from paimon_operator.core.run.outcome import AttemptFailure, Success
from paimon_operator.core.run.pod import PodObserved, PodPhase
from paimon_operator.core.run.start import launch, not_for_users, not_its_turn
from paimon_operator.core.run.transition import (
    LOOK_AGAIN,
    Step,
    blocked_findings,
    decide,
    in_phase,
    under_way,
    with_attempt,
)

_HELD_UP_BY: Final = {Reason.SECRET_NOT_FOUND, Reason.IMAGE_PULL_FAILED, Reason.POD_NOT_STARTED}
"""Waits of a Pod that only a human ends. A node may come by itself."""
_SOON: Final = timedelta(milliseconds=200)
"""The table is about to write down this run's UID, which wakes the run; a second look in case that was missed."""
_AWAITED: Final = timedelta(seconds=5)
"""How long a run is looked at so often. A table that has not answered by then cannot be written, perhaps for long."""


def step(observed: RunObserved, now: datetime) -> Decision[RunStatus]:
    """What to do about the run. A run that is over keeps its status for good; the same look gives the same status."""
    run = observed.run
    if run.metadata.deletion_timestamp is not None:
        return pod_release.before_deletion(observed, now)
    if run.status.phase in ENDED:
        return pod_release.after_end(observed, now)
    if not pod_release.has_finalizer(run):
        return Decision(status=run.status, finalizer="add", requeue_after=timedelta(0))
    attempt = last_attempt(run)
    if attempt is None and observed.is_awaited:
        return Decision(status=run.status, requeue_after=_until_answered(run, now))
    if attempt is None or attempt.state is AttemptState.ENDED:
        return decide(run, _between_attempts(observed, attempt, now), now)
    return decide(run, _during_attempt(observed, attempt, now), now)


def _until_answered(run: PaimonRun, now: datetime) -> timedelta:
    created = run.metadata.creation_timestamp
    return _SOON if created is not None and now - created < _AWAITED else LOOK_AGAIN


def _between_attempts(observed: RunObserved, attempt: Attempt | None, now: datetime) -> Step:
    """No attempt is under way: start the next one, unless something stands in the way."""
    run = observed.run
    if attempt is not None and (unfinished := _last_pod(observed, attempt, now) or _executors(observed, now)):
        return unfinished
    if blocked := not_for_users(run, now) or not_its_turn(observed, now):
        return blocked
    next_try = run.status.next_try
    if attempt is not None and next_try is not None and now < next_try:
        return Step(status=run.status, findings=_backing_off(attempt), requeue_after=next_try - now)
    return launch(observed, None, now)


def _last_pod(observed: RunObserved, attempt: Attempt, now: datetime) -> Step | None:
    """What has to become of the ended attempt's Pod before anything else; None when it is let go."""
    run, pod = observed.run, observed.own_pod
    if pod is None:
        return None
    if not pod.stopped_or_expired(now):
        # Found gone once, and here again: a create that was still on its way. Two drivers must never be alive.
        stopping = under_way(Reason.STOPPING, f"pod {pod.name} must end before the next attempt")
        findings = pod_release.silence(observed, pod) if pod.node_unreachable(now) else stopping
        stop = pod_release.delete(pod)
        return Step(status=run.status, findings=pod_release.with_refusal(observed, findings, stop), actions=stop)
    actions = pod_release.release(pod)
    findings = pod_release.with_refusal(observed, _backing_off(attempt), actions)
    return Step(status=run.status, findings=findings, actions=actions) if actions else None


def _executors(observed: RunObserved, now: datetime) -> Step | None:
    """They commit nothing, but they write files and hold CPUs that the next attempt needs."""
    left = pod_release.left_behind(observed, now)
    if left is None:
        return None
    names = pod_release.named(observed.executors)
    stopping = under_way(Reason.STOPPING, f"executors of the last attempt must end before the next one: {names}")
    findings = pod_release.executors_silence(observed, now) or stopping
    return Step(status=observed.run.status, findings=pod_release.with_refusal(observed, findings, left), actions=left)


def _backing_off(attempt: Attempt) -> tuple[Finding, ...]:
    return under_way(Reason.BACKING_OFF, f"attempt {attempt.number} failed: {attempt.message}")


def _during_attempt(observed: RunObserved, attempt: Attempt, now: datetime) -> Step:
    """An attempt is under way, as far as the status knows: see what became of its Pod."""
    run, pod = observed.run, observed.pod
    if pod is None:
        return _without_pod(observed, attempt, now)
    if observed.own_pod is None:
        message = f"pod {pod.name} belongs to another object; the run goes on once it is gone"
        return Step(status=run.status, findings=blocked_findings(Reason.NAME_TAKEN, message))
    attempt = attempts.observe_pod(attempt, pod)
    if pod.node_unreachable(now) or pod.stopped_or_expired(now):
        return _read_end(observed, attempt, pod, now) if pod.stopped_or_expired(now) else _wait(observed, attempt, pod)
    if attempt.state is AttemptState.STOPPING:
        return _stop(observed, attempt, pod)
    if attempt.started is None:
        return _pending(observed, attempt, pod, now)
    return _running(observed, attempt, attempt.started, pod, now)


def _without_pod(observed: RunObserved, attempt: Attempt, now: datetime) -> Step:
    """404. Stopped as intended; or made, seen and lost; or never made."""
    if attempt.state is AttemptState.STOPPING:
        return _close(observed, attempt, attempts.recorded(attempt), now)
    if attempt.pod_uid is not None:
        return _close(observed, attempt, outcomes.lost(attempt.pod), now)
    return not_its_turn(observed, now) or launch(observed, attempt, now)


def _wait(observed: RunObserved, attempt: Attempt, pod: PodObserved) -> Step:
    """The phase stays: nobody knows better. A word of the node, or somebody's who takes the Pod away, ends the wait."""
    return Step(status=with_attempt(observed.run.status, attempt), findings=pod_release.silence(observed, pod))


def _read_end(observed: RunObserved, attempt: Attempt, pod: PodObserved, now: datetime) -> Step:
    """The Pod is let go in the same step, once its end is stored."""
    end_known, run = pod.end_known, observed.run.metadata.name
    outcome = outcomes.classify(pod, run) if end_known else outcomes.abandoned(pod.name)
    killed_by_us = attempt.state is AttemptState.STOPPING and isinstance(outcome, AttemptFailure)
    if killed_by_us and not _forbids_repetition(outcome):
        outcome = attempts.recorded(attempt)
    return replace(_close(observed, attempt, outcome, now), actions=pod_release.release(pod))


def _forbids_repetition(outcome: Success | AttemptFailure) -> bool:
    return isinstance(outcome, AttemptFailure) and outcome.failure_class is FailureClass.RESULT_UNKNOWN


def _close(observed: RunObserved, attempt: Attempt, outcome: Success | AttemptFailure, now: datetime) -> Step:
    return after_attempt(observed.run, attempt, outcome, backoff_limit=observed.backoff_limit, now=now)


def _pending(observed: RunObserved, attempt: Attempt, pod: PodObserved, now: datetime) -> Step:
    """The container has not started. No failed attempt, but not for ever: it has its own time-out."""
    reason, message = attempts.why_pending(attempt, pod)
    left = pod.created + observed.limits.pending_timeout - now
    if left <= timedelta(0):
        told = f"the Pod did not start within {_duration(observed.limits.pending_timeout)}: {message}"
        why = Reason.POD_NOT_STARTED if reason is Reason.POD_PENDING else reason
        failure = AttemptFailure(failure_class=FailureClass.ENVIRONMENT, reason=why, message=told)
        return _stop(observed, attempts.stopping(attempt, failure), pod)
    status = with_attempt(in_phase(observed.run.status, Phase.LAUNCHING), attempts.waiting(attempt, reason, message))
    found = blocked_findings(reason, message) if reason in _HELD_UP_BY else under_way(reason, message)
    return Step(status=status, findings=found, requeue_after=_again(pod, left))


def _running(observed: RunObserved, attempt: Attempt, started: datetime, pod: PodObserved, now: datetime) -> Step:
    left = started + observed.active_deadline - now
    if left <= timedelta(0):
        message = (
            f"the container ran longer than activeDeadline, {_duration(observed.active_deadline)}, and was stopped"
        )
        failure = AttemptFailure(failure_class=FailureClass.DEADLINE, reason=Reason.DEADLINE_EXCEEDED, message=message)
        return _stop(observed, attempts.stopping(attempt, failure), pod)
    status = with_attempt(in_phase(observed.run.status, Phase.RUNNING), attempts.waiting(attempt, None, None))
    return Step(status=status, findings=under_way(Reason.RUNNING, _at_work(pod)), requeue_after=_again(pod, left))


def _again(pod: PodObserved, left: timedelta) -> timedelta:
    """No event tells that a node has fallen silent over a deleted Pod."""
    return min(left, LOOK_AGAIN) if pod.deleting else left


def _stop(observed: RunObserved, attempt: Attempt, pod: PodObserved) -> Step:
    """The intent is written down; the Pod is asked to go, and what comes next waits until it has ended or is gone."""
    findings = under_way(Reason.STOPPING, f"pod {pod.name} is being stopped: {attempt.message}")
    stop = pod_release.delete(pod)
    status = with_attempt(observed.run.status, attempt)
    return Step(status=status, findings=pod_release.with_refusal(observed, findings, stop), actions=stop)


def _at_work(pod: PodObserved) -> str:
    if pod.deleting:
        return f"pod {pod.name} is being deleted by someone else; the run goes on once it has ended"
    if pod.phase is PodPhase.UNKNOWN:
        return f"the node of pod {pod.name} does not answer"
    return f"pod {pod.name} is at work"


def _duration(delta: timedelta) -> str:
    seconds = int(delta.total_seconds())
    return f"{seconds // 60} min" if seconds % 60 == 0 else f"{seconds} s"
