"""The Hive metastore: its options, and checks of what is registered under the table's name.

A metastore registers tables of many kinds and places. A job may touch only a Paimon table in its own warehouse, so the
registration is checked before Paimon opens it: Paimon opens a registered table wherever it lies, and paimon-0.9 does
not see tables of other kinds at all (to create one of that name, it writes into that directory and then deletes it).
"""

from __future__ import annotations

from typing import Any, Final

from paimon_engines.engine import Engine
from spark_apps.catalog.metastores import hive_locks
from spark_apps.catalog.metastores.base import Metastore, OpenCatalog
from spark_apps.failures.errors import RunError
from spark_apps.failures.hive_patterns import HIVE_PATTERNS

_PAIMON_FORMAT: Final = "org.apache.paimon.hive.mapred.PaimonInputFormat"
"""Input format by which HiveCatalog.isPaimonTable of both engines recognises a Paimon table."""
_LOCATION: Final = "paimon_location"
"""Property with a table's location: HiveCatalogOptions.LOCATION_IN_PROPERTIES."""


class Hive(Metastore):
    """A Hive metastore server."""

    registers_tables = True
    failure_patterns = HIVE_PATTERNS

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def catalog_options(self) -> dict[str, str]:
        """The engine's options; the job has the server's address."""
        return {**self._engine.hive_catalog_options, "metastore": "hive"}

    def release_stale_locks(self, catalog: OpenCatalog) -> None:
        """Releases the table's locks of earlier drivers."""
        hive_locks.release_own_locks(catalog)

    def check_registered_table(self, catalog: OpenCatalog) -> None:
        """Raises RunError when the registered table is not one of Paimon, or not in the job's location."""
        client, table = catalog.catalog.getHmsClient(), catalog.job.table
        if not client.tableExists(table.database, table.name):
            return
        registered = client.getTable(table.database, table.name)
        if registered.getSd().getInputFormat() != _PAIMON_FORMAT:
            raise RunError(
                "Environment",
                "Conflict",
                f"the metastore lists {table}, and it is no table of Paimon",
                "use another table name, or remove what is there",
                field="spec.table",
            )
        location = _location(registered, catalog)
        if location != catalog.own_location:
            raise _outside_warehouse(f"the metastore lists the table {table}, and it lies in {location}", "spec.table")

    def prepare_creation(self, catalog: OpenCatalog) -> None:
        """Unregisters a table whose files are gone, and checks where the database lies."""
        self._unregister(catalog)
        _check_database(catalog)

    def register(self, catalog: OpenCatalog) -> None:
        """Creates the database first: without one, no table can be registered."""
        catalog.catalog.createDatabase(catalog.job.table.database, True)
        _check_database(catalog)
        catalog.catalog.repairTable(catalog.identifier)

    def drop_table(self, catalog: OpenCatalog, *, found: bool) -> None:
        """Unregisters the table and deletes no file. A table can be registered whose files are gone."""
        del found
        self._unregister(catalog)

    def _unregister(self, catalog: OpenCatalog) -> None:
        """Ends the registration of the job's table, if there is one, without touching files.

        The server would delete a directory that it has chosen itself and that can hold files of others. Paimon would
        delete the directory that the database's location leads to once the table is no longer registered.
        """
        self.check_registered_table(catalog)
        table = catalog.job.table
        catalog.catalog.getHmsClient().dropTable(table.database, table.name, False, True)


def _check_database(catalog: OpenCatalog) -> None:
    """Raises RunError when the database's location makes the metastore create the table outside the warehouse."""
    location = catalog.catalog.getTableLocation(catalog.identifier).toString()
    if location != catalog.own_location:
        database, _, _ = location.rpartition("/")
        where = f"the metastore's database {catalog.job.table.database} lies in {database}"
        raise _outside_warehouse(where, "spec.database")


def _location(registered: Any, catalog: OpenCatalog) -> str:
    uri = registered.getParameters().get(_LOCATION) or registered.getSd().getLocation()
    location: str = catalog.path(uri).toString()
    return location


def _outside_warehouse(message: str, field: str) -> RunError:
    remedy = "use another name, or a PaimonCatalog whose warehouse it lies in, as <warehouse>/<database>.db/<table>"
    return RunError("Environment", "Conflict", f"{message}, outside this warehouse's places", remedy, field=field)
