"""The place of a physical table: server, warehouse, database and table, as one text that is equal for aliases."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.core.by_identity import ResultOfEach
from paimon_operator.core.spec.identity import normalised, table_name
from paimon_operator.core.spec.table_head import AnyTable
from paimon_operator.core.storage import storage_of


def place_of_warehouse(catalog: PaimonCatalog) -> str:
    """The catalog's warehouse on its server, in normal form: no other server has it."""
    return _PLACES.of(catalog)


def _place_of_warehouse(catalog: PaimonCatalog) -> str:
    return storage_of(catalog).physical_root(normalised(catalog.spec.warehouse), catalog.metadata.namespace)


_PLACES: Final = ResultOfEach(_place_of_warehouse)


def reached_elsewhere(catalog: PaimonCatalog) -> str | None:
    """The place as which runs have reached the warehouse, if the manifest means another one; None if it does not."""
    known = catalog.status.place
    return None if known == place_of_warehouse(catalog) else known


def place_of(table: AnyTable, catalog: PaimonCatalog) -> str:
    """The directory that Paimon gives the table by default, in the warehouse on its server."""
    return f"{place_of_warehouse(catalog)}/{table.spec.database}.db/{table_name(table)}"
