"""The Jdbc metastore on PostgreSQL: the driver's credentials, and the table of its commit locks.

Every option ends in SparkConf, which many can read. So no option holds user or password: the JDBC driver reads them
from a file of this process alone, which the URL's parameter `service` and a property of the JVM point to. Executors
write files and commit nothing, so they need neither.
"""

from __future__ import annotations

import atexit
import os
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from paimon_contract import environment
from paimon_contract.job import Job, JobCatalog
from paimon_engines.engine import Engine
from spark_apps.catalog.metastores.base import Metastore, OpenCatalog
from spark_apps.failures.causes import root_message
from spark_apps.failures.errors import RunError
from spark_apps.failures.jdbc_patterns import JDBC_PATTERNS

URI: Final = "uri"
URI_FIELD: Final = "spec.metastore.jdbc.uri"
CREDENTIALS_FIELD: Final = "spec.metastore.jdbc.credentialsSecretRef"
DIRECTORY_VARIABLE: Final = environment.METASTORE_CREDENTIALS
"""Names the directory with the Secret's keys as files."""
_DRIVER_PREFIX: Final = "jdbc."
"""Prefix of the catalog options that Paimon hands to the JDBC driver."""
_NO_FILES: Final = "There is no paimon table in "
_SERVICE: Final = "paimon-operator"
_SERVICE_FILE: Final = "org.postgresql.pgservicefile"
_SECRET_KEYS: Final = {"user": "username", "password": "password"}
"""The JDBC driver's name -> key of the Secret."""
_LOCKS: Final = "paimon_distributed_locks"
_CREATE_LOCKS: Final = (
    f"CREATE TABLE {_LOCKS} (lock_id VARCHAR(512) NOT NULL PRIMARY KEY,"
    " acquired_at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT CURRENT_TIMESTAMP,"
    " expire_time_seconds BIGINT NOT NULL DEFAULT 0)"
)
"""As Paimon creates it, but with a time zone: without one, a lock is hours old for a writer in another zone, who takes
it from its holder. Paimon uses an existing table as it is."""
_WITH_ZONES: Final = f"ALTER TABLE {_LOCKS} ALTER COLUMN acquired_at TYPE TIMESTAMP WITH TIME ZONE"
_INSPECT_LOCKS: Final = (
    "SELECT locks IS NOT NULL, EXISTS ("  # noqa: S608  (the name is a constant)
    "SELECT FROM pg_attribute WHERE attrelid = locks AND attname = 'acquired_at'"
    f" AND atttypid = 'timestamp'::regtype) FROM to_regclass('{_LOCKS}') AS locks"
)
"""Whether it exists, and whether its times have no zone. From PostgreSQL's own catalog, since several schemas of the
search path can have a table of that name: to_regclass resolves to the one that Paimon's statements use."""


class Jdbc(Metastore):
    """A PostgreSQL database."""

    registers_tables = True
    failure_patterns = JDBC_PATTERNS

    def __init__(self, catalog: JobCatalog, engine: Engine) -> None:
        self._catalog, self._engine = catalog, engine

    @property
    def catalog_options(self) -> dict[str, str]:
        """The engine's options, and the address with the service that has the credentials."""
        return {**self._engine.jdbc_catalog_options, "metastore": "jdbc", URI: self._uri}

    def connect(self, jvm: Any) -> None:
        """Provides the credentials to the JVM, and makes sure that the table of locks exists and is reliable."""
        _publish(Path(os.environ[DIRECTORY_VARIABLE]), jvm)
        connection = self._connection(jvm)
        try:
            _ensure_lock_table(connection.createStatement())
        finally:
            connection.close()

    def explain_unreadable_table(self, job: Job, error: Exception) -> RunError | None:
        """Conflict, when the registered table's files are not in this warehouse."""
        message = root_message(error)
        if not message.startswith(_NO_FILES):
            return None
        location = message.removeprefix(_NO_FILES).strip()
        return RunError(
            "Environment",
            "Conflict",
            f"the metastore lists the table {job.table}, and {location} holds no files of it",
            "use another table name, or a metastore of this warehouse's own; if the files were removed, take the table "
            "off the metastore's list",
            field="spec.table",
        )

    def register(self, catalog: OpenCatalog) -> None:
        """Registers the table in its own location, where Paimon looks for it."""
        catalog.catalog.repairTable(catalog.identifier)

    @property
    def _uri(self) -> str:
        uri = self._catalog.options[URI]
        return f"{uri}{'&' if '?' in uri else '?'}service={_SERVICE}"

    def _connection(self, jvm: Any) -> Any:
        """A connection (Java) with the time-outs that the engine's options set for the JDBC driver."""
        properties = jvm.java.util.Properties()
        for key, value in self._engine.jdbc_catalog_options.items():
            if key.startswith(_DRIVER_PREFIX):
                properties.setProperty(key.removeprefix(_DRIVER_PREFIX), value)
        return jvm.java.sql.DriverManager.getConnection(self._uri, properties)


@lru_cache(maxsize=1)
def _service_file() -> Path:
    """The file of this process from which the JDBC driver reads user and password. It goes with the process."""
    directory = tempfile.TemporaryDirectory(prefix="metastore-")
    atexit.register(directory.cleanup)
    return Path(directory.name) / "service"


def _publish(secret: Path, jvm: Any) -> None:
    """Makes all later connections of this JVM use the credentials in the Secret's files, which may have changed."""
    lines = [f"[{_SERVICE}]", *(f"{name}={_secret_value(secret, key)}" for name, key in _SECRET_KEYS.items())]
    file = _service_file()
    written = file.with_suffix(".new")
    written.touch(mode=0o600)
    written.write_text("\n".join(lines) + "\n", encoding="utf-8")
    written.replace(file)  # (another thread of a shared driver may connect at any moment)
    jvm.java.lang.System.setProperty(_SERVICE_FILE, str(file))


def _ensure_lock_table(statement: Any) -> None:
    """Creates the table of locks if it is missing. Raises RunError when its times have no zone."""
    found = statement.executeQuery(_INSPECT_LOCKS)
    found.next()
    if not found.getBoolean(1):
        statement.execute(_CREATE_LOCKS)
    elif found.getBoolean(2):
        raise RunError(
            "Environment",
            "CommitLockUnreliable",
            f"the metastore's table {_LOCKS} keeps times without a zone, so a writer in another time zone takes a lock "
            "that is held, and commits get lost",
            f"while no writer commits: {_WITH_ZONES}",
            field=URI_FIELD,
        )


def _secret_value(directory: Path, key: str) -> str:
    """The value under `key`, without the line break that most files end with. Raises RunError when unusable."""
    try:
        value = (directory / key).read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r")
    except OSError as error:
        message = f"the Secret of the metastore has no key {key}"
        raise RunError(
            "Environment", "SecretNotFound", message, f"add {key} to the Secret", field=CREDENTIALS_FIELD
        ) from error
    if not value or value != value.strip() or not value.isprintable():
        message = f"{key} in the Secret of the metastore is empty, begins or ends with a space, or has a line break"
        raise RunError("Environment", "CredentialsRefused", message, "correct the Secret", field=CREDENTIALS_FIELD)
    return value
