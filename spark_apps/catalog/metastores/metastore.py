"""The metastore, if there is one. That on PostgreSQL: how the driver gets in, and the table of its locks.

Whatever is an option ends in SparkConf, where many can read it. So none holds user or password: the JDBC driver reads
them from a file of this process alone, to which the URL's parameter `service` and a property of the JVM lead. Executors
write files and commit nothing, so they need neither.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from paimon_contract import environment
from spark_apps.catalog.metastores import hive, hive_locks
from spark_apps.failures.classify import RunError, root_message

if TYPE_CHECKING:
    from paimon_contract.job import Job
    from paimon_engines.engine import Engine
    from spark_apps.catalog.session import Session

JDBC: Final = "jdbc"
URI: Final = "uri"
URI_FIELD: Final = "spec.metastore.jdbc.uri"
CREDENTIALS_FIELD: Final = "spec.metastore.jdbc.credentialsSecretRef"
DIRECTORY_VARIABLE: Final = environment.METASTORE_CREDENTIALS
"""Names the directory with the Secret's keys as files."""
_DRIVERS_OWN: Final = "jdbc."
"""Prefix of the catalog options that Paimon hands to the JDBC driver."""
_NO_FILES: Final = "There is no paimon table in "
_SERVICE: Final = "paimon-operator"
_SERVICE_FILE: Final = "org.postgresql.pgservicefile"
_LOCKS: Final = "paimon_distributed_locks"
_CREATE_LOCKS: Final = (
    f"CREATE TABLE {_LOCKS} (lock_id VARCHAR(512) NOT NULL PRIMARY KEY,"
    " acquired_at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT CURRENT_TIMESTAMP,"
    " expire_time_seconds BIGINT NOT NULL DEFAULT 0)"
)
"""As Paimon makes it, but for the time zone: without one a lock is hours old for a writer of another zone, who takes it
from its holder. Paimon uses the table as it finds it."""
_WITH_ZONES: Final = f"ALTER TABLE {_LOCKS} ALTER COLUMN acquired_at TYPE TIMESTAMP WITH TIME ZONE"
_LOOK: Final = (
    "SELECT locks IS NOT NULL, EXISTS ("  # noqa: S608  (the name is a constant)
    "SELECT FROM pg_attribute WHERE attrelid = locks AND attname = 'acquired_at'"
    f" AND atttypid = 'timestamp'::regtype) FROM to_regclass('{_LOCKS}') AS locks"
)
"""Is it there, and are its times without zone. By the catalog of PostgreSQL, since several schemas of the search path
may have a table of the name: to_regclass is the one that Paimon's statements mean."""


def is_used(job: Job) -> bool:
    """Whether the job's catalog keeps the list of its tables apart from their files."""
    return is_jdbc(job) or hive.is_used(job)


def is_jdbc(job: Job) -> bool:
    """Whether the job's catalog keeps its tables in a jdbc metastore."""
    return job.catalog.metastore == JDBC


def release_stale_locks(job: Job, session: Session) -> None:
    """Takes away what a dead driver of the table has left in the metastore, before the job's own work.

    A drop needs no lock.
    """
    if hive.is_used(job) and job.operation != "Drop":
        hive_locks.take_away_own(job, session)


def catalog_options(job: Job, engine: Engine) -> dict[str, str]:
    """Paimon's catalog options for the metastore, without any secret."""
    if hive.is_used(job):
        return hive.catalog_options(engine)
    if not is_jdbc(job):
        return {}
    return {**engine.jdbc_catalog_options, "metastore": JDBC, URI: _with_service(job.catalog.options[URI])}


class Credentials:
    """User and password in the file that the JDBC driver reads. It is gone when this object is."""

    def __init__(self, directory: Path) -> None:
        self._file = tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="metastore-")  # noqa: SIM115  (mode 0600)
        lines = [f"[{_SERVICE}]", *(f"{name}={_key(directory, key)}" for name, key in _KEYS.items())]
        self._file.write("\n".join(lines) + "\n")
        self._file.flush()

    def tell(self, jvm: Any) -> None:
        """From now on connections of this JVM are made with them."""
        jvm.java.lang.System.setProperty(_SERVICE_FILE, self._file.name)


_KEYS: Final = {"user": "username", "password": "password"}
"""The JDBC driver's word -> key of the Secret."""


def connect(job: Job, engine: Engine, jvm: Any) -> Credentials:
    """Opens the way for all connections of the job, and sees to it that the metastore has its table of locks."""
    credentials = Credentials(Path(os.environ[DIRECTORY_VARIABLE]))
    credentials.tell(jvm)
    connection = _connection(job, engine, jvm)
    try:
        _see_to_locks(connection.createStatement())
    finally:
        connection.close()
    return credentials


def _see_to_locks(statement: Any) -> None:
    found = statement.executeQuery(_LOOK)
    found.next()
    if not found.getBoolean(1):
        statement.execute(_CREATE_LOCKS)
    elif found.getBoolean(2):
        raise RunError(
            "Environment",
            "CommitLockUnreliable",
            f"the metastore's table {_LOCKS} keeps times without a zone, so a writer in another time zone takes a lock "
            "that is held, and commits get lost",
            f"while nobody commits: {_WITH_ZONES}",
            field=URI_FIELD,
        )


def refuse_table_of_elsewhere(job: Job, error: Exception) -> None:
    """Raises RunError when the metastore lists a table whose files are not in this warehouse."""
    said = root_message(error)
    if said.startswith(_NO_FILES):
        place = said.removeprefix(_NO_FILES).strip()
        raise RunError(
            "Environment",
            "Conflict",
            f"the metastore lists the table {job.table}, and {place} holds no files of it",
            "use another table name, or a metastore of this warehouse's own; if the files were removed, take the table "
            "off the metastore's list",
            field="spec.table",
        ) from error


def _connection(job: Job, engine: Engine, jvm: Any) -> Any:
    bounds = jvm.java.util.Properties()
    for key, value in engine.jdbc_catalog_options.items():
        if key.startswith(_DRIVERS_OWN):
            bounds.setProperty(key.removeprefix(_DRIVERS_OWN), value)
    return jvm.java.sql.DriverManager.getConnection(_with_service(job.catalog.options[URI]), bounds)


def _with_service(uri: str) -> str:
    return f"{uri}{'&' if '?' in uri else '?'}service={_SERVICE}"


def _key(directory: Path, key: str) -> str:
    """The value under `key`, without the line break that a file mostly ends with."""
    try:
        value = (directory / key).read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r")
    except OSError as error:
        said = f"the Secret of the metastore has no key {key}"
        raise RunError(
            "Environment", "SecretNotFound", said, f"add {key} to the Secret", field=CREDENTIALS_FIELD
        ) from error
    if not value or value != value.strip() or not value.isprintable():
        said = f"{key} in the Secret of the metastore is empty, begins or ends with a space, or has a line break"
        raise RunError("Environment", "CredentialsRefused", said, "correct the Secret", field=CREDENTIALS_FIELD)
    return value
