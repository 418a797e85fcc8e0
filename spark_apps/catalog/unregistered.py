"""Tables whose files lie in the warehouse and which the metastore does not list.

Files and list change one after the other. So a run that is killed in between leaves such a table, and so does a
metastore that is restored or recreated.
"""

from __future__ import annotations

from typing import Any

from paimon_contract.job import Job
from paimon_schema.option_changes import OWNER_OPTION
from spark_apps.catalog.session import Session


def schema_of_files(session: Session) -> Any:
    """The schema (Java TableSchema) in the job's table location, or None. Does not ask the metastore."""
    path = session.path(session.own_location)
    return session.jvm.org.apache.paimon.schema.SchemaManager(session.file_io(path), path).latest().orElse(None)


def is_own(job: Job, schema: Any) -> bool:
    """Whether the table of this schema records the job's PaimonTable as its owner."""
    return bool(schema.options().get(OWNER_OPTION) == job.owner)


def register_own_table(job: Job, session: Session) -> Any:
    """Registers the job's own table if its files are there. Returns it (Java FileStoreTable), or None."""
    if not session.metastore.registers_tables:
        return None
    schema = schema_of_files(session)
    if schema is None or not is_own(job, schema):
        return None
    session.metastore.register(session)
    return session.find_table()
