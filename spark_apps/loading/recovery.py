"""Finds out what became of the attempts that left no marker in a ledger, as long as Paimon can still tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spark_apps.catalog.snapshots import find_commit
from spark_apps.failures.classify import caused_by
from spark_apps.loading.ledger import Ledger, ledgers_of

if TYPE_CHECKING:
    from paimon_contract.job import Job
    from spark_apps.catalog.session import Session
    from spark_apps.loading.ledger import Entry


def open_ledger(session: Session, directory: str, table: Any) -> Ledger:
    """The ledger in `directory`. What tells a table from a later one of the same name is when its first schema was."""
    return Ledger(session, directory, int(table.schemaManager().schema(0).timeMillis()))


def settle(ledger: Ledger, table: Any) -> list[Entry]:
    """Marks every open entry by what Paimon says; returns those that it cannot tell about any more."""
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


def settle_all(job: Job, session: Session, table: Any) -> None:
    """Settles the ledgers of all writes of the table, those that the manifest no longer names too.

    To be called before snapshots expire, since an expired one answers no question. What is too late already stays open.
    """
    directory = session.path(ledgers_of(job))
    try:
        statuses = session.file_io(directory).listStatus(directory)
    except Exception as error:
        if caused_by(error, "FileNotFoundException"):  # nothing was ever written
            return
        raise
    for status in statuses:
        if status.isDir():
            settle(open_ledger(session, status.getPath().toString(), table), table)
