"""Where the demo's table lives: in the cluster's S3 server, or on an HDFS that is started for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import yaml

from tests.cluster import release
from tests.cluster.cache import CHECKOUT
from tests.cluster.hdfs import on_node
from tests.cluster.layout import Layout
from tests.e2e.hdfs_lab import put, storage, storage_objects
from tests.e2e.lab import s3_client
from tests.support import lake_reader, lake_reader_hdfs
from tests.support.kubectl import Kubectl

DATABASE = release.SHOP


class Place(Protocol):
    """One namespace with its catalog."""

    @property
    def namespace(self) -> str:
        """Where the demo's objects are."""
        ...

    def prepare(self) -> None:
        """Makes what an administrator makes."""

    def land(self, path: str, content: str) -> str:
        """Puts a file where tables load from, and returns its URI."""
        ...

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the table `orders`, by a reader that is not our code."""
        ...


@dataclass(frozen=True)
class OnS3:
    """The namespace that `make up` has made."""

    env: Mapping[str, str]
    namespace: str = release.SHOP

    def prepare(self) -> None:
        """All is there."""

    def land(self, path: str, content: str) -> str:
        s3_client(self.env).put_object(Bucket="landing", Key=path, Body=content.encode())
        return f"s3://landing/{path}"

    def rows(self) -> list[dict[str, Any]]:
        catalog = Kubectl(namespace=self.namespace, env=self.env).get("paimoncatalog", "lake") or {}
        return lake_reader.read_rows(catalog["spec"]["warehouse"], DATABASE, "orders", env=self.env)


@dataclass(frozen=True)
class OnHdfs:
    """A namespace of its own, whose catalog is on the node's HDFS of one kind."""

    env: Mapping[str, str]
    kind: str

    @property
    def namespace(self) -> str:
        return f"{release.SHOP}-{self.kind}"

    def prepare(self) -> None:
        hdfs = on_node.start(Layout(), self.kind)
        print(f"    {hdfs.uri}{' with Kerberos' if hdfs.realm else ''}: a NameNode and a DataNode", flush=True)
        catalog = yaml.safe_load((CHECKOUT / "examples" / "catalog.yaml").read_text())
        catalog["metadata"]["namespace"] = self.namespace
        catalog["spec"] |= {
            "warehouse": self._warehouse,
            "storage": {"hdfs": storage(hdfs)},
            "locations": [{"name": "landing", "uri": f"{hdfs.uri}/landing/"}],
            "allowedDatabases": [DATABASE],
        }
        del catalog["spec"]["spark"]["serviceAccountName"]
        kubectl = Kubectl(namespace=self.namespace, env=self.env)
        kubectl.apply(release.restricted_namespace(self.namespace))
        kubectl.apply(*storage_objects(hdfs, self.namespace), catalog)

    def land(self, path: str, content: str) -> str:
        hdfs = on_node.hdfs_of(Layout(), self.kind)
        put(hdfs, f"/landing/{path}", content)
        return f"{hdfs.uri}/landing/{path}"

    def rows(self) -> list[dict[str, Any]]:
        hdfs = on_node.hdfs_of(Layout(), self.kind)
        return lake_reader_hdfs.read_rows(hdfs, self._warehouse, DATABASE, "orders")

    @property
    def _warehouse(self) -> str:
        return f"{on_node.hdfs_of(Layout(), self.kind).uri}/lake/demo"


PLACES: dict[str, Callable[[Mapping[str, str]], Place]] = {
    "s3": OnS3,
    on_node.SIMPLE: lambda env: OnHdfs(env, on_node.SIMPLE),
    on_node.KERBEROS: lambda env: OnHdfs(env, on_node.KERBEROS),
}
"""What `make demo STORAGE=` takes."""
