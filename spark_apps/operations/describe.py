"""Prints the schemas of all tables of the catalog's databases to the log. Changes nothing.

The metastore lists the tables, so that each kind of metastore and storage is described in one way. Manifests are made
of them elsewhere: this image has neither the models nor the rules of manifests.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any, Final

from paimon_contract.description import DescribedTable, Description, description_lines
from paimon_contract.job import Job
from paimon_contract.parameters.describe import DescribeParameters
from paimon_contract.result import Outcome
from spark_apps.catalog.session import Session
from spark_apps.failures.causes import causes_of, is_caused_by, root_message

PARAMETERS = DescribeParameters
COMMITS = False

_OF_THE_TABLE: Final = re.compile(
    r".*\.(IllegalArgument|UnsupportedOperation|NullPointer)Exception|.*\.fasterxml\.jackson\..*"
)
"""Java classes of errors in a table's schema file. Any other error is one of the storage or metastore."""


def run(job: Job, session: Session) -> Outcome:
    """Describes the tables. Raises for a storage or metastore that does not answer."""
    parameters = job.parameters_as(PARAMETERS)
    tables = tuple(each for database in parameters.databases for each in _described(database, session))
    description = Description(catalog=parameters.catalog, engine=job.engine, tables=tables)
    sys.stdout.writelines(f"{line}\n" for line in description_lines(description))
    return Outcome(described=len(tables))


def _described(database: str, session: Session) -> Iterator[DescribedTable]:
    try:
        names = sorted(session.catalog.listTables(database))
    except Exception as error:
        if is_caused_by(error, "Catalog$DatabaseNotExistException"):
            return
        raise
    for name in names:
        found = _table(database, name, session)
        if found is not None:
            yield found


def _table(database: str, name: str, session: Session) -> DescribedTable | None:
    """The table; None for one that was dropped meanwhile, or that is none of Paimon."""
    try:
        table = session.catalog.getTable(session.jvm.org.apache.paimon.catalog.Identifier.create(database, name))
    except Exception as error:
        if is_caused_by(error, "Catalog$TableNotExistException"):
            return None
        if not any(_OF_THE_TABLE.fullmatch(cause.partition(":")[0]) for cause in causes_of(error)):
            raise
        return DescribedTable(database=database, name=name, problem=f"Paimon cannot read it: {root_message(error)}")
    if not _has_schema_files(table, session):
        return DescribedTable(database=database, name=name, problem="it is no table with files of Paimon")
    return DescribedTable(database=database, name=name, schema=table.schema().toString())


def _has_schema_files(table: Any, session: Session) -> bool:
    kind = session.jvm.java.lang.Class.forName("org.apache.paimon.table.FileStoreTable")
    return bool(kind.isInstance(table))
