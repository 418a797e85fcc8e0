"""Drops the table, if it is ours, and the ledgers of its writes. A table that is not there is a success."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spark_apps.contract import Outcome
from spark_apps.failures import spec_failure
from spark_apps.ledger import ledgers_of
from spark_apps.ownership import own_location, owner_of, refuse_other_places

if TYPE_CHECKING:
    from spark_apps.contract import Job
    from spark_apps.session import Session


DROPPING = "dropping"
"""File that says where the table lay: a drop that dies half-way may leave data without the schema that names it."""


def run(job: Job, session: Session) -> Outcome:
    """Removes data and ledgers; the database stays."""
    table = session.find_table()
    ours = session.path(ledgers_of(job))
    files = session.file_io(ours)
    note = session.path(f"{ours.toString()}/{DROPPING}")
    if table is not None:
        _refuse_foreign(job, table)
        refuse_other_places(job, session, table)
        files.overwriteFileUtf8(note, table.location().toString())
        session.catalog.dropTable(session.identifier, True)
    elif files.exists(note):
        files.delete(session.path(own_location(job, session)), True)
    if files.exists(ours):
        files.delete(ours, True)  # the ledgers say which files are in a table that is no more
    return Outcome(dropped=table is not None)


def _refuse_foreign(job: Job, table: Any) -> None:
    owner = owner_of(table)
    if owner != job.owner:
        raise spec_failure(
            "Conflict",
            f"the table {job.table} is owned by {owner or 'nobody'}, so it is not dropped",
            "set deletionPolicy to Retain, or drop the table by hand",
            field="spec.deletionPolicy",
        )
