"""Starts an attempt: stored first, then its ConfigMap, the rights of its executors and its Pod are created.

Repeating it creates nothing twice.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from paimon_contract.job import files_digest
from paimon_operator.api import units
from paimon_operator.api.reasons import Reason, known_reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Attempt, AttemptState, FailureClass, Phase, RunJob, RunStatus
from paimon_operator.core import naming
from paimon_operator.core.conditions import Finding
from paimon_operator.core.decision import Action, Create, Decision, Refusal
from paimon_operator.core.launch import driver_pod
from paimon_operator.core.launch.driver_memory import next_memory
from paimon_operator.core.ports import Kind
from paimon_operator.core.run import attempt as attempts
from paimon_operator.core.run import never_started
from paimon_operator.core.run.completion import failed
from paimon_operator.core.run.cost import asked_for
from paimon_operator.core.run.observed import RunObserved
from paimon_operator.core.run.outcome import AttemptFailure
from paimon_operator.core.run.transition import Step, blocked_findings, in_phase, launching, with_attempt
from paimon_operator.errors import RunEnvironmentError, SpecError


def makes_pod(decision: Decision[RunStatus]) -> bool:
    """Whether a Pod is about to be created. Only then the Pods of other runs are read."""
    return any(isinstance(action, Create) and action.kind is Kind.POD for action in decision.actions)


def launch(observed: RunObserved, again: Attempt | None, now: datetime) -> Step:
    """Stores the attempt and creates its objects; `again` is an attempt that was stored and has no Pod yet.

    The job is rendered each time. The ConfigMap of attempt 1 is immutable and stays, so only sizes may change.
    """
    run = observed.run
    if (failure := _hopeless(observed, again, now)) is not None:
        return _not_launched(run, again, failure, now)
    try:
        plan = _consistent_with_first_attempt(run, observed.launch())
    except SpecError as error:
        reason = known_reason(error.reason, Reason.INVALID_SPEC)
        failure = AttemptFailure(failure_class=FailureClass.SPEC, reason=reason, message=str(error), field=error.field)
        return _not_launched(run, again, failure, now)
    except RunEnvironmentError as error:
        reason = known_reason(error.reason, Reason.CATALOG_INVALID)
        failure = AttemptFailure(failure_class=FailureClass.ENVIRONMENT, reason=reason, message=str(error))
        return _not_launched(run, again, failure, now)
    job = _job(observed, plan)
    attempt = again or _next_attempt(run, plan, job, now)
    update = {"next_try": None, "engine": plan.job.engine, "spark": plan.execution, "job": job}
    status = with_attempt(in_phase(run.status, Phase.LAUNCHING), attempt).model_copy(update=update)
    return Step(
        status=status,
        findings=_launching(attempt, observed.refusal),
        actions=_creates(observed, run.model_copy(update={"status": status}), attempt, plan),
    )


def _job(observed: RunObserved, plan: driver_pod.Launch) -> RunJob:
    """The ConfigMap of all attempts. Only the first attempt may write it; release 0.1 stored nothing about it."""
    run = observed.run
    if run.status.job is not None:
        return run.status.job
    if any(not attempt.shared for attempt in run.status.attempts):
        return RunJob(config_map=run.metadata.name)
    data = driver_pod.config_map(run, plan, deadline_s=_seconds(observed.backstop))["data"]
    return RunJob(config_map=driver_pod.config_map_of(run), digest=files_digest(data))


def _hopeless(observed: RunObserved, again: Attempt | None, now: datetime) -> AttemptFailure | None:
    """The failure of a run whose Pod the API server refuses and that nothing but another run helps; None for others.

    The ConfigMap is the run's own, so no further attempt brings its job back.
    """
    refusal = observed.refusal
    if refusal is None:
        return None
    if refusal.reason is Reason.JOB_CHANGED:
        return AttemptFailure(failure_class=FailureClass.ENVIRONMENT, reason=refusal.reason, message=refusal.message)
    if again is None:
        return None
    return never_started.unstartable(observed.run, again, refusal, now, pending_timeout=observed.limits.pending_timeout)


def _launching(attempt: Attempt, refusal: Refusal | None) -> tuple[Finding, ...]:
    if refusal is not None:
        return blocked_findings(refusal.reason, f"pod {attempt.pod} cannot be created: {refusal.message}")
    return launching(attempt.pod)


def _consistent_with_first_attempt(run: PaimonRun, plan: driver_pod.Launch) -> driver_pod.Launch:
    """The launch with the size and the access hash of attempt 1, whose job and executor Pod template cannot change.

    Raises RunEnvironmentError if the catalog was edited since. A run that an older operator started has no hash.
    """
    engine, spark, access = run.status.engine, run.status.spark, driver_pod.access_hash(plan)
    if engine not in (None, plan.job.engine):
        raise _changed(f"the catalog's engine was changed from {engine} to {plan.job.engine}")
    if spark is not None and spark.access_hash is not None and spark.access_hash != access:
        raise _changed("the catalog was changed")
    if spark is not None or plan.execution is None:
        return plan
    given = {"access_hash": access, "executors": asked_for(plan.executors)}
    return replace(plan, execution=plan.execution.model_copy(update=given))


def _changed(what: str) -> RunEnvironmentError:
    return RunEnvironmentError(
        f"{what} after this run's job was written", "The table starts another run.", reason=Reason.SPEC_CHANGED
    )


def _creates(observed: RunObserved, run: PaimonRun, attempt: Attempt, plan: driver_pod.Launch) -> tuple[Action, ...]:
    """The objects of an attempt of `run`, which has it in its status already.

    The Pod last: one that mounts a missing ConfigMap stays in ContainerCreating, and the rights of its executors must
    be known when it asks for them.
    """
    memory = plan.memory_mib if attempt.memory is None else units.mebibytes(attempt.memory)
    deadline, own = _seconds(observed.backstop), _seconds(observed.own_backstop)
    pod = driver_pod.driver_pod(
        run, plan, attempt=attempt.number, memory_mib=memory, deadline_s=deadline, own_deadline_s=own
    )
    uid, job = run.metadata.uid, driver_pod.config_map(run, plan, deadline_s=deadline)
    digest = None if run.status.job is None else run.status.job.digest
    # Of a manifest that was edited since attempt 1, neither another job is written, nor rights for other executors.
    is_edited = digest is not None and files_digest(job["data"]) != digest
    actions = [Create(kind=Kind.CONFIG_MAP, body=job, owner_uid=uid, data_digest=digest, must_exist=is_edited)]
    if (rights := driver_pod.executor_rights(job, plan.image)) is not None:
        actions.append(Create(kind=Kind.EXECUTOR_RIGHTS, body=rights, owner_uid=uid, must_exist=is_edited))
    return (*actions, Create(kind=Kind.POD, body=pod, owner_uid=uid))


def _seconds(delta: timedelta) -> int:
    return int(delta.total_seconds())


def _next_attempt(run: PaimonRun, plan: driver_pod.Launch, job: RunJob, now: datetime) -> Attempt:
    number = len(run.status.attempts) + 1
    return Attempt(
        number=number,
        state=AttemptState.LAUNCHING,
        pod=naming.pod_name(job.config_map, number),
        memory=f"{_memory_mib(run, plan)}Mi",
        cores=plan.cores,
        launched=now,
    )


def _memory_mib(run: PaimonRun, plan: driver_pod.Launch) -> int:
    return next_memory(run.status.attempts, plan.memory_mib, plan.most_memory_mib, plan.learned_memory_mib)


def _not_launched(run: PaimonRun, again: Attempt | None, failure: AttemptFailure, now: datetime) -> Step:
    """Ends the run because nothing can be launched. A stored attempt ends too: it has no Pod."""
    status = run.status if again is None else with_attempt(run.status, attempts.record_end(again, failure, now))
    return failed(status, failure, now)
