"""Whose table it is, and where it lies: asked before anything is done to one that exists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from spark_apps.failures.classify import RunError, spec_failure

if TYPE_CHECKING:
    from paimon_contract.job import Job
    from spark_apps.catalog.session import Session

OWNER_OPTION: Final = "paimon-operator.owner"
_PLACE_OPTION: Final = re.compile(r"(^|[.-])external-(storage-)?paths?([.-]|$)|path-directory$")
"""Options that put files beside the table's directory. Dropping a table makes Paimon delete these places as well."""


def owner_of(table: Any) -> str | None:
    """The object that the table says it belongs to, `<cluster>/<namespace>/<name>`; None when it says nothing."""
    owner: str | None = table.schema().options().get(OWNER_OPTION)
    return owner


def require_own(job: Job, table: Any) -> None:
    """Raises RunError unless the table belongs to the job's object: another cluster may have taken it over."""
    owner = owner_of(table)
    if owner != job.owner:
        raise RunError(
            "Environment",
            "Conflict",
            f"the table {job.table} is owned by {owner or 'nobody'} now, so nothing is done to it",
            f"delete one of the two objects, or set its option {OWNER_OPTION} back if that owner is gone",
            field="spec.table",
        )


def own_location(job: Job, session: Session) -> str:
    """Where the job's table must lie."""
    warehouse = job.catalog.warehouse.rstrip("/")
    location: str = session.path(f"{warehouse}/{job.table.database}.db/{job.table.name}").toString()
    return location


def refuse_other_places(job: Job, session: Session, table: Any) -> None:
    """Raises RunError when dropping the table would delete anything but its own directory."""
    location = table.location().toString()
    if location != own_location(job, session):
        raise _not_dropped(job, f"lies in {location}")
    schemas = table.schemaManager().listAll()
    places = sorted({key for schema in schemas for key in schema.options() if _PLACE_OPTION.search(key)})
    if places:
        raise _not_dropped(job, f"keeps files outside its directory, by its option {places[0]}")


def _not_dropped(job: Job, why: str) -> RunError:
    return spec_failure(
        "Conflict",
        f"the table {job.table} {why}, so it is not dropped",
        "set deletionPolicy to Retain, and remove the table by hand",
        field="spec.deletionPolicy",
    )
