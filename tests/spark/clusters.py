"""Clusters for tests of several operators on one lake: an API server, the operator's process and a kubelet each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from tests.apiserver.crds import install
from tests.apiserver.namespace_client import CATALOGS, RUNS, TABLES, NamespaceClient
from tests.apiserver.operator_process import OperatorProcess
from tests.cluster.apiserver import USUAL_CONTROLLERS, ApiServer
from tests.cluster.s3 import REGION
from tests.spark.driver_kubelet import DriverKubelet, Drivers
from tests.support import builders
from tests.support.manifests import Manifest
from tests.support.s3_server import S3Server

NAMESPACE: Final = "team"
"""Of all objects. Two clusters get the same manifests, so the owner marks differ by the cluster's id alone."""


class Cluster:
    """One cluster with its own id. `start` and `stop` start and stop everything; its objects survive."""

    def __init__(self, cluster_id: str, directory: Path, drivers: Drivers) -> None:
        self.id, self._directory, self._drivers = cluster_id, directory, drivers
        directory.mkdir()
        self.server = ApiServer(directory / "api", controllers=USUAL_CONTROLLERS)
        self._starts = 0
        self._running = ExitStack()
        self._ns: NamespaceClient | None = None
        self._operator: OperatorProcess | None = None

    @property
    def ns(self) -> NamespaceClient:
        """The client of the namespace."""
        assert self._ns is not None, "not started"
        return self._ns

    @property
    def operator(self) -> OperatorProcess:
        """The current process of the operator."""
        assert self._operator is not None, "not started"
        return self._operator

    def start(self) -> Cluster:
        """Starts the API server, the operator and the kubelet."""
        self._running.enter_context(self.server)
        if self._ns is None:
            install(self.server.kubeconfig)
            self._ns = NamespaceClient(self.server.kubeconfig, NAMESPACE)
        self.start_operator()
        self._running.enter_context(DriverKubelet(self.ns, self._drivers, self._directory / f"pods-{self._starts}"))
        return self

    def start_operator(self) -> None:
        """Starts a new process of the operator and waits until it has reconciled every object once."""
        self._starts += 1
        self._operator = OperatorProcess(
            self.server.kubeconfig,
            self._directory,
            namespaces=[NAMESPACE],
            lease_namespace=NAMESPACE,
            name=f"operator-{self._starts}",
            cluster_id=self.id,
        )
        self._running.enter_context(self._operator)
        self._operator.wait_until_working()

    def restart_operator(self) -> None:
        """Ends the operator's process and starts another one. It has reconciled every object at the end."""
        assert self.operator.terminate() == 0, self.operator.log()
        self.start_operator()

    def stop(self) -> None:
        """Stops everything at once, like a cluster that is gone. Raises what a driver's kubelet could not do."""
        self._running.close()

    def create(self, catalog: Manifest, server: S3Server, *tables: Manifest) -> None:
        """Applies the catalog, its Secret with the keys of `server`, and the tables."""
        secret: Any = {"metadata": {"name": "lake-s3"}, "stringData": server.keys}
        self.ns.core.create_namespaced_secret(NAMESPACE, secret)
        for manifest in (catalog, *tables):
            self.ns.create(manifest)

    def move(self, catalog: str, endpoint: str) -> None:
        """Moves a catalog to another address, with the annotation that allows it."""
        annotations = {"paimon-operator.dev/storage-moved": "true"}
        spec = {"storage": {"s3": {"endpoint": endpoint}}}
        self.ns.patch(CATALOGS, catalog, {"metadata": {"annotations": annotations}, "spec": spec})

    def runs(self, table: str) -> list[Manifest]:
        """All runs of a table, oldest name first."""
        return [run for run in self.ns.all(RUNS) if run["spec"]["tableRef"]["name"] == table]

    def operations(self, table: str) -> list[tuple[str, str]]:
        """Type and phase of each run of a table, in order."""
        return sorted((run["spec"]["type"], (run.get("status") or {}).get("phase", "")) for run in self.runs(table))

    def wait_until_stalled(self, table: str, reason: str) -> str:
        """Waits until the table is Stalled for this reason. Returns the message."""
        message: str = self.ns.wait_for_condition(TABLES, table, "Stalled", "True", reason)["message"]
        return message

    def wait_until_idle(self, table: str) -> Manifest:
        """Returns the table once it is Ready and no write of type Once is left."""

        def idle() -> Manifest | None:
            found = self.ns.get(TABLES, table)
            status = found.get("status") or {}
            conditions = {each["type"]: each["status"] for each in status.get("conditions") or ()}
            done = all("onceHash" in each for each in status.get("writes") or ())
            is_current = status.get("observedGeneration") == found["metadata"]["generation"]
            ready = conditions.get("Ready") == "True" and "activeRun" not in status
            return found if ready and done and is_current else None

        return self.ns.wait(idle, f"{table} is Ready and idle", operator=self.operator)


@contextmanager
def started(cluster_id: str, directory: Path, drivers: Drivers) -> Iterator[Cluster]:
    """Runs a cluster for the block."""
    cluster = Cluster(cluster_id, directory, drivers)
    try:
        yield cluster.start()
    finally:
        cluster.stop()


def catalog_on(endpoint: str, engine: str, name: str = "lake") -> Manifest:
    """A catalog at this address of an S3 server, whose buckets are `lake` and `landing`."""
    s3 = {"endpoint": endpoint, "region": REGION, "pathStyleAccess": True, "credentialsSecretRef": {"name": "lake-s3"}}
    return builders.catalog_manifest(name, NAMESPACE, storage={"s3": s3}, engine=engine, allowedDatabases=["shop"])


def objects_in(server: S3Server) -> dict[str, str]:
    """ETag of each object of the server, by bucket and key."""
    client: Any = server.client()
    found: dict[str, str] = {}
    for bucket in ("lake", "landing"):
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket):
            found |= {f"{bucket}/{each['Key']}": each["ETag"] for each in page.get("Contents", ())}
    return found
