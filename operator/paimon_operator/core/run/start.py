"""The beginning of an attempt: written down first, then its ConfigMap and its Pod. Repeating it makes nothing twice."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from paimon_operator.api import units
from paimon_operator.api.conditions import ConditionStatus, ConditionType, find
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import ON_DEMAND, PaimonRun
from paimon_operator.api.run.status import Attempt, AttemptState, FailureClass, Phase, RunStatus
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core import naming
from paimon_operator.core.conditions import Finding
from paimon_operator.core.decision import Action, Create, Decision, Refusal
from paimon_operator.core.launch import driver_pod
from paimon_operator.core.ports import Kind
from paimon_operator.core.run import attempt as attempts
from paimon_operator.core.run import pod_release
from paimon_operator.core.run.completion import failed
from paimon_operator.core.run.observed import RunObserved
from paimon_operator.core.run.outcome import AttemptFailure, known_reason
from paimon_operator.core.run.transition import Step, blocked_findings, in_phase, under_way, with_attempt
from paimon_operator.errors import RunEnvironmentError, SpecError


def makes_pod(decision: Decision[RunStatus]) -> bool:
    """Whether the next Pod is about to be made: then, and only then, the Pods of other runs have to be looked up."""
    return any(isinstance(action, Create) and action.kind is Kind.POD for action in decision.actions)


def not_its_turn(observed: RunObserved, now: datetime) -> Step | None:
    """Why the run may not make a Pod: one mutating run per table, and the table says which. None when it may."""
    if observed.is_active:
        return _not_its_claim(observed) or _not_alone(observed, now)
    run, table = observed.run, observed.run.spec.table_ref.name
    if observed.table is None:
        findings = blocked_findings(Reason.TABLE_NOT_FOUND, f"there is no PaimonTable {table} in this namespace")
    else:
        message = _what_is_waited_for(observed.table)
        if run.spec.trigger is not None:
            message = f"status.activeRun of PaimonTable {table} does not name this run"
        findings = under_way(Reason.WAITING_FOR_TABLE, message)
    return Step(status=in_phase(run.status, Phase.PENDING), findings=findings)


def _not_its_claim(observed: RunObserved) -> Step | None:
    """One mutating run per physical table too: two processes, one taking over from the other, may have named two."""
    if observed.claimant is None:
        return None
    other = f"PaimonTable {observed.claimant.namespace}/{observed.claimant.name}"
    findings = blocked_findings(Reason.TABLE_CLAIMED, f"{other} has a run on the same table; this one starts after it")
    return Step(status=in_phase(observed.run.status, Phase.PENDING), findings=findings)


def _not_alone(observed: RunObserved, now: datetime) -> Step | None:
    """One driver per table, whatever became of the other's run: a run that is gone stops no container."""
    at_work = next((pod for pod in observed.others if not pod.stopped_or_expired(now)), None)
    if at_work is None:
        return None
    message = f"pod {at_work.name} of another run of the table must end first"
    stopping = under_way(Reason.STOPPING, message)
    findings = pod_release.silence(observed, at_work) if at_work.node_unreachable(now) else stopping
    return Step(status=in_phase(observed.run.status, Phase.PENDING), findings=findings)


def _what_is_waited_for(table: PaimonTable) -> str:
    """Why the table has not started a user's run yet. Its own words, because they hold for the run as well."""
    name, active = table.metadata.name, table.status.active_run
    if table.metadata.deletion_timestamp is not None:
        return f"PaimonTable {name} is being deleted, so it starts no run of a user"
    if active is not None:
        return f"it waits until run {active.name} of PaimonTable {name} has ended"
    for type_ in (ConditionType.STALLED, ConditionType.SUSPENDED):
        found = find(table.status.conditions, type_)
        if found is not None and found.status is ConditionStatus.TRUE:
            return f"PaimonTable {name} is {type_} ({found.reason}): {found.message}"
    ready = find(table.status.conditions, ConditionType.READY)
    told = f"; Ready says: {ready.message}" if ready and ready.status is not ConditionStatus.TRUE else ""
    return f"it waits until status.activeRun of PaimonTable {name} names it{told}"


def not_for_users(run: PaimonRun, now: datetime) -> Step | None:
    """The end of a run that a user made and only the operator may start. None for all others."""
    if run.spec.trigger is not None or run.spec.type in ON_DEMAND:
        return None
    message = f"only the operator starts runs of type {run.spec.type}; delete this run"
    failure = AttemptFailure(
        failure_class=FailureClass.SPEC, reason=Reason.INVALID_SPEC, message=message, field="spec.type"
    )
    return failed(run.status, failure, now)


def launch(observed: RunObserved, again: Attempt | None, now: datetime) -> Step:
    """Write the attempt down and make its objects; `again` is one that was written down, but its Pod is not there.

    The job is rendered anew each time, but the ConfigMap of attempt 1 is immutable and stays: only sizes change.
    """
    run = observed.run
    try:
        plan = _as_begun(run, observed.launch())
    except SpecError as error:
        reason = known_reason(error.reason, Reason.INVALID_SPEC)
        failure = AttemptFailure(failure_class=FailureClass.SPEC, reason=reason, message=str(error), field=error.field)
        return _not_launched(run, again, failure, now)
    except RunEnvironmentError as error:
        reason = known_reason(error.reason, Reason.CATALOG_INVALID)
        failure = AttemptFailure(failure_class=FailureClass.ENVIRONMENT, reason=reason, message=str(error))
        return _not_launched(run, again, failure, now)
    attempt = again or _next_attempt(run, plan, now)
    status = with_attempt(in_phase(run.status, Phase.LAUNCHING), attempt)
    return Step(
        status=status.model_copy(update={"next_try": None, "engine": plan.job.engine, "spark": plan.execution}),
        findings=_launching(attempt, observed.refusal),
        actions=_creates(observed, attempt, plan),
    )


def _launching(attempt: Attempt, refusal: Refusal | None) -> tuple[Finding, ...]:
    if refusal is not None:
        return blocked_findings(refusal.reason, f"pod {attempt.pod} cannot be made: {refusal.message}")
    return under_way(Reason.LAUNCHING, f"pod {attempt.pod} is being made")


def _as_begun(run: PaimonRun, plan: driver_pod.Launch) -> driver_pod.Launch:
    """The job of attempt 1 stays, and so does the executors' Pod: what goes with them must stay too.

    Raises RunEnvironmentError after an edit of the catalog. A run that an older operator started has no hash.
    """
    engine, spark, access = run.status.engine, run.status.spark, driver_pod.access_hash(plan)
    if engine not in (None, plan.job.engine):
        raise _changed(f"the catalog's engine was changed from {engine} to {plan.job.engine}")
    if spark is not None and spark.access_hash is not None and spark.access_hash != access:
        raise _changed("the catalog was changed")
    if spark is not None or plan.execution is None:
        return plan
    return replace(plan, execution=plan.execution.model_copy(update={"access_hash": access}))


def _changed(what: str) -> RunEnvironmentError:
    return RunEnvironmentError(
        f"{what} after this run's job was written", "Another run follows.", reason=Reason.SPEC_CHANGED
    )


def _creates(observed: RunObserved, attempt: Attempt, plan: driver_pod.Launch) -> tuple[Action, ...]:
    """The ConfigMap first: a Pod that mounts a missing one hangs in ContainerCreating."""
    run = observed.run
    memory = plan.memory_mib if attempt.memory is None else units.mebibytes(attempt.memory)
    deadline, own = (int(each.total_seconds()) for each in (observed.backstop, observed.own_backstop))
    pod = driver_pod.driver_pod(
        run, plan, attempt=attempt.number, memory_mib=memory, deadline_s=deadline, own_deadline_s=own
    )
    uid = run.metadata.uid
    return (
        Create(kind=Kind.CONFIG_MAP, body=driver_pod.config_map(run, plan, deadline_s=deadline), owner_uid=uid),
        Create(kind=Kind.POD, body=pod, owner_uid=uid),
    )


def _next_attempt(run: PaimonRun, plan: driver_pod.Launch, now: datetime) -> Attempt:
    number = len(run.status.attempts) + 1
    return Attempt(
        number=number,
        state=AttemptState.LAUNCHING,
        pod=naming.pod_name(run.metadata.name, number),
        memory=f"{attempts.next_memory(run.status.attempts, plan.memory_mib)}Mi",
        cores=plan.cores,
        launched=now,
    )


def _not_launched(run: PaimonRun, again: Attempt | None, failure: AttemptFailure, now: datetime) -> Step:
    """Nothing can be launched. An attempt that was written down is closed: its Pod was found not to exist."""
    status = run.status if again is None else with_attempt(run.status, attempts.record_end(again, failure, now))
    return failed(status, failure, now)
