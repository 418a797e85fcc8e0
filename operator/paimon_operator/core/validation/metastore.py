"""Rules of a metastore for names, beyond Paimon's own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.identity import table_name
from paimon_operator.core.storage import metastore_of
from paimon_operator.errors import SpecError


def default_database_of(catalog: PaimonCatalog) -> Iterator[SpecError]:
    """Without allowedDatabases, the only database is named like the namespace, which the metastore can refuse."""
    metastore, namespace = metastore_of(catalog), catalog.metadata.namespace
    rules = metastore.name_rules
    if rules is not None and not catalog.spec.allowed_databases and not re.fullmatch(rules.pattern, namespace):
        yield SpecError(
            "spec.allowedDatabases",
            f"{namespace!r}, the namespace's name, is no name for the metastore {metastore.type}",
            f"List the databases that tables may use, in {rules.characters}.",
        )


def names_of(context: TableContext) -> Iterator[SpecError]:
    """Names that the metastore does not keep: paimon-0.9 refuses them, paimon-1.4 registers the table by another."""
    metastore = metastore_of(context.catalog)
    rules = metastore.name_rules
    if rules is None:
        return
    for field, name in (("spec.database", context.spec.database), ("spec.table", table_name(context.table))):
        if not re.fullmatch(rules.pattern, name):
            yield SpecError(
                field, f"{name!r} is no name for the metastore {metastore.type}", f"Use {rules.characters}."
            )
    for column in context.spec.table_schema.columns:
        if column.name != column.name.lower():
            yield SpecError(
                f"spec.schema.columns[{column.name}].name",
                f"{column.name!r} has upper case, which the metastore {metastore.type} does not keep",
                "Use lower case.",
            )
