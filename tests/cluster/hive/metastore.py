"""A Hive metastore server on loopback or on the node. It keeps tables and locks in PostgreSQL; stopped by its pid."""

# ruff: noqa: S608 - the only names in SQL are those that the tests give

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from tests.cluster import network, postgres
from tests.cluster.cache import cached
from tests.cluster.hdfs import programs
from tests.cluster.images.digest import digest
from tests.cluster.layout import NODE_ADDRESS, Layout
from tests.cluster.ports import free_ports
from tests.cluster.processes import Daemon, wait_until
from tests.cluster.progress import run_with_progress

PORT: Final = 9083
POM: Final = Path(__file__).with_name("pom.xml")
_MAIN: Final = "org.apache.hadoop.hive.metastore.HiveMetaStore"
_RELEASE: Final = "apache-hive-metastore-3.1.3-bin"
_SCHEMA: Final = "scripts/metastore/upgrade/postgres/hive-schema-3.1.0.postgres.sql"
_WITHOUT_HIVE: Final = {
    "metastore.expression.proxy": "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy",
    "metastore.task.threads.always": "org.apache.hadoop.hive.metastore.events.EventCleanerTask",
}
"""Settings whose default is a class of Hive, which a standalone metastore lacks."""


@dataclass(frozen=True, kw_only=True)
class Metastore:
    """One server. `database` holds its data; `around` wraps a command so that it runs in the server's network."""

    directory: Path
    address: str
    port: int
    database: postgres.Server
    login: postgres.Login
    daemon: Daemon
    around: Callable[[Sequence[str]], list[str]] = list

    @property
    def uri(self) -> str:
        return f"thrift://{self.address}:{self.port}"

    @property
    def warehouse(self) -> Path:
        """The directory of databases and tables that have no location of their own."""
        return self.directory / "warehouse"

    def sql(self, statement: str) -> str:
        """Runs SQL in the server's database, as its superuser."""
        return self.database.execute(statement, database=self.login.user)

    def listed(self, database: str) -> str:
        """Returns the tables of the database, one per line."""
        return self.sql(
            f'SELECT "TBL_NAME" FROM "TBLS" JOIN "DBS" USING ("DB_ID") WHERE "NAME" = \'{database}\' ORDER BY 1'
        )

    def lock(self, database: str, table: str, *, host: str, silent_s: int = 0) -> None:
        """Locks the table for a writer on `host` whose last heartbeat was `silent_s` seconds ago."""
        self.sql(
            "INSERT INTO hive_locks (hl_lock_ext_id, hl_lock_int_id, hl_txnid, hl_db, hl_table, hl_lock_state,"
            " hl_lock_type, hl_last_heartbeat, hl_acquired_at, hl_user, hl_host)"
            f" SELECT coalesce(min(hl_lock_ext_id), 0) - 1, 1, 0, '{database}', '{table}', 'a',"
            f" 'e', ((extract(epoch FROM now()) - {silent_s}) * 1000)::bigint, 0, 'flink', '{host}' FROM hive_locks"
        )

    @contextmanager
    def noting_locks(self) -> Iterator[Callable[[], list[str]]]:
        """Records the locks requested in the block: database, table, type and host of each, separated by `|`."""
        self.sql(
            "CREATE TABLE taken (db text, tbl text, type text, host text);"
            "CREATE FUNCTION note() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS 'BEGIN INSERT INTO"
            " public.taken VALUES (NEW.hl_db, NEW.hl_table, NEW.hl_lock_type, NEW.hl_host); RETURN NEW; END';"
            "CREATE TRIGGER note AFTER INSERT ON hive_locks FOR EACH ROW EXECUTE FUNCTION note();"
        )
        try:
            yield lambda: self.sql("SELECT * FROM taken").split()
        finally:
            self.sql("DROP TRIGGER note ON hive_locks; DROP FUNCTION note; DROP TABLE taken")

    def unlock(self, database: str) -> None:
        """Removes the locks that `lock` has set in the database."""
        self.sql(f"DELETE FROM hive_locks WHERE hl_user = 'flink' AND hl_db = '{database}'")

    def start(self) -> None:
        """Starts the server and waits until it listens."""
        self.daemon.start(self.around(self._command()))

        def ready() -> bool:
            self.daemon.check_alive()
            return self.daemon.listens(self.port)

        if not wait_until(ready, timeout=120, interval=0.5):
            raise TimeoutError(f"the metastore does not listen. Its log ends:\n{self.daemon.log_tail()}")

    def stop(self, first: signal.Signals = signal.SIGTERM) -> None:
        self.daemon.stop(first)

    def prepare(self) -> None:
        """Creates the tables of its database and its configuration file."""
        self.sql(f'SET ROLE "{self.login.user}";\n' + (_home() / _RELEASE / _SCHEMA).read_text(encoding="utf-8"))
        connection = {
            "ConnectionURL": self.login.uri,
            "ConnectionUserName": self.login.user,
            "ConnectionPassword": self.login.password,
            "ConnectionDriverName": "org.postgresql.Driver",
        }
        values = {
            **{f"javax.jdo.option.{key}": value for key, value in connection.items()},
            "metastore.warehouse.dir": self.warehouse.as_uri(),
            "metastore.thrift.bind.host": self.address,
            **_WITHOUT_HIVE,
        }
        rows = "".join(
            f"<property><name>{key}</name><value>{escape(value)}</value></property>" for key, value in values.items()
        )
        self.directory.mkdir(parents=True, exist_ok=True)
        (self.directory / "metastore-site.xml").write_text(f"<configuration>{rows}</configuration>", encoding="utf-8")

    def _command(self) -> list[str]:
        home = _home()
        places = (self.directory, home / _RELEASE / "lib" / "*", home / "*", programs.libraries())
        class_path = ":".join(str(place) for place in places)
        java = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", class_path]
        return [*java, _MAIN, "-p", str(self.port)]


@contextmanager
def on_loopback(directory: Path) -> Iterator[Metastore]:
    """Runs a server with its own database for the duration of the block."""
    with postgres.on_loopback() as database:
        (port,) = free_ports(1)
        daemon = Daemon("hive-metastore", directory / "pid", directory / "log")
        login = database.login("metastore")
        made = Metastore(
            directory=directory, address="127.0.0.1", port=port, database=database, login=login, daemon=daemon
        )
        with _running(made):
            yield made


@contextmanager
def on_node(layout: Layout) -> Iterator[Metastore]:
    """Runs the cluster's server for the duration of the block. Pods reach it at the node's address."""
    with postgres.running_on_node(layout) as database:
        made = Metastore(
            directory=layout.run / "hive-metastore",
            address=NODE_ADDRESS,
            port=PORT,
            database=database,
            login=database.login("metastore"),
            daemon=layout.daemon("hive-metastore"),
            around=lambda command: network.inside(layout.name, command),
        )
        try:
            with _running(made):
                yield made
        finally:
            shutil.rmtree(made.directory, ignore_errors=True)


@contextmanager
def _running(made: Metastore) -> Iterator[None]:
    made.prepare()
    try:
        made.start()
        yield
    finally:
        made.stop()


def _home() -> Path:
    return cached("hive-metastore", digest(files=[POM]), _fetch)


def _fetch(into: Path) -> None:
    goals = ["dependency:unpack", "dependency:copy-dependencies"]
    command = ["mvn", "-q", "-B", "-C", "-f", str(POM), *goals, f"-DoutputDirectory={into}"]
    run_with_progress("fetching the Hive metastore", command)
    if not (into / _RELEASE / _SCHEMA).exists():
        raise FileNotFoundError(f"Maven has brought no {_SCHEMA} of {_RELEASE}")
