"""The objects of a bad hour on a real API server without operator and nodes: a command's own effect is what remains."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from kubernetes import client

from paimon_operator.core import naming
from tests.apiserver.api import Body, as_json, create_namespace
from tests.apiserver.conftest import serving
from tests.apiserver.crds import NAMESPACE, Objects
from tests.apiserver.log_kubelet import NODE, serving_logs
from tests.apiserver.namespace_client import CATALOGS, NamespaceClient
from tests.cluster.apiserver import ApiServer
from tests.support import builders
from tests.support.manifests import Manifest, catalog, edited, keyed_table, run
from tests.support.table_world import TableWorld

HOME: Final = "paimon-system"
BANK: Final = "bank"
ARGOCD: Final = "argocd"
OPERATOR: Final = "paimon-operator"
HOURLY: Final = "0 * * * *"
SPEC: Final[dict[str, Any]] = {
    "compaction": {"mode": "Dedicated", "minor": {"schedule": HOURLY}},
    "retention": {"snapshots": {"schedule": HOURLY, "numRetainedMax": 20}},
    "writes": keyed_table()["spec"]["writes"],
    "deletionPolicy": "Delete",
}
TABLE: Final = builders.table_manifest("orders", **SPEC)
BY_HAND: Final = run(metadata__namespace=NAMESPACE)
PHASES: Final = ("Pending", "Launching", "Running", "Succeeded", "Failed", "Unknown")
WITH_LOG: Final = "orders-write-1"
"""A driver Pod whose node serves its log. The others are on no node: nothing delays their deletion."""
_NOW: Final = "2026-11-21T08:00:00Z"


@contextmanager
def serving_a_bad_hour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """A server of its own, because the pages name its namespaces, with the objects of the operator's namespace."""
    log = tmp_path_factory.mktemp("logs") / "driver.log"
    log.write_text('{"level": "INFO", "message": "reads a file"}\n', encoding="utf-8")
    with serving(tmp_path_factory) as server:
        home = NamespaceClient(server.kubeconfig, HOME)
        for name in (ARGOCD, BANK):
            create_namespace(home.client, name)
        _create_operator(home.client)
        with serving_logs(server, HOME, {"operator-0": log}, others={WITH_LOG: log}):
            yield server


def _create_operator(api: client.ApiClient) -> None:
    labels = {"app.kubernetes.io/name": OPERATOR}
    containers = [{"name": "operator", "image": "example.test/operator"}]
    template = {"metadata": {"labels": labels}, "spec": {"containers": containers}}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    deployment: Body = {"metadata": {"name": OPERATOR}, "spec": spec}
    client.AppsV1Api(api).create_namespaced_deployment(HOME, deployment)
    lease: Body = {"metadata": {"name": OPERATOR}, "spec": {"holderIdentity": "operator-0"}}
    client.CoordinationV1Api(api).create_namespaced_lease(HOME, lease)


class BadHour:
    """Two catalogs, a table with an active run, a run in each phase and one without a status, and Pods of drivers."""

    def __init__(self, server: ApiServer) -> None:
        self.kubeconfig = server.kubeconfig
        self.objects = Objects(server.kubeconfig)
        self.shop = NamespaceClient(server.kubeconfig, NAMESPACE, exists=True)
        self.bank = NamespaceClient(server.kubeconfig, BANK, exists=True)
        self.core = self.shop.core

    def begin(self) -> None:
        self.shop.create_catalog()
        self.bank.create_catalog()
        self.objects.create(TABLE)
        self.objects.set_status(TABLE, TableWorld(table=builders.table(**SPEC)).ready().table.status.to_json())
        self.objects.create(BY_HAND)
        for phase in PHASES:
            self._create_run(phase)
        self._create_pod(WITH_LOG, naming.pod_labels("orders", "orders-write", 1), nodeName=NODE)
        self._create_pod("clicks-write-1", naming.pod_labels("clicks", "clicks-write", 1))
        self._create_pod("of-somebody", {"app": "shop"})

    def end(self) -> None:
        """Leaves nothing but the namespaces."""
        self.shop.release()
        self.objects.clear()
        self.bank.delete(CATALOGS, "lake")

    def replicas(self) -> int:
        """How many operators the Deployment asks for."""
        deployment = client.AppsV1Api(self.shop.client).read_namespaced_deployment(OPERATOR, HOME)
        return int(as_json(deployment)["spec"]["replicas"])

    def catalogs(self) -> list[Manifest]:
        return [self.shop.get(CATALOGS, "lake"), self.bank.get(CATALOGS, "lake")]

    def report(self, status: str) -> None:
        """Sets the condition that somebody waits for, of the table and of the run by hand."""
        for manifest, type_ in ((TABLE, "Ready"), (BY_HAND, "Succeeded")):
            condition = {"type": type_, "status": status, "reason": "Reported", "message": "", "observedGeneration": 1}
            self.objects.set_status(manifest, {"conditions": [condition | {"lastTransitionTime": _NOW}]})

    def _create_run(self, phase: str) -> None:
        labels = naming.run_labels("orders")
        of = edited(BY_HAND, metadata__name=name_of(phase), metadata__labels=labels)
        self.objects.create(of)
        self.objects.set_status(of, {"phase": phase})

    def _create_pod(self, name: str, labels: dict[str, str], **spec: str) -> None:
        containers = [{"name": "driver", "image": "example.test/spark"}]
        body: Body = {"metadata": {"name": name, "labels": labels}, "spec": {"containers": containers, **spec}}
        self.core.create_namespaced_pod(NAMESPACE, body)


def name_of(phase: str) -> str:
    """Name of the run in this phase."""
    return f"orders-{phase.lower()}"


def lake() -> Manifest:
    """The catalog of the pages."""
    return catalog(metadata__namespace=NAMESPACE, spec__allowedDatabases=["shop"])
