"""Resolves the open entries of ledgers by Paimon's snapshots, as long as these have not expired."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paimon_contract.job import Job
from spark_apps.catalog.session import Session
from spark_apps.catalog.snapshots import find_commit
from spark_apps.catalog.warehouse_files import is_empty
from spark_apps.failures.causes import is_caused_by
from spark_apps.loading.ledger import NO_LEDGER, Entry, Ledger, ledgers_of


def open_ledger(session: Session, directory: str, table: Any) -> Ledger:
    """The ledger in `directory`. The time of the first schema identifies a table among those of the same name."""
    return Ledger(session, directory, int(table.schemaManager().schema(0).timeMillis()))


def resolve_open_entries(ledger: Ledger, table: Any) -> list[Entry]:
    """Marks every open entry by Paimon's snapshots; returns those whose snapshots have expired."""
    unknown = []
    for entry in ledger.open_entries:
        answer = find_commit(table, entry.commit_user, entry.snapshot_before)
        if answer.commit is not None:
            ledger.mark_committed(entry, [answer.commit])
        elif answer.expired:
            unknown.append(entry)
        else:
            ledger.mark_abandoned(entry)
    return unknown


def resolve_all_entries(job: Job, session: Session, table: Any) -> None:
    """Resolves the ledgers of all writes of the table, also of writes that the manifest no longer has.

    Called before snapshots expire, since an expired one proves nothing. An entry that is too late stays open.
    """
    for ledger in all_ledgers(job, session, table):
        resolve_open_entries(ledger, table)


def all_ledgers(job: Job, session: Session, table: Any) -> Iterator[Ledger]:
    """The ledgers of all writes of the table, also of writes that the manifest does not have."""
    if is_empty(session, ledgers_of(job)):  # (nothing was ever written)
        return
    directory = session.path(ledgers_of(job))
    try:
        statuses = session.file_io(directory).listStatus(directory)
    except Exception as error:
        if is_caused_by(error, "FileNotFoundException"):
            return
        raise
    for status in statuses:
        if status.isDir() and not status.getPath().getName().startswith(NO_LEDGER):
            yield open_ledger(session, status.getPath().toString(), table)
