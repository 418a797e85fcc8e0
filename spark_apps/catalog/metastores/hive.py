"""The Hive metastore: its options, and whether what it lists is what the job is about.

A metastore knows tables of many kinds and many places. A job may touch only a Paimon table in its own warehouse, so
the list is asked before Paimon is: Paimon opens what is listed wherever it lies, and paimon-0.9 does not see tables of
other kinds at all (asked to make one, it writes into that one's directory and deletes it then).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from spark_apps.catalog.ownership import own_location
from spark_apps.failures.classify import RunError

if TYPE_CHECKING:
    from paimon_contract.job import Job
    from paimon_engines.engine import Engine
    from spark_apps.catalog.session import Session

HIVE: Final = "hive"
_FORMAT_OF_PAIMON: Final = "org.apache.paimon.hive.mapred.PaimonInputFormat"
"""By it HiveCatalog.isPaimonTable of both engines knows one."""
_LOCATION: Final = "paimon_location"
"""Property with a table's place: HiveCatalogOptions.LOCATION_IN_PROPERTIES."""


def is_used(job: Job) -> bool:
    """Whether the job's catalog keeps its tables in a Hive metastore."""
    return job.catalog.metastore == HIVE


def catalog_options(engine: Engine) -> dict[str, str]:
    """Paimon's catalog options for the metastore, besides its address."""
    return {**engine.hive_catalog_options, "metastore": HIVE}


def check_registered_table(job: Job, session: Session) -> None:
    """Raises RunError when what the metastore lists under the table's name is not the job's by kind or place."""
    client = session.catalog.getHmsClient()
    if not client.tableExists(job.table.database, job.table.name):
        return
    listed = client.getTable(job.table.database, job.table.name)
    if listed.getSd().getInputFormat() != _FORMAT_OF_PAIMON:
        raise _stranger(job)
    location = _location(listed, session)
    if location != own_location(job, session):
        raise _conflict(f"the metastore lists the table {job.table}, and it lies in {location}", "spec.table")


def unregister(job: Job, session: Session) -> None:
    """Ends the listing of the job's table, if there is one, and touches no file.

    The server would delete a directory that it has chosen itself and that may hold what others have put there; Paimon
    the one that the database's place leads to once the table is off the list. Raises RunError as `refuse_stranger`.
    """
    check_registered_table(job, session)
    session.catalog.getHmsClient().dropTable(job.table.database, job.table.name, False, True)


def refuse_database_of_elsewhere(job: Job, session: Session) -> None:
    """Raises RunError when the metastore would have the table made outside the warehouse: in its database's place."""
    location = session.catalog.getTableLocation(session.identifier).toString()
    if location != own_location(job, session):
        database = location.rpartition("/")[0]
        raise _conflict(f"the metastore's database {job.table.database} lies in {database}", "spec.database")


def _location(listed: Any, session: Session) -> str:
    place = listed.getParameters().get(_LOCATION) or listed.getSd().getLocation()
    location: str = session.path(place).toString()
    return location


def _stranger(job: Job) -> RunError:
    return RunError(
        "Environment",
        "Conflict",
        f"the metastore lists {job.table}, and it is no table of Paimon",
        "use another table name, or remove what is there",
        field="spec.table",
    )


def _conflict(said: str, field: str) -> RunError:
    remedy = "use another name, or a PaimonCatalog whose warehouse it lies in, as <warehouse>/<database>.db/<table>"
    return RunError("Environment", "Conflict", f"{said}, outside this warehouse's places", remedy, field=field)
