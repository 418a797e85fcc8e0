"""Drops the table, if it is ours, and the ledgers of its writes. A table that is not there is a success."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_contract.parameters.drop import DropParameters
from paimon_contract.result import Outcome
from spark_apps.catalog import unregistered
from spark_apps.catalog.metastores import hive, metastore
from spark_apps.catalog.ownership import OWNER_OPTION, own_location, owner_of, refuse_other_places
from spark_apps.failures.classify import RunError, spec_failure
from spark_apps.loading.ledger import ledgers_of

if TYPE_CHECKING:
    from paimon_contract.job import Job
    from spark_apps.catalog.session import Session

PARAMETERS = DropParameters


DROPPING = "dropping"
"""File that says where the table lay: a drop that dies half-way may leave data without the schema that names it."""


def run(job: Job, session: Session) -> Outcome:
    """Removes data and ledgers; the database stays."""
    table = session.find_table() or unregistered.own_table(job, session)
    ours = session.path(ledgers_of(job))
    files = session.file_io(ours)
    note = session.path(f"{ours.toString()}/{DROPPING}")
    if table is not None:
        _refuse_foreign(job, owner_of(table))
        refuse_other_places(job, session, table)
        files.overwriteFileUtf8(note, table.location().toString())
    if hive.is_used(job):
        hive.unregister(job, session)  # where there is no table, it may list one whose files are gone
    elif table is not None:
        session.catalog.dropTable(session.identifier, True)
    if (table is None or metastore.is_used(job)) and files.exists(note):
        _remove_what_is_left(job, session)
    if files.exists(ours):
        files.delete(ours, True)  # the ledgers say which files are in a table that is no more
    return Outcome(dropped=table is not None)


def _remove_what_is_left(job: Job, session: Session) -> None:
    """With Jdbc mostly nothing, for Paimon only logs that files could not go; with Hive all that the table had."""
    place = session.path(own_location(job, session))
    files = session.file_io(place)
    if not files.exists(place):
        return
    schema = unregistered.schema_of_files(job, session)
    if schema is not None:
        _refuse_foreign(job, schema.options().get(OWNER_OPTION))
    files.delete(place, True)
    if files.exists(place):
        raise RunError(
            "Infrastructure",
            "StorageUnreachable",
            f"{place.toString()} was deleted and is still there",
            "nothing: it is tried again; if this goes on, see whether somebody still writes there or the storage "
            "keeps files from being deleted",
        )


def _refuse_foreign(job: Job, owner: str | None) -> None:
    if owner != job.owner:
        raise spec_failure(
            "Conflict",
            f"the table {job.table} is owned by {owner or 'nobody'}, so it is not dropped",
            "set deletionPolicy to Retain, or drop the table by hand",
            field="spec.deletionPolicy",
        )
