"""A lab whose catalog and input files are on the node's HDFS, with or without Kerberos."""

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
    """A lab on HDFS. The catalog logs in if `hdfs` has a realm."""

    hdfs: Hdfs

    @property
    def warehouse(self) -> str:
        return f"{self.hdfs.uri}/lake/{self.namespace}"

    def surroundings(self) -> list[Object]:
        """Returns the objects that an administrator creates with the catalog."""
        return storage_objects(self.hdfs, self.namespace)

    def catalog(self, name: str = "lake", **spec: Any) -> Object:
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

    def rows(self, table: str, *, catalog_bucket: str = "", directory: str = "") -> list[dict[str, Any]]:
        del catalog_bucket, directory  # an HDFS has one warehouse
        return lake_reader_hdfs.read_rows(self.hdfs, self.warehouse, self.namespace, table)

    def snapshots(self, table: str) -> list[str]:
        """Returns the paths of the table's snapshots."""
        listed = self.hdfs.shell("-ls", "-C", f"{self.warehouse}/{self.namespace}.db/{table}/snapshot").split()
        return [path for path in listed if "/snapshot-" in path]

    def files(self, table: str) -> list[str]:
        """Returns the paths of the table's files in the warehouse."""
        return [path for path in self.hdfs.shell("-ls", "-R", "-C", self.warehouse).split() if table in path]


def storage(hdfs: Hdfs) -> Object:
    """Returns the catalog's member `hdfs`."""
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
    """Returns the ConfigMaps and the Secret to which `storage` refers."""

    def made(kind: str, name: str, data: Mapping[str, str]) -> Object:
        return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": namespace}, "data": data}

    objects = [made("ConfigMap", "hadoop-conf", hdfs.client_files())]
    if hdfs.realm is not None:
        keytab = base64.b64encode(hdfs.realm.keytab(realm.USER).read_bytes()).decode()
        secret_values.register({"keytab": keytab})  # objects have this text
        objects.append(made("Secret", "lake-keytab", {"keytab": keytab}))
        objects.append(made("ConfigMap", "krb5", {"krb5.conf": hdfs.realm.krb5_conf.read_text()}))
    return objects


def put(hdfs: Hdfs, path: str, content: str) -> None:
    """Writes a file atomically with Hadoop's shell."""
    with tempfile.NamedTemporaryFile("w", suffix=".part") as file:
        file.write(content)
        file.flush()
        hdfs.shell("-mkdir", "-p", path.rpartition("/")[0])
        hdfs.shell("-put", "-f", file.name, path)
