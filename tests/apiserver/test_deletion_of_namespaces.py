"""`kubectl delete namespace` with tables in it, on a real API server: it ends, or the answer says what to do."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from kubernetes import client
from kubernetes.client.exceptions import NotFoundException

from paimon_operator.core.naming import FINALIZER
from tests.apiserver.conftest import serving
from tests.apiserver.namespace_client import CATALOGS, RUNS, TABLES, NamespaceClient
from tests.apiserver.operator_process import OperatorProcess
from tests.apiserver.page_commands import run_commands
from tests.apiserver.rights import Rights
from tests.apiserver.users import ALLOWED
from tests.cluster.apiserver import ApiServer
from tests.support.manifests import REMOVED, keyed_table, run

REFUSED = (
    "PaimonCatalog lake is in namespace watched, and the operator loses its rights there with the namespace, before it"
    " has let the catalog go. Delete its tables, runs and catalogs first, and wait until they are gone:"
    " kubectl -n watched delete paimontables,paimonruns,paimoncatalogs --all"
)


@pytest.fixture(scope="module")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """A server of this file alone: policies are cluster-scoped."""
    with serving(tmp_path_factory) as server:
        yield server


@dataclass(frozen=True)
class Space:
    """A namespace and the operator of the test. `delete` gives the API server's answer to its deletion."""

    ns: NamespaceClient
    operator: OperatorProcess

    def delete(self, *, dry_run: bool = False) -> str:
        try:
            self.ns.core.delete_namespace(self.ns.namespace, dry_run="All" if dry_run else None)
        except client.ApiException as error:
            return str(json.loads(error.body or "{}")["message"])
        return ALLOWED

    def is_gone(self) -> bool:
        try:
            self.ns.core.read_namespace(self.ns.namespace)
        except NotFoundException:
            return True
        return False


@contextmanager
def ready_table(server: ApiServer, logs: Path, home: str, space: str, **scope: object) -> Iterator[Space]:
    """An operator in `home` with the chart's rights, and a Ready table in the namespace `space`."""
    system, ns = NamespaceClient(server.kubeconfig, home), NamespaceClient(server.kubeconfig, space)
    ns.create_catalog()
    rights = Rights(server, system, **scope)  # type: ignore[arg-type]  # values of the chart
    operator = OperatorProcess(rights.kubeconfig, logs, namespaces=[space], lease_namespace=home)
    with contextlib.closing(rights), contextlib.closing(system), operator:
        operator.wait_until_working()
        ns.create(keyed_table(spec__writes=REMOVED))
        pod = ns.wait_for_pod(of="orders")
        ns.run_pod(pod)
        ns.succeed(pod)
        ns.wait_for_condition(TABLES, "orders", "Ready", "True")
        yield Space(ns, operator)


def test_a_watched_namespace_with_a_catalog_is_not_deleted_before_its_tables(
    api_server: ApiServer, tmp_path: Path
) -> None:
    with ready_table(api_server, tmp_path, "home", "watched", watchNamespaces=["watched"]) as space:
        ns = space.ns
        ns.patch(TABLES, "orders", {"spec": {"suspend": True}})
        ns.create(run())
        ns.wait(lambda: ns.get(RUNS, "orders-compact-by-hand")["metadata"].get("finalizers"), "a run that waits")
        ns.wait(lambda: space.delete(dry_run=True).endswith(REFUSED), "the refusal")
        other = Space(NamespaceClient(api_server.kubeconfig, "not-watched"), space.operator)
        other.ns.create_catalog(metadata__finalizers=[FINALIZER])
        assert other.delete() == ALLOWED
        other.ns.release()

        run_commands(ns.kubeconfig, REFUSED.rpartition(": ")[2])
        assert [ns.all(plural) for plural in (TABLES, RUNS, CATALOGS)] == [[], [], []], "nothing needs the operator"
        ns.wait(lambda: space.delete() == ALLOWED, "the deletion admitted")
        ns.wait(space.is_gone, "the end of the namespace")
    other.ns.wait(other.is_gone, "the end of the other namespace")


@pytest.mark.long
def test_who_removes_the_finalizers_by_hand_may_delete_the_namespace(api_server: ApiServer, tmp_path: Path) -> None:
    with ready_table(api_server, tmp_path, "home-2", "by-hand", watchNamespaces=["by-hand"]) as space:
        space.ns.wait(lambda: space.delete(dry_run=True) != ALLOWED, "the refusal")
        space.operator.kill()
        space.ns.release()
        space.ns.wait(lambda: space.delete() == ALLOWED, "the deletion admitted")
        space.ns.wait(space.is_gone, "the end of the namespace")


def test_with_rights_everywhere_a_namespace_with_tables_is_deleted_at_once(
    api_server: ApiServer, tmp_path: Path
) -> None:
    with ready_table(api_server, tmp_path, "home-3", "everywhere", everywhere=True) as space:
        assert space.delete() == ALLOWED
        space.ns.wait(space.is_gone, "the end of the namespace")
