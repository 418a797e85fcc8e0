"""Compaction by the operator: full and minor, each on a schedule of its own, on tables whose writers skip it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from paimon_contract.parameters.compact import CompactParameters
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import CompactRun, CompactStrategy, PaimonRun
from paimon_operator.api.run.status import RunTrigger, RunType
from paimon_operator.api.table.status import CompactionState, LastDecision, LastFailure, ScheduleState, TableStatus
from paimon_operator.api.units import paimon_duration
from paimon_operator.core import schedule
from paimon_operator.core.operations import schedule_state
from paimon_operator.core.operations.base import DueRun, RunOutcome
from paimon_operator.core.spec.context import TableContext
from paimon_operator.errors import SpecError

FULL_FIRST: Final = (CompactStrategy.FULL, CompactStrategy.MINOR)


class Compact:
    """Full before minor: after a full compaction there is nothing left for a minor one."""

    type_ = RunType.COMPACT

    def due(self, context: TableContext, status: TableStatus) -> Iterator[DueRun]:
        """Strategies whose tick has come."""
        for strategy in FULL_FIRST:
            wanted = _schedule(context, strategy)
            tick = wanted and schedule_state.due_tick(_slot(status, strategy), wanted, context.created, context.now)
            if tick:
                yield DueRun(
                    type_=RunType.COMPACT,
                    subject=strategy.value,
                    trigger=RunTrigger.SCHEDULE,
                    due=tick.since,
                    due_time=tick.tick,
                    identity=tick.identity,
                    after=_slot(status, strategy).last_run,
                )

    def outlook(self, context: TableContext, status: TableStatus) -> TableStatus:
        """The next tick of each strategy that has a schedule."""
        for strategy in FULL_FIRST:
            wanted, state = _schedule(context, strategy), _slot(status, strategy)
            if wanted is not None:
                status = _with(status, strategy, schedule_state.with_next(state, wanted, context))
            elif state != ScheduleState():
                status = _with(status, strategy, schedule_state.without_schedule(state))
        return status

    def noted(self, status: TableStatus, work: DueRun, decision: LastDecision) -> TableStatus:
        """What was decided about one strategy."""
        if work.partial:
            return status
        strategy = CompactStrategy(work.subject or "")
        status = _with(
            status, strategy, schedule_state.record_decision(_slot(status, strategy), work.due_time, decision)
        )
        return _told(status, decision=decision)

    def ended(self, status: TableStatus, ended: RunOutcome, key: str) -> TableStatus:
        """The result counts for its strategy, and shows as the latest of both.

        A user's failure is the user's; and a part of the table that a user had compacted answers for no tick.
        """
        if ended.active.partial:
            return status
        strategy = CompactStrategy(ended.active.subject or "")
        state = _slot(status, strategy)
        if ended.succeeded:
            state = schedule_state.record_success(state, ended)
            status = _with(status, strategy, state)
            return _told(status, last_run=state.last_run, last_time=ended.at, decision=state.decision)
        if ended.active.trigger is RunTrigger.USER:
            return status
        retried = schedule_state.RETRIED_BEFORE_THE_NEXT_TICK
        state = schedule_state.record_failure(state, ended, key, retried)
        return _told(_with(status, strategy, state), last_run=state.last_run, decision=state.decision)

    def failures(self, status: TableStatus) -> Iterator[tuple[str | None, LastFailure]]:
        """The failures of both strategies."""
        states = ((strategy.value, _slot(status, strategy)) for strategy in FULL_FIRST)
        yield from ((strategy, state.failure) for strategy, state in states if state.failure is not None)

    def wakes(self, status: TableStatus) -> Iterator[datetime]:
        """The next ticks and retries of both."""
        for strategy in FULL_FIRST:
            yield from schedule_state.next_wakeups(_slot(status, strategy))


def job(context: TableContext, run: PaimonRun) -> CompactParameters:
    """The compaction that `run` asks for. Raises SpecError for a strategy that the engine lacks."""
    asked = run.spec.compact or CompactRun(strategy=CompactStrategy.FULL)
    strategy, partitions = asked.strategy, asked.partitions
    if strategy is CompactStrategy.MINOR and not context.engine.has_minor_compaction:
        raise SpecError(
            "spec.compact.strategy",
            f"the engine {context.engine.id} has no minor compaction",
            "Use Full, or a catalog with a newer engine.",
            reason=Reason.UNSUPPORTED_BY_ENGINE,
        )
    for number, partition in enumerate(partitions or ()):
        _check_keys(partition, context.spec.table_schema.partition_keys, f"spec.compact.partitions[{number}]")
    idle = None if partitions else context.compaction.partition_idle_time
    return CompactParameters(
        strategy=strategy, partitions=partitions, partition_idle_time=paimon_duration(idle) if idle else None
    )


def _check_keys(partition: Mapping[str, str], keys: tuple[str, ...], field: str) -> None:
    unknown = next((key for key in partition if key not in keys), None)
    if unknown is None:
        return
    known = f"The table's are {', '.join(keys)}." if keys else "The table has none: leave partitions out."
    raise SpecError(field, f"{unknown!r} is no partition key", known)


def _schedule(context: TableContext, strategy: CompactStrategy) -> schedule.Schedule | None:
    block = context.compaction.full if strategy is CompactStrategy.FULL else context.compaction.minor
    return schedule.parse(block.schedule, context.zone) if block and context.dedicated else None


def _slot(status: TableStatus, strategy: CompactStrategy) -> ScheduleState:
    both = status.compaction or CompactionState()
    return (both.full if strategy is CompactStrategy.FULL else both.minor) or ScheduleState()


def _with(status: TableStatus, strategy: CompactStrategy, state: ScheduleState) -> TableStatus:
    """The status with one strategy's memory, and `next` and `failure` of the whole drawn from both."""
    both = (status.compaction or CompactionState()).model_copy(update={strategy.value.lower(): state})
    slots = [each for each in (both.full, both.minor) if each is not None]
    failures = [slot.failure for slot in slots if slot.failure is not None]
    summary = {
        "last_due": max((slot.last_due for slot in slots if slot.last_due), default=None),
        "next": min((slot.next for slot in slots if slot.next), default=None),
        "failure": max(failures, key=lambda failure: failure.time, default=None),
        "decision": both.decision if any(slot.decision for slot in slots) else None,
    }
    return status.model_copy(update={"compaction": both.model_copy(update=summary)})


def _told(status: TableStatus, **values: object) -> TableStatus:
    both = status.compaction or CompactionState()
    return status.model_copy(update={"compaction": both.model_copy(update=values)})
