"""Ownership and location of an existing table, checked before anything is done to it."""

from __future__ import annotations

import re
from typing import Any, Final

from paimon_contract.job import Job
from paimon_schema.option_changes import OWNER_OPTION
from spark_apps.failures.errors import RunError, spec_failure

_EXTERNAL_PATH_OPTION: Final = re.compile(r"(^|[.-])external-(storage-)?paths?([.-]|$)|path-directory$")
"""Options that put files outside the table's directory. When a table is dropped, Paimon deletes those paths too."""


def owner_of(table: Any) -> str | None:
    """The owner that the table records, `<cluster>/<namespace>/<name>`; None without one."""
    owner: str | None = table.schema().options().get(OWNER_OPTION)
    return owner


def name_of_owner(job: Job, owner: str | None) -> str:
    """The owner in a message: an object of another namespace is not named there."""
    if owner is None:
        return "nobody"
    mine, theirs = job.owner.split("/"), owner.split("/")
    if len(theirs) != len(mine) or theirs[0] != mine[0]:
        return "a PaimonTable of another cluster"
    return f"PaimonTable {theirs[2]}" if theirs[1] == mine[1] else "a PaimonTable of another namespace"


def require_own(job: Job, table: Any) -> None:
    """Raises RunError unless the table belongs to the job's PaimonTable: another cluster can have taken it over."""
    owner = owner_of(table)
    if owner != job.owner:
        raise RunError(
            "Environment",
            "Conflict",
            f"the table {job.table} is owned by {name_of_owner(job, owner)} now, so nothing is done to it",
            "delete one of the two PaimonTables, or set adoptionPolicy to Adopt if that owner is gone",
            field="spec.adoptionPolicy",
        )


def was_created_for(job: Job, table: Any) -> bool:
    """Whether the operator created the table for the job's PaimonTable: the mark is in the table's first schema.

    A table that was taken over has the mark from a later schema on.
    """
    first = next((schema for schema in table.schemaManager().listAll() if schema.id() == 0), None)
    return first is not None and first.options().get(OWNER_OPTION) == job.owner


def refuse_other_locations(job: Job, table: Any, own_location: str) -> None:
    """Raises RunError when dropping the table would delete anything outside its own directory."""
    location = table.location().toString()
    if location != own_location:
        raise _not_dropped(job, f"lies in {location}")
    schemas = table.schemaManager().listAll()
    options = sorted({key for schema in schemas for key in schema.options() if _EXTERNAL_PATH_OPTION.search(key)})
    if options:
        raise _not_dropped(job, f"keeps files outside its directory, by its option {options[0]}")


def _not_dropped(job: Job, why: str) -> RunError:
    return spec_failure(
        "Conflict",
        f"the table {job.table} {why}, so it is not dropped",
        "set deletionPolicy to Retain, and remove the table by hand",
        field="spec.deletionPolicy",
    )
