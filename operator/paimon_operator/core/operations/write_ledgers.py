"""The ledgers of writes: their lists of loaded files, each in a directory of its own beside the table.

Ledgers can have entries of writes of which the PaimonTable knows no run: after another cluster's table was adopted, or
after a PaimonTable was deleted and recreated. The run that establishes the table looks for them, also under the former
names of a write. So no file is loaded again, and no run has to find out that a write of type Once is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from paimon_contract.parameters.provision import UnknownWrite
from paimon_operator.api.run.status import LoadedWrite
from paimon_operator.api.table.status import TableStatus, WriteState
from paimon_operator.api.table.writes import Write
from paimon_operator.core.operations import schedule_state
from paimon_operator.core.operations.causes import Cause
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.desired_table import digest
from paimon_operator.core.spec.identity import table_name

MAX_FORMER: Final = 16
"""Writes that are remembered after they left the manifest. The oldest is forgotten first."""


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


def free_ledger(name: str, used: Iterable[str]) -> str:
    """The first of `import`, `import_2`, ... that is not used: no write can have a name with `_`."""
    names = (name, *(f"{name}_{number}" for number in range(2, 2 * MAX_FORMER + 2)))
    return next(each for each in names if each not in set(used))


def unknown_writes(context: TableContext) -> tuple[UnknownWrite, ...]:
    """The writes of which no run is known."""
    status = context.table.status
    return tuple(
        UnknownWrite(name=write.name, hash=write_hash(write), ledger=ledger(context, write.name))
        for write in context.spec.writes
        if _is_unknown(slot(status, write.name))
    )


def with_loaded(status: TableStatus, loaded: Iterable[LoadedWrite], run: str) -> TableStatus:
    """The status in which writes have the ledgers that `run` has found, and are done if they have loaded once."""
    found = {each.name: each for each in loaded}
    states = (_done(state, found.get(state.name), run) for state in _with_ledgers(status.writes, found))
    return status.model_copy(update={"writes": tuple(states)})


def _is_unknown(state: WriteState) -> bool:
    return state.last_run is None and state.once_hash is None


def _with_ledgers(states: tuple[WriteState, ...], found: Mapping[str, LoadedWrite]) -> Iterator[WriteState]:
    """The states with the ledgers that were found. No write gets the ledger of another one."""
    used = {ledger_of(state) for state in states if not _is_unknown(state)}
    moved: dict[str, str] = {}
    for state in states:
        each = found.get(state.name)
        if each is not None and _is_unknown(state) and each.hash == state.hash:
            own = each.ledger or ledger_of(state)
            if own not in used:
                moved[state.name] = own
                used.add(own)
    for state in states:
        own = moved.get(state.name) or ledger_of(state)
        if state.name not in moved and _is_unknown(state):
            own = free_ledger(state.name, used) if own in used else own
            used.add(own)
        yield state.model_copy(update={"ledger": None if own == state.name else own})


def _done(state: WriteState, found: LoadedWrite | None, run: str) -> WriteState:
    """The state of a write that its ledger shows as done. What the ledger of another write shows does not count."""
    if found is None or not found.done or found.ledger not in (None, ledger_of(state)):
        return state
    message = f"run {run}: the table's list of loaded files has this write; it is done until from or mode is edited"
    decision = Cause.ALREADY_LOADED.decision(message)
    return schedule_state.changed(state, once_hash=found.hash, failure=None, decision=decision)
