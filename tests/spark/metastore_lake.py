"""A lake whose catalog is in a metastore and whose warehouse is in S3."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from spark_apps.catalog.metastores.jdbc import DIRECTORY_VARIABLE
from tests.cluster.s3 import REGION
from tests.spark.lake import Ended, Lake
from tests.support import lake_reader
from tests.support.s3_server import S3Server

S3_KEYS = ("AKOFTHETESTS", "secret-key-of-the-tests")
"""Fixed, because a JVM keeps the environment of its start."""


def environment(directory: Path) -> dict[str, str]:
    """Returns the variables of storage and metastore in a driver's environment."""
    return {
        "AWS_ACCESS_KEY_ID": S3_KEYS[0],
        "AWS_SECRET_ACCESS_KEY": S3_KEYS[1],
        DIRECTORY_VARIABLE: str(directory / "metastore"),
    }


class WithS3(Protocol):
    """Servers of which one is S3's."""

    @property
    def s3(self) -> S3Server: ...


@dataclass
class MetastoreLake(Lake):
    """One table that a metastore lists, in S3.

    `metastore` is Paimon's name of its kind. `root` is the directory of the warehouse in the bucket.
    """

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

    def files(self) -> list[str]:
        """Returns the keys of all files in the warehouse."""
        listed = self.servers.s3.client().list_objects_v2(Bucket=self.bucket, Prefix=f"{self.root}/")
        return [each["Key"] for each in listed.get("Contents", []) if not each["Key"].endswith("/")]

    def files_of_table(self) -> list[str]:
        """Returns the keys of the table's files, its ledgers and the note of its drop."""
        return [key for key in self.files() if "/orders/" in key or "/.paimon-operator/" in key]

    def orders(self, **more: Any) -> Ended:
        """Provisions a table with one key and one bucket."""
        return self.provision({"id": "BIGINT", "v": "STRING"}, keys=["id"], options={"bucket": "1"}, **more)

    def orders_with_file(self) -> None:
        """Provisions the table and lands one file with the row (1, a)."""
        self.orders().ok()
        self.land("orders/1.csv", "id,v\n1,a\n")

    def orders_with_row(self) -> None:
        """Provisions the table and writes the row (1, a)."""
        self.orders_with_file()
        assert self.write().ok()["write"]["files"] == 1

    def read(self, table: str) -> list[dict[str, Any]]:
        return lake_reader.read_rows(self.warehouse, self.database, table, env=self.servers.s3.reader_environment)


def check_maintenance(lake: Lake) -> None:
    """Writes two commits to the new table, compacts and expires, and checks rows and snapshots after each step."""
    for number, rows in enumerate(["1,a\n2,b\n", "1,c\n"]):
        lake.land(f"orders/{number}.csv", f"id,v\n{rows}")
        assert lake.write().ok()["write"]["files"] == 1
    assert lake.write().ok()["write"]["files"] == 0
    assert lake.rows() == [{"id": 1, "v": "c"}, {"id": 2, "v": "b"}]
    assert lake.compact().ok()["after"]["sortedRunsMax"] == 1
    assert lake.expire(numRetainedMin=1, numRetainedMax=1).ok()["expired"] == 2
    assert [each["commit_kind"] for each in lake.snapshots()] == ["COMPACT"]
    assert lake.rows() == [{"id": 1, "v": "c"}, {"id": 2, "v": "b"}]
