"""A lake whose catalog is in PostgreSQL and whose warehouse is in S3; both servers run on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from spark_apps.catalog.metastores.jdbc import DIRECTORY_VARIABLE
from tests.cluster import postgres
from tests.spark.metastore_lake import S3_KEYS, MetastoreLake
from tests.support.s3_server import S3Server, s3_server


@dataclass(frozen=True)
class JdbcServers:
    """PostgreSQL and S3."""

    postgres: postgres.Server
    s3: S3Server


@dataclass
class JdbcLake(MetastoreLake):
    """A lake whose metastore is one database of PostgreSQL."""

    metastore = "jdbc"
    servers: JdbcServers = field(kw_only=True)
    login: postgres.Login = field(kw_only=True)

    @property
    def secret(self) -> Path:
        """The directory that a Pod has from the metastore's Secret."""
        return Path(self.jvm.env[DIRECTORY_VARIABLE])

    def mount_secret(self, **keys: str) -> None:
        """Replaces the keys of the mounted Secret; without `keys` by user and password of the login."""
        self.secret.mkdir(exist_ok=True)
        for old in self.secret.iterdir():
            old.unlink()
        for key, value in (keys or {"username": self.login.user, "password": self.login.password + "\n"}).items():
            (self.secret / key).write_text(value, encoding="utf-8")

    def sql(self, statement: str) -> str:
        """Runs SQL in the metastore's database, as its superuser."""
        return self.servers.postgres.execute(statement, database=self.login.user)


@contextmanager
def jdbc_servers_on_loopback(directory: Path) -> Iterator[JdbcServers]:
    """Runs both servers for the duration of the block."""
    with postgres.on_loopback() as database, s3_server(directory, "lake", keys=S3_KEYS) as s3:
        yield JdbcServers(database, s3)
