"""Drops the table, if it is ours, and the ledgers of its writes. A table that is not there is a success."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_apps.contract import Outcome
from spark_apps.failures import spec_failure
from spark_apps.provision import OWNER_OPTION

if TYPE_CHECKING:
    from spark_apps.contract import Job
    from spark_apps.session import Session


def run(job: Job, session: Session) -> Outcome:
    """Removes data and ledgers; the database stays."""
    table = session.find_table()
    if table is not None:
        owner = table.schema().options().get(OWNER_OPTION)
        if owner != job.owner:
            raise spec_failure(
                "Conflict",
                f"the table {job.table} is owned by {owner or 'nobody'}, so it is not dropped",
                "set deletionPolicy to Retain, or drop the table by hand",
                field="spec.deletionPolicy",
            )
        session.catalog.dropTable(session.identifier, True)
    _remove_ledgers(job, session)
    return Outcome(dropped=table is not None)


def _remove_ledgers(job: Job, session: Session) -> None:
    """They say which files are in a table that is no more."""
    directory = session.path(f"{job.catalog.warehouse.rstrip('/')}/.paimon-operator/{job.table}")
    files = session.file_io(directory)
    if files.exists(directory):
        files.delete(directory, True)
