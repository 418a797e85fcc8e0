"""Writes from files: once, or on a schedule; in the order of the list, one run each."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from paimon_contract.parameters.write import WriteParameters
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import FailureClass, RunTrigger, RunType
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import LastDecision, LastFailure, TableStatus, WriteState
from paimon_operator.api.table.writes import TriggerType, Write
from paimon_operator.core import schedule
from paimon_operator.core.operations import schedule_state
from paimon_operator.core.operations.base import DueRun, RunOutcome, identity
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.desired_table import digest
from paimon_operator.core.spec.identity import table_name
from paimon_operator.errors import SpecError

ONCE_RETRIED: Final = frozenset(FailureClass) - {FailureClass.SPEC, FailureClass.RESULT_UNKNOWN, FailureClass.CANCELLED}
"""No tick will bring a write of type Once back, so the table does; but never one that may have committed."""


class Writes:
    """Every write of the list, remembered by its name in status.writes."""

    type_ = RunType.WRITE

    def due(self, context: TableContext, status: TableStatus) -> Iterator[DueRun]:
        """Writes whose tick has come, and writes of type Once that have not been done."""
        for write in context.spec.writes:
            once = write.trigger.type is TriggerType.ONCE
            work = _due_once(context, status, write) if once else _due_tick(context, status, write)
            if work is not None:
                yield work

    def outlook(self, context: TableContext, status: TableStatus) -> TableStatus:
        """The writes of the manifest, in its order, each with its next tick."""
        states = []
        for write in context.spec.writes:
            state, wanted = _slot(status, write.name), _schedule(context, write)
            if wanted is not None:
                states.append(schedule_state.with_next(state, wanted, context))
            else:
                states.append(schedule_state.changed(state, next=None))
        return status.model_copy(update={"writes": tuple(states)})

    def noted(self, status: TableStatus, work: DueRun, decision: LastDecision) -> TableStatus:
        """What was decided about one write."""
        return _with(status, schedule_state.record_decision(_slot(status, work.subject or ""), work.due_time, decision))

    def ended(self, status: TableStatus, ended: RunOutcome, key: str) -> TableStatus:
        """The result of one write; a manifest that no longer has it forgets it at the next look."""
        state = _slot(status, ended.active.subject or "")
        once = ended.active.trigger is RunTrigger.ONCE
        if not ended.succeeded:
            # A table that has vanished is made anew, and no edit follows that would bring the write back.
            retryable = frozenset(FailureClass) if ended.reason == Reason.TABLE_NOT_FOUND else ONCE_RETRIED
            retried = retryable if once else schedule_state.RETRIED_BEFORE_THE_NEXT_TICK
            return _with(status, schedule_state.record_failure(state, ended, key, retried))
        loaded = ended.result.write
        reason = Reason.NOT_NEEDED if loaded is not None and loaded.skipped else Reason.RUN_SUCCEEDED
        then = "it is done until from or mode is edited" if once else ""
        state = schedule_state.record_success(state, ended, reason=reason, then=then)
        if loaded is not None and loaded.committed_snapshot is not None:
            state = schedule_state.changed(state, committed_snapshot=loaded.committed_snapshot, rows=loaded.rows)
        return _with(status, schedule_state.changed(state, once_hash=ended.active.spec_hash) if once else state)

    def failures(self, status: TableStatus) -> Iterator[tuple[str | None, LastFailure]]:
        """The failures of all writes, in their order."""
        yield from ((state.name, state.failure) for state in status.writes if state.failure is not None)

    def wakes(self, status: TableStatus) -> Iterator[datetime]:
        """The next ticks and retries of all."""
        for state in status.writes:
            yield from schedule_state.next_wakeups(state)


def on_spec_change(status: TableStatus, table: PaimonTable, now: datetime) -> TableStatus:
    """Any edit brings a write of type Once back that failed and waits: what it loaded it does not load again."""
    if table.metadata.generation == status.observed_generation:
        return status
    return status.model_copy(update={"writes": tuple(_tried_again(state, now) for state in status.writes)})


def _tried_again(state: WriteState, now: datetime) -> WriteState:
    failure = state.failure
    if failure is None or failure.spec_hash is None or failure.next_try is not None:
        return state
    return schedule_state.changed(state, failure=failure.model_copy(update={"next_try": now}))


def write_hash(write: Write) -> str:
    """Hash of `from` and `mode`: what makes a write of type Once a new one."""
    return digest(write.model_dump(mode="json", by_alias=True, exclude_none=True, include={"source", "mode"}))


def job(context: TableContext, run: PaimonRun) -> WriteParameters:
    """The write that `run` names. Raises SpecError when the table or its catalog no longer has what it needs."""
    name = run.spec.write.name if run.spec.write else ""
    write = next((each for each in context.spec.writes if each.name == name), None)
    if write is None:
        raise SpecError(
            "spec.writes", f"there is no write {name!r}", "Add it, or delete the run.", reason=Reason.WRITE_NOT_FOUND
        )
    files = write.source.files
    location = next((each for each in context.catalog.spec.locations if each.name == files.location), None)
    if location is None:
        raise SpecError(
            "spec.writes.from.files.location",
            f"PaimonCatalog {context.catalog.metadata.name} has no location {files.location!r}",
            "Use one of the catalog's locations.",
            reason=Reason.LOCATION_NOT_FOUND,
        )
    return WriteParameters(
        name=write.name,
        hash=write_hash(write),
        mode=write.mode,
        format=files.format,
        location=location.uri,
        path=files.path or "",
        select=files.select,
        once=write.trigger.type is TriggerType.ONCE,
        options=dict(write.options),
        ledger=ledger(context, write.name),
    )


def ledger(context: TableContext, write: str) -> str:
    """Directory of the write's list of loaded files, beside the databases of the warehouse."""
    table = f"{context.spec.database}.{table_name(context.table)}"
    return f"{context.catalog.spec.warehouse.rstrip('/')}/.paimon-operator/{table}/{write}/"


def _due_tick(context: TableContext, status: TableStatus, write: Write) -> DueRun | None:
    wanted = _schedule(context, write)
    tick = wanted and schedule_state.due_tick(_slot(status, write.name), wanted, context.created, context.now)
    if not tick:
        return None
    return DueRun(
        type_=RunType.WRITE,
        subject=write.name,
        trigger=RunTrigger.SCHEDULE,
        due=tick.since,
        due_time=tick.tick,
        identity=tick.identity,
        after=_slot(status, write.name).last_run,
    )


def _due_once(context: TableContext, status: TableStatus, write: Write) -> DueRun | None:
    state, wanted = _slot(status, write.name), write_hash(write)
    if state.once_hash == wanted:
        return None
    failure = state.failure if state.failure and state.failure.spec_hash == wanted else None
    if failure is not None and (failure.next_try is None or failure.next_try > context.now):
        return None
    return DueRun(
        type_=RunType.WRITE,
        subject=write.name,
        trigger=RunTrigger.ONCE,
        due=context.created,
        spec_hash=wanted,
        identity=identity(wanted, failure.count if failure else 0),
        after=state.last_run,
    )


def _schedule(context: TableContext, write: Write) -> schedule.Schedule | None:
    return schedule.parse(write.trigger.schedule, context.zone) if write.trigger.schedule else None


def _slot(status: TableStatus, name: str) -> WriteState:
    return next((state for state in status.writes if state.name == name), None) or WriteState(name=name)


def _with(status: TableStatus, state: WriteState) -> TableStatus:
    if any(each.name == state.name for each in status.writes):
        states = tuple(state if each.name == state.name else each for each in status.writes)
    else:
        states = (*status.writes, state)
    return status.model_copy(update={"writes": states})
