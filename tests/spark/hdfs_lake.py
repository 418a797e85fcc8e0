"""A warehouse and a landing folder on HDFS."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cluster.hdfs import realm
from tests.cluster.hdfs.servers import Hdfs
from tests.spark.lake import Lake
from tests.support import lake_reader_hdfs
from tests.support.spark_process import Exited


def pod_environment(hdfs: Hdfs, directory: Path, *, user: str = realm.USER) -> dict[str, str]:
    """Returns the environment of a Pod of a catalog on this HDFS. Writes the files that it names into `directory`."""
    conf = directory / "hadoop"
    if not conf.exists():
        conf.mkdir()
        for name, content in hdfs.client_files().items():
            (conf / name).write_text(content)
    if hdfs.realm is None:
        return {"HADOOP_CONF_DIR": str(conf), "HADOOP_USER_NAME": user}
    return {
        "HADOOP_CONF_DIR": str(conf),
        "KRB5_CONFIG": str(hdfs.realm.krb5_conf),
        "KRB5PRINCIPAL": f"{user}@{realm.NAME}",
        "KRB5KEYTAB": str(hdfs.realm.keytab(user)),
    }


@dataclass
class HdfsLake(Lake):
    """One table `shop.orders` in its own directory of an HDFS."""

    hdfs: Hdfs = field(kw_only=True)
    folders: set[str] = field(default_factory=set, kw_only=True)
    """Existing directories of the landing folder, because each command of Hadoop's shell starts a JVM."""

    @property
    def warehouse(self) -> str:
        return f"{self.hdfs.uri}/lake/{self.directory.name}"

    @property
    def landing(self) -> str:
        return f"{self.hdfs.uri}/landing/{self.directory.name}"

    def land(self, path: str, content: str | bytes) -> Path:
        """Writes a file into the landing folder on HDFS with Hadoop's shell."""
        here, there = super().land(path, content), f"{self.landing}/{path}"
        folder = there.rpartition("/")[0]
        if folder not in self.folders:
            self.hdfs.shell("-mkdir", "-p", folder)
            self.folders.add(folder)
        self.hdfs.shell("-put", "-f", str(here), there)
        return here

    def read(self, table: str) -> list[dict[str, Any]]:
        return lake_reader_hdfs.read_rows(self.hdfs, self.warehouse, self.database, table)

    def write_job(self, *, run: str | None = None, **more: Any) -> dict[str, Any]:
        ledger = f"{self.warehouse}/.paimon-operator/{self.database}.orders/import"
        return super().write_job(run=run, **{"location": self.landing, "ledger": ledger, **more})

    def job(self, operation: str, *, run: str | None = None, **member: Any) -> dict[str, Any]:
        secured = {"hadoop.security.authentication": "kerberos"} if self.hdfs.realm else {}
        return super().job(operation, run=run, **member) | {"hadoop": secured}

    def drive(self, job: dict[str, Any], **env: str) -> Exited:
        return super().drive(job, **{**pod_environment(self.hdfs, self.directory), **env})

    def exists(self, path: str = "") -> bool:
        """Returns whether a path below the warehouse exists."""
        place, _, name = f"{self.warehouse}/{path}".rstrip("/").rpartition("/")
        return any(line.endswith(f"/{name}") for line in self.hdfs.shell("-ls", "-C", place).splitlines())
