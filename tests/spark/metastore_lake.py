"""A lake whose list of tables is in PostgreSQL and whose warehouse is in S3; both servers on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from spark_apps.catalog.metastores.jdbc import DIRECTORY_VARIABLE
from tests.cluster import postgres
from tests.spark.lake import Ended, Lake
from tests.support import lake_reader
from tests.support.s3_server import REGION, S3Server, s3_server

S3_KEYS = ("AKOFTHETESTS", "secret-key-of-the-tests")
"""Fixed: the environment of a JVM is what it was when it started."""


def environment(directory: Path) -> dict[str, str]:
    """What a driver's environment has of storage and metastore."""
    return {
        "AWS_ACCESS_KEY_ID": S3_KEYS[0],
        "AWS_SECRET_ACCESS_KEY": S3_KEYS[1],
        DIRECTORY_VARIABLE: str(directory / "metastore"),
    }


class WithS3(Protocol):
    """Servers of which one is S3's."""

    @property
    def s3(self) -> S3Server: ...


@dataclass(frozen=True)
class Servers:
    """PostgreSQL and S3."""

    postgres: postgres.Server
    s3: S3Server


@dataclass
class ListedLake(Lake):
    """One table that a metastore lists, in S3. `metastore` is what Paimon calls its kind, `root` the directory of the
    bucket that is the warehouse."""

    metastore: ClassVar[str]
    servers: WithS3 = field(kw_only=True)
    uri: str = field(kw_only=True)
    root: str = field(kw_only=True)
    bucket: str = field(default="lake", kw_only=True)

    @property
    def warehouse(self) -> str:
        return f"s3://{self.bucket}/{self.root}"

    def job(self, operation: str, *, run: str | None = None, **member: Any) -> dict[str, Any]:
        options = {
            "uri": self.uri,
            "s3.endpoint": self.servers.s3.endpoint,
            "s3.endpoint.region": REGION,
            "s3.path.style.access": "true",
        }
        catalog = {"warehouse": self.warehouse, "metastore": self.metastore, "options": options}
        return super().job(operation, run=run, **member) | {"catalog": catalog}

    def write_job(self, *, run: str | None = None, **more: Any) -> dict[str, Any]:
        ledger = f"{self.warehouse}/.paimon-operator/{self.database}.orders/import"
        return super().write_job(run=run, ledger=ledger, **more)

    def rows(self) -> list[dict[str, Any]]:
        return self._read("orders")

    def snapshots(self) -> list[dict[str, Any]]:
        return self._read("orders$snapshots")

    def orders(self, **more: Any) -> Ended:
        """Provision of a usual table."""
        return self.provision({"id": "BIGINT", "v": "STRING"}, keys=["id"], options={"bucket": "1"}, **more)

    def _read(self, table: str) -> list[dict[str, Any]]:
        return lake_reader.read_rows(self.warehouse, self.database, table, env=self.servers.s3.reader_environment)


@dataclass
class MetastoreLake(ListedLake):
    """The metastore is one database of PostgreSQL. `secret` is what the Pod is given of the metastore's Secret."""

    metastore = "jdbc"
    servers: Servers = field(kw_only=True)
    login: postgres.Login = field(kw_only=True)

    @property
    def secret(self) -> Path:
        return Path(self.worker.env[DIRECTORY_VARIABLE])

    def give(self, **keys: str) -> None:
        """Puts the Secret's keys where the driver looks for them; the usual ones unless told otherwise."""
        self.secret.mkdir(exist_ok=True)
        for old in self.secret.iterdir():
            old.unlink()
        for key, value in (keys or {"username": self.login.user, "password": self.login.password + "\n"}).items():
            (self.secret / key).write_text(value, encoding="utf-8")

    def sql(self, statement: str) -> str:
        """Runs SQL in the metastore's database, as its superuser."""
        return self.servers.postgres.execute(statement, database=self.login.user)


@contextmanager
def servers(directory: Path) -> Iterator[Servers]:
    """Both, for as long as the block lasts."""
    with postgres.on_loopback() as database, s3_server(directory, "lake", keys=S3_KEYS) as s3:
        yield Servers(database, s3)
