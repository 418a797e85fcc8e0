"""What one look at a run leads to, before its conditions have their times and the change has its Events."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from paimon_operator.api.base import to_the_second
from paimon_operator.api.conditions import ConditionType
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Attempt, Phase, RunStatus, RunTrigger, StartReason
from paimon_operator.core.conditions import Finding, reconciling, replaced, stalled, transitions, unknown
from paimon_operator.core.decision import Action, Decision

LOOK_AGAIN: Final = timedelta(seconds=30)
"""For waits that normally end by a watch event: a second look in case it was missed."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A status without its conditions, what is found about them, and what to do once the status is stored."""

    status: RunStatus
    findings: tuple[Finding, ...]
    actions: tuple[Action, ...] = ()
    requeue_after: timedelta | None = LOOK_AGAIN


def under_way(reason: Reason, message: str) -> tuple[Finding, ...]:
    """Conditions of a run that is not over, and needs nobody."""
    return (unknown(ConditionType.SUCCEEDED, reason, message), *reconciling(reason, message))


def blocked_findings(reason: Reason, message: str) -> tuple[Finding, ...]:
    """Conditions of a run that is not over, and goes on once a human has mended something."""
    return (unknown(ConditionType.SUCCEEDED, reason, message), *stalled(reason, message))


def with_attempt(status: RunStatus, attempt: Attempt) -> RunStatus:
    """The status with `attempt` in the place of its namesake, or added when it is new."""
    others = tuple(each for each in status.attempts if each.number != attempt.number)
    return status.model_copy(update={"attempts": (*others, attempt)})


def in_phase(status: RunStatus, phase: Phase) -> RunStatus:
    """The status in `phase`."""
    return status.model_copy(update={"phase": phase})


def decide(run: PaimonRun, taken: Step, now: datetime) -> Decision[RunStatus]:
    """The step as a decision: conditions with their times, and Events for what changed."""
    before, generation = run.status.conditions, run.metadata.generation
    conditions = replaced(before, taken.findings, generation=generation, now=now)
    status = taken.status.model_copy(
        update={
            "observed_generation": generation,
            "conditions": conditions,
            "reason": run.status.reason or _start_reason(run),
            "start_time": run.status.start_time or to_the_second(now),
        }
    )
    return Decision(
        status=status,
        actions=taken.actions,
        events=transitions(before, conditions),
        requeue_after=taken.requeue_after,
    )


def _start_reason(run: PaimonRun) -> StartReason:
    trigger = run.spec.trigger
    if trigger is None:
        return StartReason(trigger=RunTrigger.USER, message="made by a user")
    return StartReason(trigger=trigger.type, message=trigger.message or f"started by {trigger.type.value}")
