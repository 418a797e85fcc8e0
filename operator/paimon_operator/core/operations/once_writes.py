"""Writes of type Once that a table's lists of loaded files show as done, although the PaimonTable does not know it.

That is so after another cluster's table was adopted, or after a PaimonTable was deleted and recreated. The run that
establishes the table reads the lists, so that no run of the write has to find it out.
"""

from __future__ import annotations

from collections.abc import Iterable

from paimon_contract.parameters.provision import OnceWrite
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import LoadedWrite
from paimon_operator.api.table.status import DecisionResult, LastDecision, TableStatus, WriteState
from paimon_operator.api.table.writes import TriggerType, Write
from paimon_operator.core.operations import schedule_state
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.desired_table import digest
from paimon_operator.core.spec.identity import table_name


def write_hash(write: Write) -> str:
    """Hash of `from` and `mode`: what makes a write of type Once a new one.

    Status and the ledger of loaded files store it. A field at its default adds nothing, so a new optional field of the
    model changes no hash.
    """
    return digest(write.model_dump(mode="json", by_alias=True, exclude_defaults=True, include={"source", "mode"}))


def ledger_of(state: WriteState) -> str:
    """The directory of the write's ledger, below that of its table."""
    return state.ledger or state.name


def slot(status: TableStatus, name: str) -> WriteState:
    """The state of the write `name`, a new one if there is none."""
    return next((state for state in status.writes if state.name == name), None) or WriteState(name=name)


def ledger(context: TableContext, write: str) -> str:
    """Directory of the write's list of loaded files, beside the databases of the warehouse."""
    table = f"{context.spec.database}.{table_name(context.table)}"
    own = ledger_of(slot(context.table.status, write))
    return f"{context.catalog.spec.warehouse.rstrip('/')}/.paimon-operator/{table}/{own}/"


def pending(context: TableContext) -> tuple[OnceWrite, ...]:
    """The writes of type Once that are not known as done."""
    status = context.table.status
    return tuple(
        OnceWrite(name=write.name, hash=write_hash(write), ledger=ledger(context, write.name))
        for write in context.spec.writes
        if write.trigger.type is TriggerType.ONCE and slot(status, write.name).once_hash != write_hash(write)
    )


def with_loaded(status: TableStatus, loaded: Iterable[LoadedWrite], run: str) -> TableStatus:
    """The status in which the writes that `run` has found as done are done."""
    hashes = {each.name: each.hash for each in loaded}
    states = (_done(state, hashes[state.name], run) if state.name in hashes else state for state in status.writes)
    return status.model_copy(update={"writes": tuple(states)})


def _done(state: WriteState, hash_: str, run: str) -> WriteState:
    message = f"run {run}: the table's list of loaded files has this write; it is done until from or mode is edited"
    decision = LastDecision(result=DecisionResult.SKIPPED, reason=Reason.NOT_NEEDED, message=message)
    return schedule_state.changed(state, once_hash=hash_, failure=None, decision=decision)
