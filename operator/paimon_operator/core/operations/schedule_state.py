"""State of one schedule and its transitions, shared by all operations with schedules.

Only `lastDue` decides what is due. It is stored together with the run's name before the run is created. Old runs can be
pruned and the operator can be killed: no tick runs twice and none is lost.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, NamedTuple, TypeVar

from paimon_operator.api.base import rfc3339
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass, RunTrigger
from paimon_operator.api.table.schedule_state import DecisionResult, LastDecision, LastFailure, ScheduleState
from paimon_operator.core import backoff
from paimon_operator.core.operations.base import DueRun, RunOutcome, identity
from paimon_operator.core.operations.causes import Cause, cause_of_error
from paimon_operator.core.operations.operation import Memory
from paimon_operator.core.schedule import Schedule
from paimon_operator.core.spec.context import TableContext
from paimon_operator.errors import SpecError

_POSTPONED: Final = (Reason.WAITING_FOR_WINDOW, Reason.BUDGET_SPENT)
StateT = TypeVar("StateT", bound=ScheduleState)


def due_run(
    type_: str,
    state: ScheduleState,
    schedule: Schedule | None,
    context: TableContext,
    subject: str | None = None,
) -> DueRun | None:
    """The run that the schedule of one subject asks for now; None when nothing is due, or without a schedule.

    It answers the newest tick without an answer. Or it repeats the last one, whose run failed and whose time has come.
    """
    turn = None if schedule is None else _new_tick(state, schedule, context) or _retry(state, context)
    if turn is None:
        return None
    return DueRun(
        type_=type_,
        subject=subject,
        trigger=RunTrigger.SCHEDULE,
        due=turn.due,
        due_time=turn.tick,
        first_due=turn.first_due,
        expected=None if state.last_duration_seconds is None else timedelta(seconds=state.last_duration_seconds),
        identity=turn.identity,
        after=state.last_run,
    )


class _Turn(NamedTuple):
    """The tick that a run answers, and since when: see the fields of `DueRun`."""

    tick: datetime
    due: datetime
    first_due: datetime
    identity: str


def _new_tick(state: ScheduleState, schedule: Schedule, context: TableContext) -> _Turn | None:
    """The newest tick without an answer, and the first one."""
    answered = state.last_due or context.created
    tick = schedule.due(answered, context.now)
    return None if tick is None else _Turn(tick, tick, schedule.next_after(answered), rfc3339(tick))


def _retry(state: ScheduleState, context: TableContext) -> _Turn | None:
    """The last tick, if its run has failed and the time of the retry has come."""
    failure, tick = state.failure, state.last_due
    if failure is None or tick is None or not backoff.has_come(failure.next_try, context.now):
        return None
    due = min(failure.next_try or context.now, context.now)
    # A time of the retry that is not trusted counts as now, which is later at each reconcile.
    first_due = due if failure.next_try == due else tick
    return _Turn(tick, due, first_due, identity(rfc3339(tick), failure.count))


def with_next(state: StateT, schedule: Schedule, context: TableContext) -> StateT:
    """The state with its next tick: the first without an answer, which is overdue while something blocks its run.

    A schedule that is new or edited in the manifest answers the ticks before it: they were not missed. A tick that was
    answered far ahead of `now` was answered by a clock that was wrong: it counts as the latest tick.
    """
    answered = state.last_due or context.created
    is_new = state.next is None and not context.never_reconciled
    is_edited = state.schedule not in (None, schedule.text)
    kept = None if is_edited and _waited(state.decision) else state.decision
    known = changed(state, schedule=schedule.text, decision=kept)
    if backoff.is_ahead(answered, context.now):
        passed: datetime | None = schedule.latest(context.now)
    else:
        passed = schedule.due(answered, context.now) if is_new or is_edited else None
    if passed is not None:
        return changed(known, last_due=passed, next=schedule.next_after(passed))
    return changed(known, next=schedule.next_after(answered))


def _waited(decision: LastDecision | None) -> bool:
    """Whether it says what a tick has waited for. That a run has ended says nothing of a tick."""
    of_runs = (Reason.RUN_SUCCEEDED, Reason.RUN_FAILING)
    return decision is not None and decision.result is DecisionResult.WAITING and decision.reason not in of_runs


def without_schedule(state: StateT) -> StateT:
    """The state without a schedule: the last run stays, the next tick, the decision and the failure are removed."""
    return changed(state, next=None, schedule=None, decision=None, failure=None)


def stopped(state: StateT, error: SpecError) -> StateT:
    """The state of a schedule that an error in the manifest stops. Its first tick lies after the mending edit."""
    return changed(state, next=None, decision=cause_of_error(error).decision(str(error)))


def record_decision(state: StateT, tick: datetime | None, decision: LastDecision) -> StateT:
    """The state with a decision about a tick. A tick that was started or skipped counts as answered."""
    waits = decision.result is DecisionResult.WAITING
    answered = not waits and tick is not None
    if waits and state.decision is not None and finds_the_same(state.decision, decision):
        decision = decision.model_copy(update={"checks": state.decision.checks})
    if waits and state.decision is not None and was_skipped(state.decision):
        decision = decision.model_copy(update={"after_skip": True})
    return changed(state, decision=decision, **({"last_due": tick} if answered else {}))


def finds_the_same(before: LastDecision, after: LastDecision) -> bool:
    """Whether both wait for the same, or were skipped for the same, and only ages have grown since.

    No reconcile writes the status for that.
    """

    def found(decision: LastDecision) -> list[tuple[str, str, bool]]:
        return [(each.name, each.threshold, each.reached) for each in decision.checks]

    are_equal = (before.reason, before.observed_at) == (after.reason, after.observed_at)
    return are_equal and found(before) == found(after)


def was_skipped(decision: LastDecision) -> bool:
    """Whether the last tick that was answered was not needed."""
    return decision.reason == Reason.NOT_NEEDED or bool(decision.after_skip)


def record_success(
    state: StateT, ended: RunOutcome, *, had_nothing_to_do: Cause | None = None, then: str = ""
) -> StateT:
    """The state after a run that succeeded. `then` states what follows for work without a next tick."""
    ahead = state.next is not None
    cause = had_nothing_to_do or (Cause.SUCCEEDED if ahead else Cause.DONE)
    follows = "it waits for its next tick" if ahead else then or "no more is asked for"
    decision = cause.decision(f"run {ended.active.name}: {ended.message}; {follows}")
    known = {} if ended.duration is None else {"last_duration_seconds": round(ended.duration.total_seconds())}
    return changed(state, last_run=ended.active.name, last_time=ended.at, failure=None, decision=decision, **known)


def record_failure(
    state: StateT,
    ended: RunOutcome,
    key: str,
    retried: frozenset[FailureClass],
    for_a_human: frozenset[Reason] = frozenset(),
) -> StateT:
    """The state after a run that failed. Classes in `retried` are retried after 1 to 15 minutes, doubling.

    Reasons in `for_a_human` are not.
    """
    is_left = ended.reason in for_a_human
    count = state.failure.count + 1 if state.failure else 1
    failure = ended.as_failure(state.failure, None if is_left else retry_time(ended, count, key, retried))
    decision = _left_to_human(failure) if is_left else _after(failure, state.next)
    return changed(state, last_run=ended.active.name, failure=failure, decision=decision)


def _left_to_human(failure: LastFailure) -> LastDecision:
    """The decision after a failure that only a human ends. The next tick tries whether somebody has."""
    message = (
        f"run {failure.run} failed, and the condition Stalled says what to do; until then it waits for its next tick"
    )
    return Cause.FOR_A_HUMAN.decision(message)


def _after(failure: LastFailure, tick: datetime | None) -> LastDecision:
    """The decision after a failure, which replaces the decision from before the run."""
    if failure.next_try is not None:
        message = f"run {failure.run} failed; the next try is at {rfc3339(failure.next_try)}"
        return Cause.FAILED_FOR_NOW.decision(message)
    ahead = "an edit" if tick is None else "its next tick"
    message = f"run {failure.run} failed and is not repeated; it waits for {ahead}"
    return Cause.FAILED_FOR_GOOD.decision(message)


def retry_time(ended: RunOutcome, failures: int, key: str, retried: frozenset[FailureClass]) -> datetime | None:
    """When the table starts another run by itself, after `failures` failures in a row; None when it does not.

    - After an unknown result: at once. It ends only when a user deletes the run, and nothing is done twice: a write
      reads its list of loaded files first, everything else may be repeated.
    - After a job that the image could not read: at once, the first time. The operator of another release wrote it, and
      the job of the next run is of this release.
    """
    if ended.failure_class is FailureClass.RESULT_UNKNOWN:
        return ended.at
    if ended.failure_class not in retried:
        return None
    if ended.reason == Reason.JOB_UNREADABLE and failures == 1:
        return ended.at
    delays = backoff.OWNERSHIP if ended.reason == Reason.CONFLICT else backoff.ENVIRONMENT
    return ended.at + delays.delay(failures, f"{key}/{ended.active.type}/{ended.active.subject}")


def memory_of(state: ScheduleState, subject: str | None = None) -> Memory:
    """What the controller reads of the state."""
    waits = state.decision is not None and state.decision.reason in _POSTPONED
    return Memory(subject, state.failure, state.next, state.last_due, state.decision, waits)


def changed(state: StateT, **values: object) -> StateT:
    """A copy with `values`."""
    return state.model_copy(update=values)
