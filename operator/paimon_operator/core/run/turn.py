"""A run's turn in a Pod that several runs share: the wait for it, its begin, and the report of its end.

A driver does nothing for a run before the operator has stored that the run's turn begins, as an attempt of the run.
Which Pods a run waits for is therefore not stored anywhere: whatever is forgotten or asked for twice, an attempt begins
once, and only while nothing else keeps the run from starting.
"""

from __future__ import annotations

from datetime import datetime

from paimon_operator.api.conditions import ConditionType, find
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Attempt, AttemptState, Phase, RunStatus
from paimon_operator.core.decision import Decision
from paimon_operator.core.launch.batch_pod import BatchMember, SharedPod, is_same_work, member_of
from paimon_operator.core.launch.driver_pod import Launch
from paimon_operator.core.run.observed import RunObserved, Sharing
from paimon_operator.core.run.transition import Step, in_phase, under_way, with_attempt
from paimon_operator.errors import RunEnvironmentError, SpecError


def while_following(observed: RunObserved) -> Step | None:
    """Waits for a turn after the active run of the table, whose driver Pod it may share; None for all other runs."""
    if not observed.is_following or observed.run.status.attempts or observed.sharing is None:
        return None
    return None if member(observed) is None else _wait(observed.run, observed.sharing)


def member(observed: RunObserved) -> BatchMember | None:
    """What the run brings into a shared Pod; None for one that has its Pod alone, or that cannot be launched.

    Another run can end the Pod, so a run with a single attempt has it for itself.
    """
    if observed.backoff_limit == 0:
        return None
    try:
        launch = observed.launch()
    except (SpecError, RunEnvironmentError):
        return None  # the launch ends the run, with this error
    return None if observed.table is None else member_of(observed.run, observed.table, launch)


def wait_or_begin(observed: RunObserved, now: datetime) -> Step | None:
    """Begins the turn that a driver asks for, or waits for one; None for a run that starts in a Pod of its own.

    Nothing else keeps the run from starting.
    """
    run, turn = observed.run, observed.turn
    asks = turn is not None and turn.asks
    if run.status.attempts or (observed.sharing is None and not asks):
        return None
    wanted = member(observed)
    if wanted is None:
        return None
    if turn is None or not turn.asks or not _has_job_of(turn.pod, wanted):
        return _wait(run, observed.sharing)
    return _begin(run, observed.launch(), turn.pod, now)


def _has_job_of(pod: SharedPod, wanted: BatchMember) -> bool:
    return pod.launch_hash == wanted.launch_hash and is_same_work(pod.jobs.get(wanted.run.uid), wanted.job)


def _begin(run: PaimonRun, launch: Launch, pod: SharedPod, now: datetime) -> Step:
    attempt = Attempt(
        number=1,
        state=AttemptState.RUNNING,
        pod=pod.name,
        pod_uid=pod.uid,
        shared=True,
        memory=pod.memory,
        cores=pod.cores,
        launched=now,
        started=now.replace(microsecond=0),
    )
    update = {"next_try": None, "engine": launch.job.engine, "spark": launch.execution}
    status = with_attempt(in_phase(run.status, Phase.RUNNING), attempt).model_copy(update=update)
    return Step(status=status, findings=under_way(Reason.RUNNING, turn_message(pod.name)))


def turn_message(pod: str) -> str:
    """Message of a run from the begin of its turn on. Another one after the begin would cost each turn a write."""
    return f"it is the run's turn in pod {pod}"


def _wait(run: PaimonRun, sharing: Sharing | None) -> Step:
    where = "a driver Pod together with other runs" if sharing is None or sharing.pod is None else f"pod {sharing.pod}"
    findings = under_way(Reason.WAITING_FOR_TURN, f"the run waits for its turn in {where}")
    return Step(status=in_phase(run.status, Phase.PENDING), findings=findings)


def reported(observed: RunObserved, attempt: Attempt) -> str | None:
    """The result that the driver reports of this turn; None without one."""
    turn = observed.turn
    is_its = turn is not None and attempt.shared is True and turn.pod.uid == attempt.pod_uid
    return turn.result if turn is not None and is_its else None


def waits_for_turn(decision: Decision[RunStatus]) -> bool:
    """Whether the run waits for a shared Pod."""
    found = None if decision.status is None else find(decision.status.conditions, ConditionType.SUCCEEDED)
    return found is not None and found.reason == Reason.WAITING_FOR_TURN


def begins_turn(run: PaimonRun, decision: Decision[RunStatus]) -> bool:
    """Whether a turn is about to begin: like a Pod, only when no driver of another run of the table runs."""
    attempts = () if decision.status is None else decision.status.attempts
    return len(attempts) > len(run.status.attempts) and attempts[-1].shared is True


def has_begun(status: RunStatus | None, pod_uid: str) -> bool:
    """Whether the run's turn in this Pod has begun and not ended."""
    last = status.attempts[-1] if status is not None and status.attempts else None
    return last is not None and last.shared is True and last.pod_uid == pod_uid and last.state is AttemptState.RUNNING
