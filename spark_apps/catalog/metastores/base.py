"""The protocol of a kind of metastore, and what it uses of the open catalog."""

from __future__ import annotations

from typing import Any, Protocol

from paimon_contract.job import Job
from spark_apps.failures.errors import RunError
from spark_apps.failures.patterns import FailurePattern


class OpenCatalog(Protocol):
    """The catalog as a metastore uses it; `session.Session` is one."""

    @property
    def job(self) -> Job:
        """The job, with the table's name."""

    @property
    def jvm(self) -> Any:
        """The JVM (py4j)."""

    @property
    def catalog(self) -> Any:
        """Paimon's Catalog (Java)."""

    @property
    def identifier(self) -> Any:
        """The table's Identifier (Java)."""

    @property
    def own_location(self) -> str:
        """Where the job's table must lie."""

    def path(self, uri: str) -> Any:
        """A Path (Java) of Paimon's file systems."""


class Metastore(Protocol):
    """The metastore of one job. A new kind is one class, and one line in `metastore_of`.

    A kind overrides what it needs. The defaults are those of a catalog whose tables are registered by their files only.
    """

    registers_tables: bool = False
    """Whether the list of tables is kept apart from their files, so that one can be there without the other."""
    failure_patterns: tuple[FailurePattern, ...] = ()
    """Patterns of its failures, tried before all others."""

    @property
    def catalog_options(self) -> dict[str, str]:
        """Paimon's catalog options for the metastore, without any secret. They override the job's."""
        return {}

    def connect(self, jvm: Any) -> None:
        """Prepares the JVM for connections and checks the server. Called once, before the catalog is opened."""
        del jvm

    def release_stale_locks(self, catalog: OpenCatalog) -> None:
        """Releases the commit locks that dead drivers of the job's table have left behind. Can wait for minutes."""
        del catalog

    def check_registered_table(self, catalog: OpenCatalog) -> None:
        """Raises RunError when the table registered under the job's name is of another kind or in another place."""
        del catalog

    def explain_unreadable_table(self, job: Job, error: Exception) -> RunError | None:
        """The RunError for a registered table that Paimon cannot open; None when the error has another cause."""
        del job, error
        return None

    def prepare_creation(self, catalog: OpenCatalog) -> None:
        """Makes sure that createTable creates the table in its own location. The database exists by then.

        Raises RunError when the metastore would create the table elsewhere.
        """
        del catalog

    def register(self, catalog: OpenCatalog) -> None:
        """Registers the job's table, whose files are in its own location. Raises RunError as `prepare_creation`."""
        del catalog

    def drop_table(self, catalog: OpenCatalog, *, found: bool) -> None:
        """Ends the registration of the job's table; `found` says whether Paimon could open it.

        The files can remain: the caller removes them where tables are registered apart from their files.
        """
        if found:
            catalog.catalog.dropTable(catalog.identifier, True)
