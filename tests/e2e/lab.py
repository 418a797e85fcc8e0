"""A namespace on the real node with its catalog, database and folder of the landing bucket."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import boto3
from botocore.client import BaseClient
from botocore.config import Config

from tests.cluster.layout import Layout
from tests.support import lake_reader, secret_values
from tests.support.kubectl import Kubectl, Object

GROUP = "paimon-operator.dev/v1alpha1"
OF_RUNS = "app.kubernetes.io/managed-by=paimon-operator,paimon-operator.dev/role!=observer"
"""Selects drivers and executors."""


@dataclass(frozen=True, kw_only=True)
class Lab:
    """The namespace of one test on the node."""

    kubectl: Kubectl
    env: Mapping[str, str]
    engine: str
    layout: Layout = field(default_factory=Layout)
    """Of the node."""

    @property
    def namespace(self) -> str:
        return self.kubectl.namespace

    @property
    def database(self) -> str:
        """The database of the namespace's tables."""
        return self.namespace

    @property
    def s3(self) -> BaseClient:
        """A client of the cluster's S3 server, from the host."""
        return s3_client(self.env)

    @property
    def s3_in_cluster(self) -> str:
        return self.env["CLUSTER_S3_ENDPOINT_IN_CLUSTER"]

    def secret(self, name: str = "lake-s3", **override: str) -> Object:
        """Returns the Secret with the S3 keys."""
        keys = {key: self.env[key] for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")} | override
        secret_values.register(keys, layout=self.layout)
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "namespace": self.namespace},
            "stringData": keys,
        }

    def catalog(
        self, name: str = "lake", *, bucket: str = "lake", secret: str = "lake-s3", endpoint: str = "", **spec: Any
    ) -> Object:
        s3 = {
            "endpoint": endpoint or self.s3_in_cluster,
            "region": self.env["AWS_REGION"],
            "pathStyleAccess": True,
            "credentialsSecretRef": {"name": secret},
        }
        return {
            "apiVersion": GROUP,
            "kind": "PaimonCatalog",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {
                "warehouse": f"s3://{bucket}/{self.namespace}",
                "metastore": {"type": "Filesystem"},
                "storage": {"s3": s3},
                "engine": self.engine,
                "locations": [{"name": "landing", "uri": f"s3://landing/{self.namespace}/"}],
                "spark": {"driver": {"cores": 1, "memory": "1536Mi"}},
                **spec,
            },
        }

    def table(self, name: str, columns: Mapping[str, Any], *, keys: Iterable[str] = (), **spec: Any) -> Object:
        """Returns a table. `columns` maps names to types, or to whole columns without the name."""
        listed = [{"name": n, **(t if isinstance(t, Mapping) else {"type": t})} for n, t in columns.items()]
        schema: Object = {"columns": listed}
        if keys:
            schema["primaryKeys"] = list(keys)
        return {
            "apiVersion": GROUP,
            "kind": "PaimonTable",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {"catalogRef": {"name": "lake"}, "database": self.database, "schema": schema, **spec},
        }

    def placed(self, example: Iterable[Object]) -> tuple[Object, Object]:
        """Catalog and table of an example, with this node's storage and engine, and a namespace, database and warehouse
        of the lab's."""
        catalog, table = example
        for each in (catalog, table):
            each["metadata"]["namespace"] = self.namespace
        table["spec"]["database"] = self.database
        spec = catalog["spec"]
        spec |= {"engine": self.engine, "warehouse": f"{spec['warehouse']}/{self.namespace}"}
        spec["allowedDatabases"] = [self.database]
        spec["storage"]["s3"]["endpoint"] = self.s3_in_cluster
        del spec["spark"]["serviceAccountName"]
        return catalog, table

    def compaction(self, table: str, name: str, **more: Any) -> Object:
        """Returns a run of a user: a full compaction."""
        return self.run(table, name, type="Compact", compact={"strategy": "Full"}, **more)

    def run(self, table: str, name: str, **spec: Any) -> Object:
        """Returns a run of a user."""
        metadata = {"name": name, "namespace": self.namespace}
        spec = {"tableRef": {"name": table}, **spec}
        return {"apiVersion": GROUP, "kind": "PaimonRun", "metadata": metadata, "spec": spec}

    def land(self, path: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Writes one file of JSON lines into this namespace's folder of the landing bucket."""
        body = "".join(json.dumps(row) + "\n" for row in rows)
        self.s3.put_object(Bucket="landing", Key=f"{self.namespace}/{path}", Body=body.encode())

    def rows(self, table: str, *, catalog_bucket: str = "lake", directory: str = "") -> list[dict[str, Any]]:
        """Returns the table's rows, read by pypaimon and sorted by the first column."""
        warehouse = f"s3://{catalog_bucket}/{self.namespace}" + (f"/{directory}" if directory else "")
        return lake_reader.read_rows(warehouse, self.database, table, env=self.env)

    def keys(self, below: str = "") -> list[str]:
        """Returns the keys of the namespace's warehouse, or of a path below it."""
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket="lake", Prefix=f"{self.namespace}/{below}")
        return [each["Key"] for page in pages for each in page.get("Contents", ())]

    def snapshots(self, table: str) -> list[str]:
        """Returns the paths of the table's snapshots."""
        return self.keys(f"{self.database}.db/{table}/snapshot/snapshot-")

    def files(self, table: str) -> list[str]:
        """Returns the paths that contain the table's name: data and ledger."""
        return [key for key in self.keys() if table in key]

    def ready(self, table: str) -> Object:
        return self.kubectl.until_condition(table, "Ready", "True")

    def settled(self, table: str) -> Object:
        """Waits until a write of the table has committed and no run is active."""
        found = self.kubectl.until(
            "paimontable",
            table,
            lambda o: o and committed(o) and not o["status"].get("activeRun"),
            what="loaded and settled",
        )
        assert found is not None
        return found

    def pods(self, selector: str = OF_RUNS) -> list[Object]:
        return self.kubectl.list("pod", selector)

    def runs(self, table: str, type_: str = "") -> list[Object]:
        """Returns the table's runs, oldest first."""
        found = self.kubectl.list("paimonrun", f"paimon-operator.dev/table={table}")
        return sorted(
            (r for r in found if type_ in ("", r["spec"]["type"])), key=lambda r: r["metadata"]["creationTimestamp"]
        )


def s3_client(env: Mapping[str, str]) -> BaseClient:
    return boto3.client(
        "s3",
        endpoint_url=env["AWS_ENDPOINT_URL"],
        aws_access_key_id=env["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=env["AWS_SECRET_ACCESS_KEY"],
        region_name=env["AWS_REGION"],
        config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 3}),
    )


def committed(table: Object | None) -> list[int]:
    """Returns the committed snapshots of the table's writes, in their order. Writes without one are omitted."""
    writes = ((table or {}).get("status") or {}).get("writes") or []
    return [write["committedSnapshot"] for write in writes if write.get("committedSnapshot")]


def write_pods(pods: Iterable[Object]) -> list[Object]:
    """Returns the Pods of writes."""
    return [pod for pod in pods if "-write-" in pod["metadata"]["name"]]


def once(name: str, path: str, *, mode: str = "Upsert", file_format: str = "json") -> Object:
    """Returns a write that loads one path once."""
    return {
        "name": name,
        "from": {"files": {"location": "landing", "path": path, "format": file_format, "select": "All"}},
        "mode": mode,
        "trigger": {"type": "Once"},
    }


def scheduled(name: str, path: str, *, mode: str = "Upsert", schedule: str = "* * * * *") -> Object:
    """Returns a write that loads the new files of a folder, by default every minute."""
    return {
        "name": name,
        "from": {"files": {"location": "landing", "path": path, "format": "json", "select": "New"}},
        "mode": mode,
        "trigger": {"type": "Schedule", "schedule": schedule},
    }
