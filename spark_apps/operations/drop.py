"""Drops the table, if it is ours, and the ledgers of its writes. A table that is not there is a success.

A table that existed before its PaimonTable is kept, unless the manifest takes over every table (Adopt): a user who can
describe a table in a manifest could otherwise adopt and drop it.
"""

from __future__ import annotations

from typing import Any, Final

from paimon_contract.job import Job
from paimon_contract.parameters.drop import DropParameters
from paimon_contract.result import Outcome
from paimon_schema.option_changes import OWNER_OPTION
from spark_apps.catalog.ownership import name_of_owner, owner_of, refuse_other_locations, was_created_for
from spark_apps.catalog.session import Session
from spark_apps.catalog.unregistered import register_own_table, schema_of_files
from spark_apps.failures.errors import RunError, spec_failure
from spark_apps.loading.ledger import ledgers_of

PARAMETERS = DropParameters
COMMITS: Final = False
"""It needs no commit lock and waits for none, and the table's commits end with it."""

DROP_MARKER: Final = "dropping"
"""File with the table's location and its schemas: a drop that is killed half-way can leave data without the schema that
names it, or without the first schema."""


def run(job: Job, session: Session) -> Outcome:
    """Removes data and ledgers; the database stays."""
    table = session.find_table() or register_own_table(job, session)
    ledgers = session.path(ledgers_of(job))
    files = session.file_io(ledgers)
    marker = session.path(f"{ledgers.toString()}/{DROP_MARKER}")
    if table is not None:
        _refuse_foreign(job, owner_of(table))
        takes_all = job.parameters_as(PARAMETERS).also_adopted
        if not (takes_all or was_created_for(job, table) or _has_begun(files, marker, table)):
            return Outcome(dropped=False, kept=True)
        refuse_other_locations(job, table, session.own_location)
        files.overwriteFileUtf8(marker, ";".join([table.location().toString(), *_schemas(table)]))
    session.metastore.drop_table(session, found=table is not None)
    if (table is None or session.metastore.registers_tables) and files.exists(marker):
        _remove_remaining_files(job, session)
    if files.exists(ledgers):
        files.delete(ledgers, True)  # they list the loaded files of a table that no longer exists
    return Outcome(dropped=table is not None)


def _has_begun(files: Any, marker: Any, table: Any) -> bool:
    """Whether a drop of this very table has begun, which may have deleted the schema that shows who created it."""
    return bool(files.exists(marker)) and bool({*files.readFileUtf8(marker).split(";")} & {*_schemas(table)})


def _schemas(table: Any) -> list[str]:
    """Each schema by its number and its time: another table of the same name has other times."""
    return [f"{schema.id()}/{schema.timeMillis()}" for schema in table.schemaManager().listAll()]


def _remove_remaining_files(job: Job, session: Session) -> None:
    """Removes the table's directory.

    After Jdbc it is mostly gone: Paimon only logs when it could not delete files. After Hive all files are there.
    """
    location = session.path(session.own_location)
    files = session.file_io(location)
    if not files.exists(location):
        return
    schema = schema_of_files(session)
    if schema is not None:
        _refuse_foreign(job, schema.options().get(OWNER_OPTION))
    files.delete(location, True)
    if files.exists(location):
        raise RunError(
            "Infrastructure",
            "StorageUnreachable",
            f"{location.toString()} was deleted and is still there",
            "nothing: it is tried again; if this repeats, check whether a writer is still active or the storage "
            "keeps files from being deleted",
        )


def _refuse_foreign(job: Job, owner: str | None) -> None:
    if owner != job.owner:
        raise spec_failure(
            "Conflict",
            f"the table {job.table} is owned by {name_of_owner(job, owner)}, so it is not dropped",
            "set deletionPolicy to Retain, or drop the table by hand",
            field="spec.deletionPolicy",
        )
