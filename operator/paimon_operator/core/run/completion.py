"""The status that the outcome of an attempt leads to: the run ends, or waits for its next attempt."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from paimon_contract.result import Result
from paimon_operator.api.base import to_the_second
from paimon_operator.api.conditions import ConditionType
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.result import measure_after, measure_before, outside_commit, seen_commit
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Attempt, FailureClass, Phase, RunStatus
from paimon_operator.core.conditions import false, idle, stalled, true, unknown
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.retries import NEXT_ATTEMPT, retry_delay
from paimon_operator.core.run import attempt as attempts
from paimon_operator.core.run.cost import cost
from paimon_operator.core.run.outcome import AttemptFailure, Success
from paimon_operator.core.run.transition import Step, under_way, with_attempt

ENDED: Final = frozenset({Phase.SUCCEEDED, Phase.FAILED, Phase.UNKNOWN})
"""Phases that never change again."""

_AT_ONCE: Final = timedelta(0)
"""The finalizer is removed by the next reconcile, once the final status is stored: a crash loses nothing."""
_FIELD_LENGTH = 256


def finish_attempt(
    run: PaimonRun, last: Attempt, outcome: Success | AttemptFailure, *, backoff_limit: int, now: datetime
) -> Step:
    """Ends the `last` attempt by `outcome`. The run ends with it, or waits for its next attempt.

    `backoff_limit` is how many attempts may follow the first.
    """
    attempt = attempts.record_end(last, outcome, now)
    status = with_attempt(run.status, attempt)
    if isinstance(outcome, Success):
        return _succeeded(status, outcome.result, now)
    delay = retry_delay(NEXT_ATTEMPT, outcome.failure_class, attempt.number, run.metadata.uid)
    if delay is None:
        return failed(status, outcome, now)
    if attempt.number > backoff_limit:
        return _exhausted(run, status, outcome, now)
    return _retry(status, outcome, to_the_second(now + delay), now)


def failed(status: RunStatus, failure: AttemptFailure, now: datetime) -> Step:
    """The run ends as Failed, or as Unknown if it is unknown whether it committed."""
    if failure.failure_class is FailureClass.RESULT_UNKNOWN:
        return _unknown(status, failure, now)
    final = _final(status, Phase.FAILED, failure.result, now, failure)
    return Step(
        status=final,
        findings=(
            false(ConditionType.SUCCEEDED, failure.reason, failure.message),
            *stalled(failure.reason, failure.message),
        ),
        requeue_after=_AT_ONCE,
    )


def _succeeded(status: RunStatus, result: Result, now: datetime) -> Step:
    message = registry.OPERATIONS.of(result.operation).summary(result)
    return Step(
        status=_final(status, Phase.SUCCEEDED, result, now, None),
        findings=(
            true(ConditionType.SUCCEEDED, Reason.RUN_SUCCEEDED, message),
            *idle(Reason.RUN_SUCCEEDED, message),
        ),
        requeue_after=_AT_ONCE,
    )


def _unknown(status: RunStatus, failure: AttemptFailure, now: datetime) -> Step:
    message = f"{failure.message.rstrip('. ')}. {Reason.RESULT_UNKNOWN.remedy}"
    return Step(
        status=_final(status, Phase.UNKNOWN, failure.result, now, failure),
        findings=(
            unknown(ConditionType.SUCCEEDED, Reason.RESULT_UNKNOWN, message),
            *stalled(Reason.RESULT_UNKNOWN, message),
        ),
        requeue_after=_AT_ONCE,
    )


def _exhausted(run: PaimonRun, status: RunStatus, failure: AttemptFailure, now: datetime) -> Step:
    """No attempt is left. A write ends as Unknown if the result of one of its attempts was never read."""
    tried = len(status.attempts)
    times = "1 attempt" if tried == 1 else f"{tried} attempts"
    unseen = any(attempt.reason == Reason.RESULT_MISSING for attempt in status.attempts)
    if unseen and registry.OPERATIONS.of(run.spec.type).lost_result_is_unknown:
        message = f"whether the write was committed is not known after {times}: {failure.message}"
        lost = AttemptFailure(failure_class=FailureClass.RESULT_UNKNOWN, reason=Reason.RESULT_UNKNOWN, message=message)
        return _unknown(status, lost, now)
    last = AttemptFailure(
        failure_class=failure.failure_class,
        reason=failure.reason,
        message=f"{times} failed, the last one: {failure.message}",
        field=failure.field,
        result=failure.result,
    )
    return failed(status, last, now)


def _retry(status: RunStatus, failure: AttemptFailure, next_try: datetime, now: datetime) -> Step:
    message = f"attempt {status.attempts[-1].number} failed: {failure.message}"
    return Step(
        status=status.model_copy(update={"phase": Phase.PENDING, "next_try": next_try}),
        findings=under_way(Reason.BACKING_OFF, message),
        requeue_after=next_try - now,
    )


def _final(
    status: RunStatus, phase: Phase, result: Result | None, now: datetime, failure: AttemptFailure | None
) -> RunStatus:
    """The status that never changes again."""
    update: dict[str, Any] = {
        "phase": phase,
        "completion_time": to_the_second(now),
        "next_try": None,
        "cost": cost(status.attempts, status.spark, None if result is None or result.ms is None else result.ms.share),
        **({} if result is None else _reported(result)),
    }
    if failure is not None:
        update["failure_class"] = failure.failure_class
        update["field"] = failure.field[:_FIELD_LENGTH] if failure.field else None
    return status.model_copy(update=update)


def _reported(result: Result) -> dict[str, Any]:
    """The fields of a status that a result fills in: those of every operation, and those of its own."""
    return {
        "seen_snapshot": result.seen_snapshot,
        "seen_commit": seen_commit(result),
        "outside_commit": outside_commit(result),
        "before": measure_before(result),
        "after": measure_after(result),
        **registry.OPERATIONS.of(result.operation).status_fields(result),
    }
