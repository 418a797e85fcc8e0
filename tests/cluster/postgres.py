"""A PostgreSQL server for tests, from the distribution's package. Tests start it on demand; it is stopped by its pid.

It runs as the package's unprivileged user, because PostgreSQL refuses root. The superuser connects through the socket
in the server's directory; over TCP only the logins of the tests can connect.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.cluster.layout import NODE_ADDRESS, Layout
from tests.cluster.packages import MachineError, install
from tests.cluster.ports import free_ports
from tests.cluster.processes import Daemon, wait_until
from tests.cluster.services import Service

PORT: Final = 5432
USER: Final = "postgres"
_HBA: Final = "local all all trust\nhost all all all scram-sha-256\n"
_SETTINGS: Final = {
    "unix_socket_permissions": "0700",
    "dynamic_shared_memory_type": "mmap",  # files in its own directory: none are left in /dev/shm
    "fsync": "off",
    "shared_buffers": "16MB",
    "max_wal_size": "64MB",
    "max_connections": "500",  # a Spark worker of the tests never closes the connections of a catalog
}
_NO_CLUSTER: Final = Path("/etc/postgresql-common/createcluster.d/paimon-operator.conf")


@dataclass(frozen=True)
class Login:
    """A user who owns one database, as a PaimonCatalog and its Secret name them."""

    user: str
    password: str
    uri: str


@dataclass(frozen=True)
class Server:
    """One server: its directory (data, socket), and where it listens."""

    directory: Path
    address: str
    port: int

    def prepare(self) -> None:
        """Creates an empty server, unless the directory has one."""
        if (self._data / "PG_VERSION").exists():
            return
        self.directory.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            shutil.chown(self.directory, USER, USER)
        options = ["--auth=trust", f"--username={USER}", "--no-sync", "--wal-segsize=1", "--locale=C.UTF-8"]
        _done([*_as_user(), str(_program("initdb")), f"--pgdata={self._data}", *options])
        (self._data / "pg_hba.conf").write_text(_HBA)

    def command(self) -> list[str]:
        """Returns the command that starts the server."""
        settings = {"listen_addresses": self.address, "port": self.port, "unix_socket_directories": self.directory}
        given = [part for key, value in {**_SETTINGS, **settings}.items() for part in ("-c", f"{key}={value}")]
        return [*_as_user(), str(_program("postgres")), "-D", str(self._data), *given]

    def answers(self) -> bool:
        command = [str(_program("pg_isready")), "--quiet", f"--host={self.directory}", f"--port={self.port}"]
        return subprocess.run(command, check=False).returncode == 0

    def execute(self, statement: str, *, database: str = USER) -> str:
        """Runs SQL as superuser and returns the rows, columns separated by `|`."""
        where = [f"--host={self.directory}", f"--port={self.port}", f"--username={USER}", f"--dbname={database}"]
        options = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]
        return _done([str(_program("psql")), *where, *options, "--file=-"], stdin=statement)

    def login(self, name: str) -> Login:
        """Creates a user and a database of the same name. The password has characters that need escaping."""
        password = f"{secrets.token_urlsafe(12)}:a\\b=c d\"'#%41]"
        self.execute(f'CREATE ROLE "{name}" LOGIN')
        self.execute(f'CREATE DATABASE "{name}" OWNER "{name}"')
        made = Login(name, password, f"jdbc:postgresql://{self.address}:{self.port}/{name}")
        self.set_password(made, password)
        return made

    def set_password(self, login: Login, password: str) -> None:
        """Changes the password of the login's user to `password`."""
        literal = password.replace("'", "''")
        self.execute(f"ALTER ROLE \"{login.user}\" PASSWORD '{literal}'")

    @property
    def _data(self) -> Path:
        return self.directory / "data"


def on_node(layout: Layout) -> Server:
    """Returns the cluster's server, on the node's address; `SERVICE` starts and stops it."""
    return Server(layout.run / "postgres", NODE_ADDRESS, PORT)


def _command_on_node(layout: Layout) -> list[str]:
    on_node(layout).prepare()
    return on_node(layout).command()


SERVICE: Final = Service(
    "postgres", _command_on_node, lambda layout: on_node(layout).answers(), end_signal=signal.SIGINT
)
"""SIGINT is PostgreSQL's fast shutdown: it aborts the transactions of its clients and shuts down in order."""


@contextmanager
def running_on_node(layout: Layout) -> Iterator[Server]:
    """Runs the cluster's server, empty at first, for the duration of the block."""
    SERVICE.start(layout)
    try:
        SERVICE.wait(layout)
        yield on_node(layout)
    finally:
        SERVICE.stop(layout)
        shutil.rmtree(on_node(layout).directory)


@contextmanager
def on_loopback() -> Iterator[Server]:
    """Runs a server for the duration of the block. Its directory is short: a socket's path has at most 107 bytes."""
    directory = Path(tempfile.mkdtemp(prefix="paimon-pg-"))
    server = Server(directory, "127.0.0.1", *free_ports(1))
    daemon = Daemon(SERVICE.name, directory / "pid", directory / "log")
    server.prepare()
    daemon.start(server.command())
    try:

        def ready() -> bool:
            daemon.check_alive()
            return server.answers()

        if not wait_until(ready, timeout=60):
            raise TimeoutError(f"PostgreSQL does not answer. Its log ends:\n{daemon.log_tail()}")
        yield server
    finally:
        daemon.stop(SERVICE.end_signal)
        shutil.rmtree(directory)


def _program(name: str) -> Path:
    """Returns a program of the newest PostgreSQL on this machine; installs the package when there is none."""
    root = Path("/usr/lib/postgresql")
    if not list(root.glob("*/bin/postgres")):
        _install()
    found = sorted(root.glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    if not found:
        raise MachineError(f"no {name} in {root}. Install the package postgresql.")
    return found[-1]


def _install() -> None:
    """Installs the package without the server that it would create and start itself."""
    if os.geteuid() == 0:
        _NO_CLUSTER.parent.mkdir(parents=True, exist_ok=True)
        _NO_CLUSTER.write_text("create_main_cluster = false\n")
    install({"postgres": "postgresql"})


def _as_user() -> list[str]:
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"] if os.geteuid() == 0 else []


def _done(command: list[str], *, stdin: str | None = None) -> str:
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, cwd="/")
    if done.returncode != 0:
        raise RuntimeError(f"{Path(command[0]).name} failed:\n{done.stdout}{done.stderr}")
    return done.stdout.strip()
