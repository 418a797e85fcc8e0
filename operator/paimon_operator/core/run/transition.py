"""What one reconcile of a run leads to, before conditions have their times and changes have their Events."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from paimon_operator.api.base import to_the_second
from paimon_operator.api.conditions import ConditionType
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Attempt, Phase, RunStatus, RunTrigger, StartReason
from paimon_operator.core.conditions import Finding, reconciling, report, stalled, unknown
from paimon_operator.core.decision import Action, Decision

MISSED_EVENT_REQUEUE: Final = timedelta(seconds=30)
"""For waits that normally end with a watch event: the run is reconciled again in case the event was missed."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A status without conditions, the findings for them, and the actions after the status is stored."""

    status: RunStatus
    findings: tuple[Finding, ...]
    actions: tuple[Action, ...] = ()
    requeue_after: timedelta | None = MISSED_EVENT_REQUEUE


def under_way(reason: Reason, message: str) -> tuple[Finding, ...]:
    """Conditions of a run that continues by itself."""
    return (unknown(ConditionType.SUCCEEDED, reason, message), *reconciling(reason, message))


def launching(pod: str) -> tuple[Finding, ...]:
    """Conditions of a run whose Pod is created, or was a moment ago."""
    return under_way(Reason.LAUNCHING, f"pod {pod} is being created")


def blocked_findings(reason: Reason, message: str) -> tuple[Finding, ...]:
    """Conditions of a run that continues after a human fixed something."""
    return (unknown(ConditionType.SUCCEEDED, reason, message), *stalled(reason, message))


def with_attempt(status: RunStatus, attempt: Attempt) -> RunStatus:
    """The status with `attempt` in place of the attempt of the same number, or added."""
    others = tuple(each for each in status.attempts if each.number != attempt.number)
    return status.model_copy(update={"attempts": (*others, attempt)})


def in_phase(status: RunStatus, phase: Phase) -> RunStatus:
    """The status in `phase`."""
    return status.model_copy(update={"phase": phase})


def to_decision(run: PaimonRun, step: Step, now: datetime) -> Decision[RunStatus]:
    """The step as a decision: conditions with their times, and Events for what goes wrong.

    Its progress has no Events: the status has it with its times, and the table reports how the run ended.
    """
    reported = report(run.status.conditions, step.findings, generation=run.metadata.generation, now=now)
    status = reported.into(step.status).model_copy(
        update={
            "reason": run.status.reason or _start_reason(run),
            "start_time": run.status.start_time or to_the_second(now),
        }
    )
    return Decision(
        status=status,
        actions=step.actions,
        events=tuple(each for each in reported.events if each.type_ == "Warning"),
        requeue_after=step.requeue_after,
    )


def _start_reason(run: PaimonRun) -> StartReason:
    trigger = run.spec.trigger
    if trigger is None:
        return StartReason(trigger=RunTrigger.USER, message="created by a user")
    return StartReason(trigger=trigger.type, message=trigger.message or f"started by {trigger.type.value}")
