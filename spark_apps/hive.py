"""The Hive metastore: its options, and whether what it lists is what the job is about.

A metastore knows tables of many kinds and many places. A job may touch only a Paimon table in its own warehouse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from spark_apps.failures import RunError
from spark_apps.ownership import own_location

if TYPE_CHECKING:
    from spark_apps.contract import Job
    from spark_apps.engine import Engine
    from spark_apps.session import Session

HIVE: Final = "hive"
_OF_PAIMON: Final = "org.apache.paimon.table.FileStoreTable"


def is_used(job: Job) -> bool:
    """Whether the job's catalog keeps its tables in a Hive metastore."""
    return job.catalog.metastore == HIVE


def catalog_options(engine: Engine) -> dict[str, str]:
    """Paimon's catalog options for the metastore, besides its address."""
    return {**engine.hive_catalog_options, "metastore": HIVE}


def refuse_stranger(job: Job, session: Session, table: Any) -> None:
    """Raises RunError unless `table`, as the metastore lists it, is of Paimon and lies where the job's table must."""
    if not session.jvm.java.lang.Class.forName(_OF_PAIMON).isInstance(table):
        raise _stranger(job)
    location = table.location().toString()
    if location != own_location(job, session):
        raise _conflict(f"the metastore lists the table {job.table}, and it lies in {location}", "spec.table")


def refuse_taken_name(job: Job, session: Session) -> None:
    """Raises RunError when the metastore lists anything under the table's name, for a table that Paimon has not found.

    Paimon 0.9 does not see a table of another kind. Asked to make one, it writes into that one's directory and deletes
    it then.
    """
    if session.catalog.getHmsClient().tableExists(job.table.database, job.table.name):
        raise _stranger(job)


def refuse_database_of_elsewhere(job: Job, session: Session) -> None:
    """Raises RunError when the metastore would have the table made outside the warehouse: in its database's place."""
    location = session.catalog.getTableLocation(session.identifier).toString()
    if location != own_location(job, session):
        database = location.rpartition("/")[0]
        raise _conflict(f"the metastore's database {job.table.database} lies in {database}", "spec.database")


def _stranger(job: Job) -> RunError:
    return RunError(
        "Surroundings",
        "Conflict",
        f"the metastore lists {job.table}, and it is no table of Paimon",
        "use another table name, or remove what is there",
        field="spec.table",
    )


def _conflict(said: str, field: str) -> RunError:
    remedy = "use another name, or a PaimonCatalog whose warehouse it lies in, as <warehouse>/<database>.db/<table>"
    return RunError("Surroundings", "Conflict", f"{said}, outside this warehouse's places", remedy, field=field)
