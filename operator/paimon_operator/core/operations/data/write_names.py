"""Which state and which ledger belong to a write: it is known by its content (`from` and `mode`), then by its name.

A write that only gets another name keeps its state and its ledger, so nothing is loaded again. Two writes of the same
content under two names each have their own. A write of type Once that is done is remembered by its content also when
its name and its ledger load something else by now: it runs once per content.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from paimon_operator.api.table.status import ActiveRun, FormerWrite, TableStatus, WriteState
from paimon_operator.core.operations.write_ledgers import MAX_FORMER, free_ledger, ledger_of

_Known = tuple[str, str]
"""Ledger and content of a former write."""


def slot_of_run(status: TableStatus, active: ActiveRun) -> WriteState:
    """The state of the write that `active` was started for, which may have another name by now."""
    name = active.subject or ""
    tests = (
        lambda state: state.name == name,
        lambda state: ledger_of(state) == name,
        lambda state: active.spec_hash is not None and state.hash == active.spec_hash,
    )
    found = (state for test in tests for state in status.writes if test(state))
    return next(found, None) or WriteState(name=name)


def with_states(status: TableStatus, wanted: Mapping[str, str]) -> TableStatus:
    """The status with one state per write of `wanted` (name -> hash of from and mode, in the manifest's order).

    Writes that left the manifest are remembered, so that one that comes back under another name is recognised.
    """
    left = {state.name: state for state in status.writes}
    former = _by_content(status.former_writes or ())
    found: dict[str, WriteState] = {}
    for name, hash_ in wanted.items():
        if name in left and _content(left[name]) in (None, hash_):
            found[name] = left.pop(name)
    for name, hash_ in wanted.items():
        if name not in found and (state := _of_content(hash_, left, former, found)) is not None:
            found[name] = state.model_copy(update={"name": name, "ledger": ledger_of(state)})
    for name, hash_ in wanted.items():
        if name not in found and name in left:
            found[name] = _edited(left.pop(name), hash_, former)
    for name, hash_ in wanted.items():
        if name not in found and (done := _done(hash_, former)):
            ledger = free_ledger(name, map(ledger_of, found.values()))
            found[name] = WriteState(name=name, ledger=ledger, hash=hash_, once_hash=done)
    at_work = None if status.active_run is None else status.active_run.subject
    states = _with_ledgers(wanted, found, at_work)
    remembered = _remembered(former, left.values(), {ledger_of(state) for state in states})
    return status.model_copy(update={"writes": states, "former_writes": remembered})


def with_former(status: TableStatus, state: WriteState) -> TableStatus:
    """The status that remembers a write which is in the manifest no more."""
    former = _by_content(status.former_writes or ())
    remembered = _remembered(former, [state], {ledger_of(each) for each in status.writes})
    return status.model_copy(update={"former_writes": remembered})


def with_done(status: TableStatus, state: WriteState, hash_: str | None) -> TableStatus:
    """The status after a run of type Once has loaded the content `hash_`, which its write may not have any more."""
    if hash_ is None or state.hash in (None, hash_):
        return status
    done = FormerWrite(ledger=ledger_of(state), hash=hash_, once_done=True)
    former = _by_content([*(status.former_writes or ()), done])
    return status.model_copy(update={"former_writes": tuple(former.values())[-MAX_FORMER:]})


def _content(state: WriteState) -> str | None:
    """The hash of what the write loads. Release 0.1 stored only that of a write of type Once that is done."""
    return state.hash or state.once_hash


def _by_content(former: Iterable[FormerWrite]) -> dict[_Known, FormerWrite]:
    return {(each.ledger, each.hash): each for each in former}


def _of_content(
    hash_: str, left: dict[str, WriteState], former: dict[_Known, FormerWrite], found: Mapping[str, WriteState]
) -> WriteState | None:
    """Takes the state of a write that was renamed; None when no write of this content is without a name."""
    renamed = next((state for state in left.values() if _content(state) == hash_), None)
    if renamed is not None:
        return left.pop(renamed.name)
    used = {ledger_of(state) for state in (*left.values(), *found.values())}
    known = next((each for each in former.values() if each.hash == hash_ and each.ledger not in used), None)
    if known is None:
        return None
    del former[known.ledger, known.hash]
    once_hash = hash_ if known.once_done else None
    return WriteState(name="renamed", ledger=known.ledger, hash=hash_, once_hash=once_hash)


def _edited(state: WriteState, hash_: str, former: dict[_Known, FormerWrite]) -> WriteState:
    """The state of a write that loads something else from now on. What it has loaded once is remembered."""
    ledger, before = ledger_of(state), _content(state)
    if before is not None and state.once_hash == before:
        former[ledger, before] = FormerWrite(ledger=ledger, hash=before, once_done=True)
    back = former.pop((ledger, hash_), None)
    return state if back is None or not back.once_done else state.model_copy(update={"once_hash": hash_})


def _done(hash_: str, former: Mapping[_Known, FormerWrite]) -> str | None:
    """The hash of a content that a write of type Once has loaded, whose ledger another write uses by now."""
    return next((each.hash for each in former.values() if each.hash == hash_ and each.once_done), None)


def _with_ledgers(
    wanted: Mapping[str, str], found: Mapping[str, WriteState], at_work: str | None
) -> tuple[WriteState, ...]:
    """The states in order. A new write does not take the ledger that a renamed one has kept.

    A state of release 0.1 gets its hash with the write's next run (`at_work`), so that an upgrade changes no status.
    """
    kept = {ledger_of(state) for state in found.values()}
    states = []
    for name, hash_ in wanted.items():
        state = found.get(name)
        if state is None:
            ledger = free_ledger(name, kept)
            state = WriteState(name=name, ledger=ledger)
            kept.add(ledger)
        own = None if ledger_of(state) == name else state.ledger
        is_old = name in found and state.hash is None and _content(state) in (None, hash_)
        content = None if is_old and name != at_work else hash_
        states.append(state.model_copy(update={"hash": content, "ledger": own}))
    return tuple(states)


def _remembered(
    former: Mapping[_Known, FormerWrite], left: Iterable[WriteState], used: set[str]
) -> tuple[FormerWrite, ...] | None:
    known = dict(former)
    for state in left:
        content = _content(state)
        if content is not None:
            known.pop((ledger_of(state), content), None)
            done = True if state.once_hash == content else None
            known[ledger_of(state), content] = FormerWrite(ledger=ledger_of(state), hash=content, once_done=done)
    kept = tuple(each for each in known.values() if each.once_done or each.ledger not in used)
    return kept[-MAX_FORMER:] or None
