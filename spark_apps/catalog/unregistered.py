"""A table whose files lie in the warehouse and which the metastore does not list: files and list change one after
the other, so a run that is killed in between, or a metastore that is restored or made anew, leaves such a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spark_apps.catalog.metastores import hive, metastore
from spark_apps.catalog.ownership import OWNER_OPTION, own_location

if TYPE_CHECKING:
    from paimon_contract.job import Job
    from spark_apps.catalog.session import Session


def schema_of_files(job: Job, session: Session) -> Any:
    """The schema (Java TableSchema) that lies where the job's table must lie, or None. No list is asked."""
    path = session.path(own_location(job, session))
    return session.jvm.org.apache.paimon.schema.SchemaManager(session.file_io(path), path).latest().orElse(None)


def is_own(job: Job, schema: Any) -> bool:
    """Whether the table of this schema says that it belongs to the job's object."""
    return bool(schema.options().get(OWNER_OPTION) == job.owner)


def own_table(job: Job, session: Session) -> Any:
    """The job's table (Java FileStoreTable), which the metastore lists from now on; None if there is none of ours."""
    if not metastore.is_used(job):
        return None
    schema = schema_of_files(job, session)
    if schema is None or not is_own(job, schema):
        return None
    if hive.is_used(job):
        session.catalog.createDatabase(job.table.database, True)  # it lists no table without one
        hive.refuse_database_of_elsewhere(job, session)
    session.catalog.repairTable(session.identifier)
    return session.find_table()
