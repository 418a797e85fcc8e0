"""Compaction by the operator: full, minor and sort, each with its own schedule, where writers do not compact."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import Field

from paimon_contract.parameters.compact import CompactParameters
from paimon_contract.result import Result, ResultMeasure
from paimon_operator.api.base import ApiModel, Json, not_larger, rfc3339, rule, validated, with_rules
from paimon_operator.api.compaction import CompactStrategy
from paimon_operator.api.policies import ExternalWriters
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.result import verification_result
from paimon_operator.api.run.spec import PaimonRun, member_of
from paimon_operator.api.run.status import RunTrigger
from paimon_operator.api.table.facts import TableFacts
from paimon_operator.api.table.schedule_state import LastDecision
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import CompactionState, StrategyState, TableStatus
from paimon_operator.api.units import paimon_duration
from paimon_operator.core import schedule
from paimon_operator.core.operations import retries, schedule_state
from paimon_operator.core.operations.base import DueRun, RunOutcome
from paimon_operator.core.operations.causes import Cause
from paimon_operator.core.operations.maintenance.compaction_need import (
    block_of,
    compaction_need,
    files_beyond_thresholds,
    files_gained,
    job_thresholds,
    longest_delay,
    settings_hash,
)
from paimon_operator.core.operations.maintenance.sort_need import other_writer, row_order
from paimon_operator.core.operations.need import Need
from paimon_operator.core.operations.operation import InputSize, Memory, OperationSpec, RunMember, RunTarget
from paimon_operator.core.operations.row_checks import record_verification, verify_parameters
from paimon_operator.core.spec.context import COMPACTION, MAINTENANCE, RECORDS, TableContext
from paimon_operator.core.spec.lost_rows import lost_by_compaction
from paimon_operator.errors import SpecError

IN_ORDER: Final = (CompactStrategy.FULL, CompactStrategy.MINOR, CompactStrategy.SORT)

_NEVER: Final = CompactionState()
_NEW: Final = StrategyState()
_KEYS: Final = rule("self.all(k, k.size() <= 128)", "a partition key must have at most 128 characters")
Partition = Annotated[
    dict[str, Annotated[str, Field(max_length=256)]],
    Field(min_length=1, max_length=16, json_schema_extra=with_rules(_KEYS)),
]
"""Partition key -> value, as text."""


class CompactRun(ApiModel):
    """Settings of a compaction."""

    model_config = validated(
        not_larger(
            "(has(self.partitions) ? self.partitions.map(p,"
            " 3 + p.map(k, bytes(k).size() + bytes(p[k]).size() + 6).sum()).sum() : 0)",
            "name fewer partitions, and create another run for the others",
            path=".partitions",
        )
    )

    strategy: CompactStrategy
    """Minor: merges a few sorted runs. Full: rewrites each bucket into one sorted run. Sort: sorts every file by the
    table's compaction.sort."""
    partitions: Annotated[tuple[Partition, ...], Field(min_length=1, max_length=100)] | None = None
    """Partitions to compact. Each entry has values for all partition keys, or for some of them and then selects all
    that match. Absent: all partitions. The table's partitionIdleTime does not apply."""


class CompactTable:
    """Full before minor: after a full compaction there is nothing left for a minor one. Users may request both."""

    def due(self, context: TableContext, status: TableStatus) -> Iterator[DueRun]:
        """Strategies whose tick has come."""
        if self.stopped_by(context, None) is not None:
            return
        for strategy in IN_ORDER:
            wanted, state = _schedule(context, strategy), _slot(status, strategy)
            work = schedule_state.due_run(OPERATION.type, state, wanted, context, strategy.value)
            if work is not None:
                longest, wanted_for = longest_delay(context, strategy), settings_hash(context, strategy)
                yield replace(work, max_delay=longest, spec_hash=wanted_for)

    def stopped_by(self, context: TableContext, subject: str | None) -> SpecError | None:  # noqa: ARG002
        """An error in compaction, in its verification or in the time zone stops all strategies."""
        return context.stops_schedule(COMPACTION) or context.broken_in(MAINTENANCE)

    def with_next_ticks(self, context: TableContext, status: TableStatus) -> TableStatus:
        """The next tick of each strategy that has a schedule."""
        error = self.stopped_by(context, None)
        for strategy in IN_ORDER:
            if error is not None:
                status = _stopped(status, strategy, error)
                continue
            wanted, state = _schedule(context, strategy), _slot(status, strategy)
            if wanted is not None:
                ahead = schedule_state.with_next(state, wanted, context)
                status = _with(status, strategy, schedule_state.changed(ahead, applies=_applied(context)))
            elif state != _NEW:
                stopped = schedule_state.without_schedule(state)
                status = _with(status, strategy, schedule_state.changed(stopped, applies=()))
        return status

    def record_decision(self, status: TableStatus, work: DueRun, decision: LastDecision) -> TableStatus:
        """The status with the decision about one strategy."""
        if work.partial:
            return status
        strategy = CompactStrategy(work.subject or "")
        status = _with(
            status, strategy, schedule_state.record_decision(_slot(status, strategy), work.due_time, decision)
        )
        return _with_latest(status, decision=decision)

    def memories(self, status: TableStatus) -> Iterator[Memory]:
        """One per strategy."""
        for strategy in IN_ORDER:
            yield schedule_state.memory_of(_slot(status, strategy), strategy.value)

    def requested(self, run: PaimonRun, created: datetime) -> DueRun:
        """The strategy that the run requests."""
        asked = target(run)
        return DueRun(
            type_=OPERATION.type,
            subject=asked.subject,
            partial=asked.partial,
            trigger=RunTrigger.USER,
            due=created,
            run=run,
        )


def _applied(context: TableContext) -> tuple[str, ...]:
    """The other blocks of the manifest that compactions apply."""
    retention = context.effective.retention
    return (RECORDS.removeprefix("spec."),) if retention is not None and retention.records is not None else ()


def record_result(status: TableStatus, ended: RunOutcome, key: str) -> TableStatus:
    """The status after a run. The result counts for its strategy and is also the latest of all.

    The failure of a user's run is not recorded, except that it has changed rows. A compaction of some partitions
    answers no tick.
    """
    status = record_verification(status, ended)
    if ended.active.partial:
        return status
    strategy = CompactStrategy(ended.active.subject or "")
    state = _slot(status, strategy)
    if ended.succeeded:
        state = _after_success(state, ended)
        status = _with(status, strategy, state)
        latest = (status.compaction or _NEVER).last_time
        times = [each for each in (latest, state.last_time) if each is not None]
        return _with_latest(
            status, last_run=state.last_run, last_time=max(times, default=None), decision=state.decision
        )
    if ended.active.trigger is RunTrigger.USER:
        return status
    state = schedule_state.record_failure(state, ended, key, retries.BEFORE_THE_NEXT_TICK)
    return _with_latest(_with(status, strategy, state), last_run=state.last_run, decision=state.decision)


def _after_success(state: StrategyState, ended: RunOutcome) -> StrategyState:
    """The state of the strategy. A run that found nothing to compact is none: the ages count on.

    So they do after one that has only removed records, because it left the other partitions as they were.
    """
    after, taken = ended.result.after, ended.result.compacted_partitions
    nothing, only_records = taken == 0, taken is not None and taken == ended.result.only_for_records
    known = schedule_state.record_success(state, ended, had_nothing_to_do=Cause.NOTHING_COMPACTED if nothing else None)
    return schedule_state.changed(
        known,
        last_time=state.last_time if nothing or only_records else known.last_time,
        compacted_snapshot=None if after is None else after.snapshot_id,
        compacted_for=ended.active.spec_hash,
    )


def need(context: TableContext, status: TableStatus, work: DueRun) -> Need:
    """Whether the strategy is needed."""
    return compaction_need(context, status, CompactStrategy(work.subject or ""))


def exceeded(context: TableContext, status: TableStatus) -> Iterator[str]:
    """One sentence per strategy that is due since before the latest tick, and still needed."""
    for strategy in IN_ORDER:
        state, late = _slot(status, strategy), _late_from(context, status, strategy)
        if state.next is None or late is None or late > context.now:
            continue
        found = files_beyond_thresholds(context, status, strategy)
        if found:
            waits = f": {state.decision.message}" if state.decision is not None else ""
            yield f"compaction.{strategy.value.lower()} has been due since {rfc3339(state.next)}, {found}{waits}"


def late_from(context: TableContext, status: TableStatus) -> Iterator[datetime]:
    """When each strategy that is due has been so for an interval of its schedule."""
    moments = (_late_from(context, status, strategy) for strategy in IN_ORDER)
    yield from (each for each in moments if each is not None)


def _late_from(context: TableContext, status: TableStatus, strategy: CompactStrategy) -> datetime | None:
    """None unless it is due, and while it waits for a maintenance window: that is what the catalog's owner wants."""
    wanted, state = _schedule(context, strategy), _slot(status, strategy)
    if wanted is None or state.next is None or state.next > context.now:
        return None
    waits_for_window = state.decision is not None and state.decision.reason == Reason.WAITING_FOR_WINDOW
    return None if waits_for_window else wanted.next_after(state.next)


def job(context: TableContext, run: PaimonRun) -> CompactParameters:
    """The compaction that `run` asks for. Raises SpecError for a strategy that the engine lacks."""
    if run.spec.trigger is not None and (error := context.broken_in(COMPACTION)) is not None:
        raise error
    if (error := context.broken_in(MAINTENANCE)) is not None:
        raise error
    asked = _asked(run) or CompactRun(strategy=CompactStrategy.FULL)
    strategy, partitions = asked.strategy, asked.partitions
    _require_fitting(context, strategy)
    for number, partition in enumerate(partitions or ()):
        _check_keys(partition, context.spec.table_schema.partition_keys, f"spec.compact.partitions[{number}]")
    # Idle time and thresholds bound what the schedule does by itself. A user who asks for no partitions asks for all.
    by_itself = run.spec.trigger is not None and not partitions
    idle = context.compaction.partition_idle_time if by_itself else None
    return CompactParameters(
        strategy=strategy,
        partitions=partitions,
        partition_idle_time=paimon_duration(idle) if idle else None,
        thresholds=job_thresholds(context, context.table.status, strategy) if by_itself else None,
        order=row_order(context) if strategy is CompactStrategy.SORT else None,
        verify=verify_parameters(context),
    )


def _require_fitting(context: TableContext, strategy: CompactStrategy) -> None:
    """Raises SpecError for a sort without an order, in a block with an error or beside another writer.

    And for another strategy on a sorted table: the engine sorts in each compaction of it, and that is to be asked for.
    """
    is_sorted = context.compaction.sort is not None
    if strategy is not CompactStrategy.SORT:
        if is_sorted:
            raise SpecError("spec.compact.strategy", "the table has compaction.sort, which replaces it", "Use Sort.")
        _require_minor(context, strategy)
        _require_no_deletes(context)
        return
    if (error := context.broken_in(COMPACTION)) is not None:
        raise error
    if not is_sorted:
        remedy = "Set spec.compaction.sort in the table, or use Full."
        raise SpecError("spec.compact.strategy", "the table has no compaction.sort, so no order to sort by", remedy)
    if (beside := other_writer(context, context.table.status)) is not None:
        remedy = "Stop that writer, then edit externalWriters of the table."
        raise SpecError("spec.externalWriters", beside.message, remedy, reason=Reason.OUTSIDE_COMMIT)


def _require_minor(context: TableContext, strategy: CompactStrategy) -> None:
    if strategy is CompactStrategy.MINOR and not context.engine.has_minor_compaction:
        raise SpecError(
            "spec.compact.strategy",
            f"the engine {context.engine.id} has no minor compaction",
            "Use Full, or a catalog with a newer engine.",
            reason=Reason.UNSUPPORTED_BY_ENGINE,
        )


def _require_no_deletes(context: TableContext) -> None:
    """Raises SpecError where the deletes of another writer would get lost: users may compact whatever the mode is."""
    lost = lost_by_compaction(context.spec, context.engine)
    is_declared = context.spec.external_writers is ExternalWriters.ACTIVE
    if lost is None or not (is_declared or other_writer(context, context.table.status)):
        return
    remedy = "Stop the other writers, then set externalWriters to Paused (to None if it is Paused)."
    raise SpecError("spec.externalWriters", lost, remedy, reason=Reason.OUTSIDE_COMMIT)


def _check_keys(partition: Mapping[str, str], keys: tuple[str, ...], field: str) -> None:
    unknown = next((key for key in partition if key not in keys), None)
    if unknown is None:
        return
    known = f"The table's are {', '.join(keys)}." if keys else "The table has none: leave partitions out."
    raise SpecError(field, f"{unknown!r} is no partition key", known)


def _schedule(context: TableContext, strategy: CompactStrategy) -> schedule.Schedule | None:
    block = block_of(context, strategy)
    return schedule.parse(block.schedule, context.zone) if block and context.dedicated else None


def _stopped(status: TableStatus, strategy: CompactStrategy, error: SpecError) -> TableStatus:
    """A strategy that has had a schedule waits until the manifest is fixed."""
    state = _slot(status, strategy)
    return status if state == _NEW else _with(status, strategy, schedule_state.stopped(state, error))


def _slot(status: TableStatus, strategy: CompactStrategy) -> StrategyState:
    known = status.compaction or _NEVER
    slots = {CompactStrategy.FULL: known.full, CompactStrategy.MINOR: known.minor, CompactStrategy.SORT: known.sort}
    return slots[strategy] or _NEW


def _with(status: TableStatus, strategy: CompactStrategy, state: StrategyState) -> TableStatus:
    """The status with one strategy's memory, and `next` and `failure` of the whole drawn from all."""
    both = (status.compaction or _NEVER).model_copy(update={strategy.value.lower(): state})
    slots = [each for each in (both.full, both.minor, both.sort) if each is not None]
    failures = [slot.failure for slot in slots if slot.failure is not None]
    summary = {
        "last_due": max((slot.last_due for slot in slots if slot.last_due), default=None),
        "next": min((slot.next for slot in slots if slot.next), default=None),
        "failure": max(failures, key=lambda failure: failure.time, default=None),
        "decision": both.decision if any(slot.decision for slot in slots) else None,
    }
    return status.model_copy(update={"compaction": both.model_copy(update=summary)})


def _with_latest(status: TableStatus, **values: object) -> TableStatus:
    both = status.compaction or _NEVER
    return status.model_copy(update={"compaction": both.model_copy(update=values)})


def _asked(run: PaimonRun) -> CompactRun | None:
    return member_of(run.spec, MEMBER.field, CompactRun)


def target(run: PaimonRun) -> RunTarget:
    """The strategy, and whether it covers only some partitions."""
    asked = _asked(run)
    return RunTarget() if asked is None else RunTarget(asked.strategy.value, asked.partitions is not None)


def input_size(run: PaimonRun, table: PaimonTable) -> InputSize:
    """The table's size. A minor compaction merges only what the last loads have left."""
    asked = _asked(run)
    if asked is not None and asked.strategy is CompactStrategy.MINOR:
        loads = [write.rows for write in table.status.writes if write.rows is not None]
        return InputSize(sum(loads) if loads else None, None, "the last loads of all writes")
    facts = table.status.table or TableFacts(identifier="")
    return InputSize(facts.rows, facts.size_bytes, "the table")


def status_fields(result: Result) -> Mapping[str, Any]:
    """How many partitions were compacted, why, and whether any row has changed."""
    counts = {"compacted_partitions": result.compacted_partitions, "only_for_records": result.only_for_records}
    return {**counts, "verification": verification_result(result)}


def summary(result: Result) -> str:
    """What was done."""
    count = result.compacted_partitions
    if count == 0:
        return "no partition reaches a threshold, so nothing was compacted"
    where = "" if count is None else f" in {count} partition{'' if count == 1 else 's'}"
    if result.only_for_records:
        where += f", {result.only_for_records} of them only to remove records"
    found = result.verification
    verified = "" if found is None or not found.commits else f"; {found.rows} rows were compared, and none has changed"
    return f"compacted from {_files(result.before)} to {_files(result.after)}{where}{verified}"


def _files(measure: ResultMeasure | None) -> str:
    return "an unknown number of files" if measure is None or measure.files is None else f"{measure.files} files"


def _of_strategy(strategy: str) -> Json:
    return {"strategy": strategy}


MEMBER: Final = RunMember(field="compact", model=CompactRun, of_subject=_of_strategy)
_COMPACTION: Final = CompactTable()
OPERATION: Final = OperationSpec(
    type="Compact",
    order=30,
    scheduled=_COMPACTION,
    on_demand=_COMPACTION,
    member=MEMBER,
    target=target,
    job=job,
    summary=summary,
    status_fields=status_fields,
    memory="compaction",
    record_result=record_result,
    input_size=input_size,
    skips_empty_table=True,
    may_end_without_jvm=True,
    need=need,
    gain=files_gained,
    exceeded=exceeded,
    late_from=late_from,
    in_windows=True,
)
