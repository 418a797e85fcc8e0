"""What a metastore asks of names, beyond what Paimon asks of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from paimon_operator.api.catalog.metastore import NAMES_OF_HIVE, MetastoreType
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.identity import table_name
from paimon_operator.core.storage import metastore_type
from paimon_operator.errors import SpecError

_OF_HIVE: Final = re.compile(NAMES_OF_HIVE)


def default_database_of(catalog: PaimonCatalog) -> Iterator[SpecError]:
    """Without allowedDatabases there is one, named like the namespace, and Hive may not keep that name."""
    namespace = catalog.metadata.namespace
    of_hive = metastore_type(catalog) is MetastoreType.HIVE
    if of_hive and not catalog.spec.allowed_databases and not _OF_HIVE.match(namespace):
        yield SpecError(
            "spec.allowedDatabases",
            f"{namespace!r}, the namespace's name, is no name for the metastore Hive",
            "List the databases that tables may use, in lower-case letters, digits and underscores.",
        )


def names_of(context: TableContext) -> Iterator[SpecError]:
    """Hive keeps lower case only: paimon-0.9 refuses the rest, paimon-1.4 lists a table by another name than it has."""
    if metastore_type(context.catalog) is not MetastoreType.HIVE:
        return
    for field, name in (("spec.database", context.spec.database), ("spec.table", table_name(context.table))):
        if not _OF_HIVE.match(name):
            yield SpecError(
                field,
                f"{name!r} is no name for the metastore Hive",
                "Use lower-case letters, digits and underscores.",
            )
    for column in context.spec.table_schema.columns:
        if column.name != column.name.lower():
            yield SpecError(
                f"spec.schema.columns[{column.name}].name",
                f"{column.name!r} has upper case, which the metastore Hive does not keep",
                "Use lower case.",
            )
