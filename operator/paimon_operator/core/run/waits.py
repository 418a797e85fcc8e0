"""What a run waits for before its next Pod is created. Each wait returns a step while it applies, and None after.

`machine` lists which waits apply, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from paimon_operator.api.conditions import ConditionStatus, ConditionType, find
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Attempt, FailureClass, Phase
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core import backoff
from paimon_operator.core.conditions import Finding
from paimon_operator.core.operations import registry
from paimon_operator.core.run import never_started, pod_release
from paimon_operator.core.run.completion import failed
from paimon_operator.core.run.observed import RunObserved, last_attempt
from paimon_operator.core.run.outcome import AttemptFailure
from paimon_operator.core.run.pod import PodObserved
from paimon_operator.core.run.transition import Step, blocked_findings, in_phase, under_way

Wait = Callable[[RunObserved, datetime], Step | None]


def first_wait(waits: Sequence[Wait], observed: RunObserved, now: datetime) -> Step | None:
    """The step of the first wait that applies; None when none does."""
    return next((step for wait in waits if (step := wait(observed, now)) is not None), None)


def until_last_pod_is_released(observed: RunObserved, now: datetime) -> Step | None:
    """The Pod of the ended attempt must have ended and been released."""
    attempt, pod = last_attempt(observed.run), observed.own_pod
    if attempt is None or pod is None:
        return None
    if not pod.stopped_or_expired(now):
        return _stop_late_pod(observed, pod, now)
    actions = pod_release.release(pod)
    if not actions:
        return None
    findings = pod_release.with_refusal(observed, _backing_off(attempt), actions)
    return Step(status=observed.run.status, findings=findings, actions=actions)


def _stop_late_pod(observed: RunObserved, pod: PodObserved, now: datetime) -> Step:
    """The Pod was missing once and exists again: its create arrived late. Two drivers must never run."""
    findings = under_way(Reason.STOPPING, f"pod {pod.name} must end before the next attempt")
    if pod.node_unreachable(now):
        findings = pod_release.silence(observed, pod)
    actions = pod_release.delete(pod)
    findings = pod_release.with_refusal(observed, findings, actions)
    return Step(status=observed.run.status, findings=findings, actions=actions)


def until_executors_end(observed: RunObserved, now: datetime) -> Step | None:
    """Executors of an ended attempt commit nothing, but write files and hold CPUs that the next attempt needs."""
    if last_attempt(observed.run) is None:
        return None
    actions = pod_release.left_behind(observed, now)
    if actions is None:
        return None
    names = pod_release.named(observed.executors)
    stopping = under_way(Reason.STOPPING, f"executors of the last attempt must end before the next one: {names}")
    findings = pod_release.executors_silence(observed, now) or stopping
    findings = pod_release.with_refusal(observed, findings, actions)
    return Step(status=observed.run.status, findings=findings, actions=actions)


def refuse_type_of_user(observed: RunObserved, now: datetime) -> Step | None:
    """Ends a run that a user created and only the operator may start."""
    return refused_by_type(observed.run, now)


def refused_by_type(run: PaimonRun, now: datetime) -> Step | None:
    """The end of a run that a user created although only the operator starts its type; None for all others."""
    if run.spec.trigger is not None or run.spec.type in registry.OPERATIONS.on_demand:
        return None
    message = f"only the operator starts runs of type {run.spec.type}; delete this run"
    failure = AttemptFailure(
        failure_class=FailureClass.SPEC, reason=Reason.INVALID_SPEC, message=message, field="spec.type"
    )
    return failed(run.status, failure, now)


def until_named_by_table(observed: RunObserved, now: datetime) -> Step | None:
    """One mutating run per table: the one that the table's status.activeRun names."""
    if observed.is_active:
        return None
    run, table = observed.run, observed.run.spec.table_ref.name
    if observed.table is None:
        message = f"there is no PaimonTable {table} in this namespace"
        if (failure := never_started.without_table(run, message, now)) is not None and not run.status.attempts:
            return failed(run.status, failure, now)
        findings = blocked_findings(Reason.TABLE_NOT_FOUND, message)
    elif run.spec.trigger is not None:
        message = f"status.activeRun of PaimonTable {table} does not name this run"
        findings = under_way(Reason.WAITING_FOR_TABLE, message)
    else:
        findings = under_way(Reason.WAITING_FOR_TABLE, _why_table_waits(observed.table))
    return _pending(observed, findings)


def while_giving_way(observed: RunObserved, now: datetime) -> Step | None:  # noqa: ARG001  (as every wait)
    """The table starts other work first. Once this is stored, no earlier reconcile of the run can store an attempt."""
    if not observed.gives_way or observed.run.status.attempts:
        return None
    return _pending(observed, under_way(Reason.GIVING_WAY, "other work of the table that has become due starts first"))


def until_claim_is_free(observed: RunObserved, _now: datetime) -> Step | None:
    """One mutating run per physical table. During a takeover, two operator processes may each have named a run."""
    if observed.claimant is None:
        return None
    other = observed.claimant.name_for(observed.run.metadata.namespace)
    message = f"{other} has a run on the same table; this run starts after it"
    return _pending(observed, blocked_findings(Reason.TABLE_CLAIMED, message))


def until_other_drivers_end(observed: RunObserved, now: datetime) -> Step | None:
    """One driver per table, even if the other driver's run is gone: deleting a run stops no container."""
    running = next((pod for pod in observed.others if not pod.stopped_or_expired(now)), None)
    if running is None:
        return None
    if running.node_unreachable(now):
        return _pending(observed, pod_release.silence(observed, running))
    message = f"pod {running.name} of another run of the table must end first"
    return _pending(observed, under_way(Reason.STOPPING, message))


def until_next_try(observed: RunObserved, now: datetime) -> Step | None:
    """The delay after a failed attempt."""
    attempt, next_try = last_attempt(observed.run), observed.run.status.next_try
    if attempt is None or next_try is None or backoff.has_come(next_try, now):
        return None
    return Step(status=observed.run.status, findings=_backing_off(attempt), requeue_after=next_try - now)


def _pending(observed: RunObserved, findings: tuple[Finding, ...]) -> Step:
    return Step(status=in_phase(observed.run.status, Phase.PENDING), findings=findings)


def _backing_off(attempt: Attempt) -> tuple[Finding, ...]:
    return under_way(Reason.BACKING_OFF, f"attempt {attempt.number} failed: {attempt.message}")


def _why_table_waits(table: PaimonTable) -> str:
    """Why the table has not started a user's run yet, in the words of the table's own conditions."""
    name, active = table.metadata.name, table.status.active_run
    if table.metadata.deletion_timestamp is not None:
        return f"PaimonTable {name} is being deleted, so it starts no run of a user"
    if active is not None:
        return f"the run waits until run {active.name} of PaimonTable {name} has ended"
    if table.status.queued_run is not None:
        return f"the run waits for a free place: {table.status.queued_run.message}"
    for type_ in (ConditionType.STALLED, ConditionType.SUSPENDED):
        found = find(table.status.conditions, type_)
        if found is not None and found.status is ConditionStatus.TRUE:
            return f"PaimonTable {name} is {type_} ({found.reason}): {found.message}"
    ready = find(table.status.conditions, ConditionType.READY)
    why = f"; its condition Ready: {ready.message}" if ready and ready.status is not ConditionStatus.TRUE else ""
    return f"the run waits until status.activeRun of PaimonTable {name} names it{why}"
