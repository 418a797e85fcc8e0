"""The run controller's state machine: `step` takes what was observed of one run and decides what follows. Pure.

    Pending -> Launching -> Running -> Succeeded | Failed | Unknown
       ^___________|___________|  (the attempt failed, and its failure class is retried)

`RunState` is derived from the run, `PodState` from the Pod of the attempt in progress. `ON_RUN` and `ON_POD` map each
state to what follows. Between two attempts, and before a Pod is created, the first wait that applies decides.

The machine may be killed at any moment:
- An attempt is stored before its Pod is created, and the Pod's name follows from the attempt.
- The intent to stop is stored before the Pod is deleted.
- A turn in a shared Pod is stored before the driver learns that it has begun.
- A new attempt begins only after the last Pod has ended and was released, or is gone by a live read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from paimon_operator.api.run.status import Attempt, AttemptState, RunStatus
from paimon_operator.core.decision import Decision
from paimon_operator.core.run import attempt as attempts
from paimon_operator.core.run import in_progress, pod_release, turn, waits
from paimon_operator.core.run.completion import ENDED
from paimon_operator.core.run.observed import RunObserved, last_attempt
from paimon_operator.core.run.pod import PodObserved
from paimon_operator.core.run.start import launch
from paimon_operator.core.run.transition import MISSED_EVENT_REQUEUE, Step, to_decision
from paimon_operator.core.run.waits import Wait, first_wait
from paimon_operator.core.trusted_times import with_trusted_times

_AT_ONCE: Final = timedelta(0)
_UID_REQUEUE: Final = timedelta(milliseconds=200)
"""The table stores the run's UID within this time, which wakes the run; this covers a missed event."""
_UID_EXPECTED_WITHIN: Final = timedelta(seconds=5)
"""A table that has not stored the UID by then cannot be written, and the run is reconciled less often."""


class RunState(StrEnum):
    """Where a run is. The first member that applies counts."""

    DELETED = "its deletion was requested"
    FINISHED = "its phase never changes again"
    WITHOUT_FINALIZER = "nothing may be created for it yet"
    EXPECTED_BY_TABLE = "its table has started it and is about to store its UID"
    BETWEEN_ATTEMPTS = "no attempt is in progress"
    IN_ATTEMPT = "an attempt is stored as in progress"


class PodState(StrEnum):
    """What is observed of the Pod of the attempt in progress. The first member that applies counts."""

    MISSING = "no Pod of this name exists (404)"
    FOREIGN = "another object's Pod has the name"
    STOPPED = "no driver runs in it: it ended, or its kubelet's own deadline has passed"
    UNREACHABLE = "its node should have reported its end and has not"
    STOPPING = "the intent to stop it is stored"
    PENDING = "its container has not started"
    RUNNING = "its container has started"


def step(observed: RunObserved, now: datetime) -> Decision[RunStatus]:
    """What follows for the run. A finished run keeps its status; equal observations give an equal status."""
    status, untrusted = with_trusted_times(observed.run.status, now)
    observed = replace(observed, run=observed.run.model_copy(update={"status": status}))
    decision = ON_RUN[run_state(observed)](observed, now)
    return replace(decision, events=(*decision.events, *untrusted)) if untrusted else decision


def run_state(observed: RunObserved) -> RunState:
    """The state of the run, from its metadata, its phase and its last attempt."""
    run, attempt = observed.run, last_attempt(observed.run)
    if run.metadata.deletion_timestamp is not None:
        return RunState.DELETED
    if run.status.phase in ENDED:
        return RunState.FINISHED
    if not pod_release.has_finalizer(run):
        return RunState.WITHOUT_FINALIZER
    if attempt is None and observed.is_expected_by_table:
        return RunState.EXPECTED_BY_TABLE
    if attempt is None or attempt.state is AttemptState.ENDED:
        return RunState.BETWEEN_ATTEMPTS
    return RunState.IN_ATTEMPT


def pod_state(observed: RunObserved, attempt: Attempt, now: datetime) -> PodState:
    """The state of the attempt's Pod. `attempt` already holds what the Pod reports."""
    pod = observed.own_pod
    if pod is None:
        return PodState.MISSING if observed.pod is None else PodState.FOREIGN
    if pod.stopped_or_expired(now):
        return PodState.STOPPED
    if pod.node_unreachable(now):
        return PodState.UNREACHABLE
    if attempt.state is AttemptState.STOPPING:
        return PodState.STOPPING
    return PodState.PENDING if attempt.started is None else PodState.RUNNING


def _deleted(observed: RunObserved, now: datetime) -> Decision[RunStatus]:
    """A driver that has succeeded by itself is heard before its run goes: its table is to know what exists."""
    run, attempt = observed.run, last_attempt(observed.run)
    if attempt is None or attempt.state is AttemptState.ENDED or not pod_release.has_finalizer(run):
        return pod_release.before_deletion(observed, now)
    succeeded = in_progress.success(observed, attempt, now)
    return pod_release.before_deletion(observed, now) if succeeded is None else to_decision(run, succeeded, now)


def _add_finalizer(observed: RunObserved, _now: datetime) -> Decision[RunStatus]:
    return Decision(status=observed.run.status, finalizer="add", requeue_after=_AT_ONCE)


def _expect_uid(observed: RunObserved, now: datetime) -> Decision[RunStatus]:
    created = observed.run.metadata.creation_timestamp
    is_new = created is not None and now - created < _UID_EXPECTED_WITHIN
    return Decision(status=observed.run.status, requeue_after=_UID_REQUEUE if is_new else MISSED_EVENT_REQUEUE)


def _between_attempts(observed: RunObserved, now: datetime) -> Decision[RunStatus]:
    step = (
        turn.while_following(observed)
        or first_wait(BEFORE_NEXT_ATTEMPT, observed, now)
        or turn.wait_or_begin(observed, now)
        or launch(observed, None, now)
    )
    return to_decision(observed.run, step, now)


def _in_attempt(observed: RunObserved, now: datetime) -> Decision[RunStatus]:
    attempt = observed.run.status.attempts[-1]
    if (result := turn.reported(observed, attempt)) is not None:
        return to_decision(observed.run, in_progress.close_reported(observed, attempt, result, now), now)
    if observed.own_pod is not None:
        attempt = attempts.observe_pod(attempt, observed.own_pod)
    state = pod_state(observed, attempt, now)
    if observed.own_pod is not None:
        return to_decision(observed.run, ON_POD[state](observed, attempt, observed.own_pod, now), now)
    return to_decision(observed.run, WITHOUT_POD[state](observed, attempt, now), now)


def _without_pod(observed: RunObserved, attempt: Attempt, now: datetime) -> Step:
    """The Pod was stopped as intended; or it existed and was lost; or it was never created, and is created now."""
    if attempt.state is AttemptState.STOPPING:
        return in_progress.close_stopped(observed, attempt, now)
    if attempt.pod_uid is not None:
        return in_progress.close_lost(observed, attempt, now)
    return first_wait(BEFORE_A_POD, observed, now) or launch(observed, attempt, now)


BEFORE_A_POD: Final[tuple[Wait, ...]] = (
    waits.until_named_by_table,
    waits.while_giving_way,
    waits.until_claim_is_free,
    waits.until_other_drivers_end,
)
"""At most one driver per table: checked before every creation of a Pod."""
BEFORE_NEXT_ATTEMPT: Final[tuple[Wait, ...]] = (
    waits.until_last_pod_is_released,
    waits.until_executors_end,
    waits.refuse_type_of_user,
    *BEFORE_A_POD,
    waits.until_next_try,
)
ON_RUN: Final[Mapping[RunState, Callable[[RunObserved, datetime], Decision[RunStatus]]]] = {
    RunState.DELETED: _deleted,
    RunState.FINISHED: pod_release.after_end,
    RunState.WITHOUT_FINALIZER: _add_finalizer,
    RunState.EXPECTED_BY_TABLE: _expect_uid,
    RunState.BETWEEN_ATTEMPTS: _between_attempts,
    RunState.IN_ATTEMPT: _in_attempt,
}
WITHOUT_POD: Final[Mapping[PodState, Callable[[RunObserved, Attempt, datetime], Step]]] = {
    PodState.MISSING: _without_pod,
    PodState.FOREIGN: in_progress.wait_for_name,
}
ON_POD: Final[Mapping[PodState, Callable[[RunObserved, Attempt, PodObserved, datetime], Step]]] = {
    PodState.STOPPED: in_progress.read_end,
    PodState.UNREACHABLE: in_progress.wait_for_node,
    PodState.STOPPING: in_progress.stop,
    PodState.PENDING: in_progress.wait_for_start,
    PodState.RUNNING: in_progress.wait_for_end,
}
