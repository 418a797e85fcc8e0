"""Writes from files: once, or on a schedule; in the order of the list, one run each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from paimon_contract.parameters.write import WriteParameters
from paimon_contract.result import Result
from paimon_operator.api.base import ApiModel, Json, MemberName
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.result import write_result
from paimon_operator.api.run.spec import PaimonRun, member_of
from paimon_operator.api.run.status import RunTrigger
from paimon_operator.api.table.schedule_state import LastDecision
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import TableStatus, WriteState
from paimon_operator.api.table.writes import MAX_WRITES, TriggerType, Write
from paimon_operator.core import backoff, schedule
from paimon_operator.core.operations import retries, schedule_state
from paimon_operator.core.operations.base import DueRun, RunOutcome, identity
from paimon_operator.core.operations.causes import Cause
from paimon_operator.core.operations.data.write_names import slot_of_run, with_done, with_former, with_states
from paimon_operator.core.operations.data.write_order import (
    DueWrite,
    in_list_order,
    is_waited_for,
    last_end,
    until_retry,
)
from paimon_operator.core.operations.operation import InputSize, Memory, OperationSpec, RunMember, RunTarget
from paimon_operator.core.operations.write_ledgers import ledger, ledger_of, slot, write_hash
from paimon_operator.core.spec.context import TableContext, write_path
from paimon_operator.errors import SpecError


class WriteRun(ApiModel):
    """The write to run."""

    name: MemberName
    """Name of one of the table's writes."""


class Writes:
    """Every write of the list, remembered by its name in status.writes."""

    def due(self, context: TableContext, status: TableStatus) -> Iterator[DueRun]:
        """Writes whose tick has come, and writes of type Once that have not been done, in the order to run them."""
        works, _ = until_retry(_all_due(context, status))
        return in_list_order(works, {state.name: last_end(state) for state in status.writes})

    def stopped_by(self, context: TableContext, subject: str | None) -> SpecError | None:
        """An error of the write, or in the time zone of its schedule."""
        numbered = enumerate(context.spec.writes)
        return next((_stopped_by(context, index, each) for index, each in numbered if each.name == subject), None)

    def with_next_ticks(self, context: TableContext, status: TableStatus) -> TableStatus:
        """The writes of the manifest, in its order, each with its next tick."""
        status = with_states(status, {write.name: write_hash(write) for write in context.spec.writes})
        states = []
        for index, write in enumerate(context.spec.writes):
            state = slot(status, write.name)
            if (error := _stopped_by(context, index, write)) is not None:
                states.append(schedule_state.stopped(state, error))
            elif (wanted := _schedule(context, write)) is not None:
                states.append(schedule_state.with_next(state, wanted, context))
            else:
                states.append(_once_state(state, write, context))
        return _with_waits(context, status.model_copy(update={"writes": tuple(states)}))

    def record_decision(self, status: TableStatus, work: DueRun, decision: LastDecision) -> TableStatus:
        """What was decided about one write."""
        return _with(status, schedule_state.record_decision(slot(status, work.subject or ""), work.due_time, decision))

    def memories(self, status: TableStatus) -> Iterator[Memory]:
        """One per write, in their order."""
        for state in status.writes:
            yield schedule_state.memory_of(state, state.name)


def record_result(status: TableStatus, ended: RunOutcome, key: str) -> TableStatus:
    """The status after a run of one write, which may have been renamed or removed meanwhile."""
    state = slot_of_run(status, ended.active)
    once = ended.active.trigger is RunTrigger.ONCE
    if not ended.succeeded:
        # A table that has vanished is recreated, and no edit follows that would start the write again.
        retryable = retries.EVERY_CLASS if ended.reason == Reason.TABLE_NOT_FOUND else retries.ONCE
        retried = retryable if once else retries.BEFORE_THE_NEXT_TICK
        return _with(status, schedule_state.record_failure(state, ended, key, retried))
    loaded = ended.result.write
    nothing = Cause.ALREADY_LOADED if loaded is not None and loaded.skipped else None
    then = "it is done until from or mode is edited" if once else ""
    state = schedule_state.record_success(state, ended, had_nothing_to_do=nothing, then=then)
    if loaded is not None and loaded.committed_snapshot is not None:
        state = schedule_state.changed(state, committed_snapshot=loaded.committed_snapshot, rows=loaded.rows)
    if not once:
        return _with(status, state)
    done = with_done(status, state, ended.active.spec_hash)
    return _with(done, schedule_state.changed(state, once_hash=ended.active.spec_hash))


def on_spec_change(status: TableStatus, table: PaimonTable, now: datetime) -> TableStatus:
    """After any edit, a failed write of type Once is tried again. It does not load again what it has loaded."""
    if table.metadata.generation == status.observed_generation:
        return status
    return status.model_copy(update={"writes": tuple(_tried_again(state, now) for state in status.writes)})


def _tried_again(state: WriteState, now: datetime) -> WriteState:
    failure = state.failure
    if failure is None or failure.spec_hash is None or failure.next_try is not None:
        return state
    return schedule_state.changed(state, failure=failure.model_copy(update={"next_try": now}))


def job(context: TableContext, run: PaimonRun) -> WriteParameters:
    """The write that `run` names. Raises SpecError when the table or its catalog no longer has what it needs."""
    name = target(run).subject or ""
    write = _find(context, name)
    if write is None:
        raise SpecError(
            "spec.writes", f"there is no write {name!r}", "Add it, or delete the run.", reason=Reason.WRITE_NOT_FOUND
        )
    if (error := context.broken_in(write_path(context.spec.writes.index(write)))) is not None:
        raise error
    files = write.source.files
    return WriteParameters(
        name=write.name,
        hash=write_hash(write),
        mode=write.mode,
        format=files.format,
        location=_location(context, files.location),
        location_name=files.location,
        path=files.path or "",
        select=files.select,
        once=write.trigger.type is TriggerType.ONCE,
        options=dict(write.options),
        ledger=ledger(context, write.name),
    )


def _find(context: TableContext, name: str) -> Write | None:
    """The write that a run names, also by the name that it had when the run was decided."""
    now = {ledger_of(state): state.name for state in context.table.status.writes}
    names = (name, now.get(name))
    return next((each for wanted in names for each in context.spec.writes if each.name == wanted), None)


def _location(context: TableContext, name: str) -> str:
    """The URI of a location of the catalog. Raises SpecError when the catalog has none of this name."""
    location = next((each for each in context.catalog.spec.locations if each.name == name), None)
    if location is None:
        raise SpecError(
            "spec.writes.from.files.location",
            f"PaimonCatalog {context.catalog.metadata.name} has no location {name!r}",
            "Use one of the catalog's locations.",
            reason=Reason.LOCATION_NOT_FOUND,
        )
    return location.uri


def _once_state(state: WriteState, write: Write, context: TableContext) -> WriteState:
    pending = None if state.once_hash == write_hash(write) else state.pending_since or context.now
    return schedule_state.changed(state, next=None, pending_since=pending)


def _all_due(context: TableContext, status: TableStatus) -> Iterator[DueWrite]:
    """Every write of the list: whether it is due, and whether the writes after it wait for its retry."""
    for index, write in enumerate(context.spec.writes):
        if _stopped_by(context, index, write) is not None:
            continue
        once = write.trigger.type is TriggerType.ONCE
        work = _due_once(context, status, write) if once else _due_tick(context, status, write)
        yield DueWrite(write.name, work, is_waited_for(slot(status, write.name), context.now))


def _stopped_by(context: TableContext, index: int, write: Write) -> SpecError | None:
    """The error that stops the write: one of its own, or in the time zone of its schedule."""
    path = write_path(index)
    return context.broken_in(path) if write.trigger.schedule is None else context.stops_schedule(path)


def _with_waits(context: TableContext, status: TableStatus) -> TableStatus:
    """The status in which each due write says which retry it waits for."""
    _, waiting = until_retry(_all_due(context, status))
    active = status.active_run.subject if status.active_run is not None else None
    for work, earlier in waiting:
        if work.subject != active:
            status = _with(status, schedule_state.record_decision(slot(status, work.subject or ""), None, earlier))
    return status


def _due_tick(context: TableContext, status: TableStatus, write: Write) -> DueRun | None:
    state, wanted = slot(status, write.name), _schedule(context, write)
    return schedule_state.due_run(OPERATION.type, state, wanted, context, write.name)


def _due_once(context: TableContext, status: TableStatus, write: Write) -> DueRun | None:
    state, wanted = slot(status, write.name), write_hash(write)
    if state.once_hash == wanted:
        return None
    failure = state.failure if state.failure and state.failure.spec_hash == wanted else None
    if failure is not None and not backoff.has_come(failure.next_try, context.now):
        return None
    return DueRun(
        type_=OPERATION.type,
        subject=write.name,
        trigger=RunTrigger.ONCE,
        due=state.pending_since or context.created,
        spec_hash=wanted,
        identity=identity(wanted, failure.count if failure else 0),
        after=state.last_run,
    )


def _schedule(context: TableContext, write: Write) -> schedule.Schedule | None:
    return schedule.parse(write.trigger.schedule, context.zone) if write.trigger.schedule else None


def _with(status: TableStatus, state: WriteState) -> TableStatus:
    """The status with the state of a write. One that left a full list is remembered among the former writes."""
    if any(each.name == state.name for each in status.writes):
        states = tuple(state if each.name == state.name else each for each in status.writes)
    elif len(status.writes) < MAX_WRITES:
        states = (*status.writes, state)
    else:
        return with_former(status, state)
    return status.model_copy(update={"writes": states})


def target(run: PaimonRun) -> RunTarget:
    """The name of the write."""
    asked = member_of(run.spec, MEMBER.field, WriteRun)
    return RunTarget() if asked is None else RunTarget(asked.name)


def input_size(run: PaimonRun, table: PaimonTable) -> InputSize:
    """Rows of the write's last load: the next input is not known before Spark has listed it."""
    name = target(run).subject
    rows = next((write.rows for write in table.status.writes if write.name == name), None)
    return InputSize(rows, None, f"the last load of write {name}")


def is_still_asked_for(context: TableContext, run: PaimonRun, decided: str) -> bool:
    """Whether the write is unchanged since the run was decided. The job reports a write that was removed.

    A write that was renamed, which the status does not show yet, is asked for by another run.
    """
    write = _find(context, target(run).subject or "")
    if write is None:
        return all(write_hash(each) != decided for each in context.spec.writes)
    return write_hash(write) == decided


def status_fields(result: Result) -> Mapping[str, Any]:
    """What was loaded."""
    return {"write": write_result(result)}


def summary(result: Result) -> str:
    """What was done."""
    if result.write is None or result.write.skipped:
        return "there was nothing to load"
    found = " by an earlier attempt" if result.write.already_committed else ""
    return f"{result.write.rows} rows of {result.write.files} files were loaded{found}"


def _of_name(name: str) -> Json:
    return {"name": name}


MEMBER: Final = RunMember(field="write", model=WriteRun, of_subject=_of_name)
OPERATION: Final = OperationSpec(
    type="Write",
    order=20,
    scheduled=Writes(),
    member=MEMBER,
    target=target,
    job=job,
    summary=summary,
    status_fields=status_fields,
    memory="writes",
    record_result=record_result,
    on_spec_change=on_spec_change,
    is_still_asked_for=is_still_asked_for,
    input_size=input_size,
    needs_matching_table=True,
    lost_result_is_unknown=True,
)
