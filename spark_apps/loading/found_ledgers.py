"""Finds the ledgers of writes that a PaimonTable does not know: runs of another one have loaded them.

A write is known by its content, the hash of `from` and `mode`. A renamed write has kept its first directory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from paimon_contract.job import Job
from paimon_contract.parameters.provision import UnknownWrite
from paimon_contract.result import LoadedWrite
from spark_apps.catalog.session import Session
from spark_apps.loading.ledger import Ledger
from spark_apps.loading.recovery import all_ledgers


def found_writes(job: Job, session: Session, table: Any, asked: Sequence[UnknownWrite]) -> Iterator[LoadedWrite]:
    """The asked writes whose content a ledger of this table has. Reads the ledgers, and changes none.

    Of the ledgers with one content, a write gets that of its own name; the others go to the writes in order.
    """
    if not asked:
        return
    ledgers = {each.name: each for each in all_ledgers(job, session, table)}
    found = {each.name: own for each in asked if _has(ledgers.get(own := _directory(each)), each)}
    free = {name: ledgers[name] for name in sorted(ledgers.keys() - found.values())}
    for write in asked:
        name = found.get(write.name) or _take(free, write)
        if name is not None:
            yield _loaded(write, ledgers[name])


def _loaded(write: UnknownWrite, ledger: Ledger) -> LoadedWrite:
    moved = ledger.name if ledger.name != _directory(write) else None
    done = True if write.hash in ledger.loaded_hashes() else None
    return LoadedWrite(name=write.name, hash=write.hash, ledger=moved, done=done)


def _take(free: dict[str, Ledger], write: UnknownWrite) -> str | None:
    name = next((name for name, each in free.items() if _has(each, write)), None)
    free.pop(name or "", None)
    return name


def _has(ledger: Ledger | None, write: UnknownWrite) -> bool:
    return ledger is not None and write.hash in ledger.hashes()


def _directory(write: UnknownWrite) -> str:
    return write.ledger.rstrip("/").rpartition("/")[2]
