"""A lab whose catalog is on the node's HDFS, with or without Kerberos; input files lie there as well."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.cluster.hdfs import realm
from tests.cluster.hdfs.servers import Hdfs
from tests.e2e.lab import GROUP, Lab
from tests.support import lake_reader_hdfs, secret_values
from tests.support.kubectl import Object


@dataclass(frozen=True, kw_only=True)
class HdfsLab(Lab):
    """`hdfs` decides whether the catalog logs in."""

    hdfs: Hdfs

    @property
    def warehouse(self) -> str:
        return f"{self.hdfs.uri}/lake/{self.namespace}"

    def surroundings(self) -> list[Object]:
        """What an administrator makes beside the catalog."""
        return storage_objects(self.hdfs, self.namespace)

    def catalog(self, name: str = "lake", **spec: Any) -> Object:  # type: ignore[override]
        return {
            "apiVersion": GROUP,
            "kind": "PaimonCatalog",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {
                "warehouse": self.warehouse,
                "storage": {"hdfs": storage(self.hdfs)},
                "engine": self.engine,
                "locations": [{"name": "landing", "uri": f"{self.hdfs.uri}/landing/{self.namespace}/"}],
                "spark": {"driver": {"cores": 1, "memory": "1536Mi"}},
                **spec,
            },
        }

    def land(self, path: str, rows: Iterable[Mapping[str, Any]]) -> None:
        put(self.hdfs, f"/landing/{self.namespace}/{path}", "".join(json.dumps(row) + "\n" for row in rows))

    def rows(self, table: str, *, catalog_bucket: str = "") -> list[dict[str, Any]]:
        del catalog_bucket
        return lake_reader_hdfs.read_rows(self.hdfs, self.warehouse, self.namespace, table)

    def snapshots(self, table: str) -> list[str]:
        """Paths of the table's snapshots."""
        listed = self.hdfs.shell("-ls", "-C", f"{self.warehouse}/{self.namespace}.db/{table}/snapshot").split()
        return [path for path in listed if "/snapshot-" in path]

    def files(self, table: str) -> list[str]:
        """Paths of all that the warehouse has of the table."""
        return [path for path in self.hdfs.shell("-ls", "-R", "-C", self.warehouse).split() if table in path]


def storage(hdfs: Hdfs) -> Object:
    """The catalog's member `hdfs`."""
    files = {"configMapRef": {"name": "hadoop-conf"}}
    if hdfs.realm is None:
        return {**files, "user": realm.USER}
    kerberos = {
        "principal": f"{realm.USER}@{realm.NAME}",
        "keytabSecretRef": {"name": "lake-keytab"},
        "krb5ConfigMapRef": {"name": "krb5"},
    }
    return {**files, "kerberos": kerberos}


def storage_objects(hdfs: Hdfs, namespace: str) -> list[Object]:
    """The ConfigMaps and the Secret that it names."""

    def made(kind: str, name: str, data: Mapping[str, str]) -> Object:
        return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": namespace}, "data": data}

    objects = [made("ConfigMap", "hadoop-conf", hdfs.client_files())]
    if hdfs.realm is not None:
        keytab = base64.b64encode(hdfs.realm.keytab(realm.USER).read_bytes()).decode()
        secret_values.register({"keytab": keytab})  # what is searched for is the text that objects would have
        objects.append(made("Secret", "lake-keytab", {"keytab": keytab}))
        objects.append(made("ConfigMap", "krb5", {"krb5.conf": hdfs.realm.krb5_conf.read_text()}))
    return objects


def put(hdfs: Hdfs, path: str, content: str) -> None:
    """Puts a file there, whole or not at all, with Hadoop's own shell."""
    with tempfile.NamedTemporaryFile("w", suffix=".part") as file:
        file.write(content)
        file.flush()
        hdfs.shell("-mkdir", "-p", path.rpartition("/")[0])
        hdfs.shell("-put", "-f", file.name, path)
