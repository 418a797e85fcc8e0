"""Data that operations and the table controller exchange: due work, and the outcome of a run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from paimon_operator.api.base import rfc3339
from paimon_operator.api.conditions import ConditionType, find
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import FailureClass, Phase, RunStatus, RunTrigger
from paimon_operator.api.table.schedule_state import DecisionResult, LastDecision, LastFailure
from paimon_operator.api.table.status import ActiveRun
from paimon_operator.core.operations.need import Need


@dataclass(frozen=True, kw_only=True)
class DueRun:
    """Work that is due for one table."""

    type_: str
    subject: str | None = None
    """The write's name, the compaction's strategy, or None."""
    partial: bool = False
    """Whether a user requested only a part of the table."""
    trigger: RunTrigger
    due: datetime
    """Since when it is due. The work that has waited longest starts first; of equals, the first of the list."""
    due_time: datetime | None = None
    """The tick that it answers."""
    first_due: datetime | None = None
    """Its first tick without an answer; None: the same as `due`."""
    max_delay: timedelta | None = None
    """How long after its tick it starts even outside the maintenance windows; None: it waits for a window."""
    expected: timedelta | None = None
    """Length of its last run that succeeded; None: not known."""
    note: str = ""
    """What is unusual about its start, as a sentence without a full stop."""
    spec_hash: str | None = None
    identity: str = ""
    """Distinguishes its run from all others of the same action and subject; see `identity`."""
    after: str | None = None
    """The run of this work that ended last. The same work after another run is another run."""
    run: PaimonRun | None = None
    """The run, if a user has created it."""
    yields: bool = False
    """Whether all other work of the table comes first."""

    @property
    def waits_since(self) -> datetime:
        """Since when it waits: its first tick without an answer, or the time of its retry."""
        return self.first_due or self.due


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """How the table's active run ended."""

    active: ActiveRun
    at: datetime
    result: RunStatus
    """The run's last status; empty for a run that was deleted."""
    failure_class: FailureClass | None
    """None: it succeeded."""
    reason: str
    message: str
    field: str | None = None

    @property
    def succeeded(self) -> bool:
        """Whether the run did what its spec requested."""
        return self.failure_class is None

    @property
    def duration(self) -> timedelta | None:
        """How long the run took, with all attempts; None if its start is not known, or not before its end."""
        started_at = self.result.start_time
        return self.at - started_at if started_at is not None and started_at <= self.at else None

    def as_failure(self, before: LastFailure | None, next_try: datetime | None) -> LastFailure:
        """The failure as the status records it; its count is one more than that of `before`."""
        return LastFailure(
            run=self.active.name,
            failure_class=self.failure_class or FailureClass.INFRASTRUCTURE,
            reason=self.reason,
            message=self.message,
            field=self.field,
            time=self.at,
            count=before.count + 1 if before else 1,
            next_try=next_try,
            spec_hash=self.active.spec_hash,
        )


def ended_by(active: ActiveRun, run: PaimonRun, now: datetime) -> RunOutcome | None:
    """The outcome of `run`; None while it is active, and while its result is unknown."""
    status = run.status
    if status.phase not in (Phase.SUCCEEDED, Phase.FAILED):
        return None
    condition = find(status.conditions, ConditionType.SUCCEEDED)
    failed = status.phase is Phase.FAILED
    return RunOutcome(
        active=active,
        at=status.completion_time or now,
        result=status,
        failure_class=(status.failure_class or FailureClass.INFRASTRUCTURE) if failed else None,
        reason=condition.reason if condition else Reason.DRIVER_FAILED,
        message=condition.message if condition else f"run {run.metadata.name} ended as {status.phase}",
        field=status.field,
    )


def cancelled(active: ActiveRun, now: datetime, *, unknown: bool) -> RunOutcome:
    """The outcome of an active run that was deleted: before it ended, or because its result was `unknown`."""
    if unknown:
        class_, reason = FailureClass.RESULT_UNKNOWN, Reason.RESULT_UNKNOWN
        message = "its result is unknown, and it was deleted so that it is tried again"
    else:
        class_, reason = FailureClass.CANCELLED, Reason.CANCELLED
        message = "it was deleted before its result was here"
    return RunOutcome(active=active, at=now, result=RunStatus(), failure_class=class_, reason=reason, message=message)


def started(work: DueRun, run: str, need: Need | None = None) -> LastDecision:
    """The decision to start `work` as `run`."""
    said = f", {need.message}" if need is not None and need.message else ""
    return LastDecision(
        result=DecisionResult.STARTED,
        reason=Reason.STARTED,
        message=f"{why(work)}{said}: run {run}",
        checks=need.checks if need is not None else (),
        observed_at=need.observed_at if need is not None else None,
    )


def why(work: DueRun | ActiveRun) -> str:
    """Why a run was started, as a sentence without a full stop."""
    return f"{_trigger(work)}; {work.note}" if work.note else _trigger(work)


def _trigger(work: DueRun | ActiveRun) -> str:
    match work.trigger:
        case RunTrigger.SCHEDULE:
            need = work.need if isinstance(work, ActiveRun) else None
            due = f"due at {rfc3339(work.due_time)}" if work.due_time else "due by its schedule"
            return due if need is None else f"{due}, {need}"
        case RunTrigger.SPEC:
            return "the table has to be made, or verified, or altered"
        case RunTrigger.ONCE:
            return f"write {work.subject} has not been done yet"
        case RunTrigger.DELETION:
            return "the object is being deleted and deletionPolicy is Delete"
        case RunTrigger.USER:
            return "asked for by a user"


def identity(what: str, repetition: int) -> str:
    """`what`, with `#n` for its n-th repetition by the table, so that no run has the name of a failed one."""
    return f"{what}#{repetition}" if repetition else what
