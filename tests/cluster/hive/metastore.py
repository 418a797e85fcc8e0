"""A Hive metastore server on loopback, which keeps its lists and locks in PostgreSQL; stopped by its pid."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from tests.cluster import postgres
from tests.cluster.cache import cached
from tests.cluster.hdfs import programs
from tests.cluster.images.digest import digest
from tests.cluster.ports import free_ports
from tests.cluster.processes import Daemon, wait_until
from tests.cluster.progress import run_with_progress

POM: Final = Path(__file__).with_name("pom.xml")
_MAIN: Final = "org.apache.hadoop.hive.metastore.HiveMetaStore"
_RELEASE: Final = "apache-hive-metastore-3.1.3-bin"
_SCHEMA: Final = "scripts/metastore/upgrade/postgres/hive-schema-3.1.0.postgres.sql"
_WITHOUT_HIVE: Final = {
    "metastore.expression.proxy": "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy",
    "metastore.task.threads.always": "org.apache.hadoop.hive.metastore.events.EventCleanerTask",
}
"""What is a class of Hive itself by default, which a metastore on its own has not."""


@dataclass
class Metastore:
    """One server. `database` holds what it knows."""

    directory: Path
    port: int
    database: postgres.Server
    login: postgres.Login

    @property
    def uri(self) -> str:
        return f"thrift://127.0.0.1:{self.port}"

    @property
    def warehouse(self) -> Path:
        """Its own, where it makes the directories that nobody else names."""
        return self.directory / "warehouse"

    def sql(self, statement: str) -> str:
        """Runs SQL in the server's database, as its superuser."""
        return self.database.execute(statement, database=self.login.user)

    def start(self) -> None:
        """Starts the server and waits until it listens."""
        self.daemon.start(self._command())

        def ready() -> bool:
            self.daemon.check_alive()
            return self._listens()

        if not wait_until(ready, timeout=120, interval=0.2):
            raise TimeoutError(f"the metastore does not listen. Its log ends:\n{self.daemon.log_tail()}")

    def stop(self) -> None:
        self.daemon.stop()

    @property
    def daemon(self) -> Daemon:
        return Daemon("hive-metastore", self.directory / "pid", self.directory / "log")

    def prepare(self) -> None:
        """Makes the tables of its database and its configuration."""
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
            "metastore.thrift.bind.host": "127.0.0.1",
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

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


@contextmanager
def on_loopback(directory: Path) -> Iterator[Metastore]:
    """A server of this block alone, with a database of its own."""
    with postgres.on_loopback() as database:
        (port,) = free_ports(1)
        server = Metastore(directory, port, database, database.login("metastore"))
        server.prepare()
        try:
            server.start()
            yield server
        finally:
            server.stop()


def _home() -> Path:
    return cached("hive-metastore", digest(files=[POM]), _fetch)


def _fetch(into: Path) -> None:
    goals = ["dependency:unpack", "dependency:copy-dependencies"]
    command = ["mvn", "-q", "-B", "-C", "-f", str(POM), *goals, f"-DoutputDirectory={into}"]
    run_with_progress("fetching the Hive metastore", command)
