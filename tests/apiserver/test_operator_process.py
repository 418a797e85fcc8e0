"""The operator process: leader and followers, a failing watch, an outage, and a restart that writes nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path

import pytest
from kubernetes import client

from paimon_operator.kube.lease import DURATION, NOTE
from tests.apiserver.crds import install
from tests.apiserver.namespace_client import CATALOGS, RUNS, TABLES, NamespaceClient, conditions
from tests.apiserver.operator_process import OperatorProcess
from tests.apiserver.replicas import Replicas
from tests.apiserver.rights import RELEASE, Rights
from tests.cluster.apiserver import USUAL_CONTROLLERS, ApiServer
from tests.cluster.audit import AuditedRequest, audited_requests
from tests.support.manifests import REMOVED, Manifest, keyed_table

_WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
_CACHED = ("paimontables", "paimonruns", "pods", "configmaps")
"""What a settled table has, and a list has shown."""


@pytest.fixture
def ns(api_server: ApiServer, request: pytest.FixtureRequest) -> Iterator[NamespaceClient]:
    ns = NamespaceClient(
        api_server.kubeconfig, request.node.name.removeprefix("test_").replace("_", "-")[:60].strip("-")
    )
    yield ns
    ns.close()


@pytest.fixture
def replicas(api_server: ApiServer, ns: NamespaceClient, tmp_path: Path) -> Iterator[Replicas]:
    replicas = Replicas(api_server, ns, tmp_path)
    yield replicas
    replicas.close()


def test_a_killed_leader_is_replaced_by_a_follower_that_sent_no_request_before(replicas: Replicas) -> None:
    leader = replicas.add().wait_until_working()
    follower = replicas.add().wait_until_standby()
    assert (leader.metrics()["paimon_operator_leader"], follower.metrics()["paimon_operator_leader"]) == (1, 0)
    assert {name for name in follower.metrics() if "api_request" in name and 'kind="Paimon' in name} == set()
    leader.kill()
    follower.wait_until_working()
    ns = replicas.ns
    ns.create_catalog()
    ns.create(keyed_table(spec__writes=REMOVED))
    ns.succeed(ns.wait_for_pod())
    ns.wait_for_condition(TABLES, "orders", "Ready", "True")


@pytest.mark.long
def test_a_leader_killed_during_a_run_is_replaced_and_the_run_ends_once(replicas: Replicas) -> None:
    ns = replicas.ns
    leader = replicas.add().wait_until_working()
    follower = replicas.add().wait_until_standby()
    ns.create_catalog()
    ns.create(keyed_table(spec__writes=REMOVED))
    pod = ns.wait_for_pod()
    ns.run_pod(pod)
    leader.kill()
    last = _lease(ns)
    follower.wait_until_working()
    first = _lease(ns)
    ns.succeed(pod)
    ns.wait_for_condition(TABLES, "orders", "Ready", "True")

    assert (first.lease_transitions, (first.holder_identity or "").split("_")[0]) == (1, "operator-1")
    assert first.acquire_time is not None
    assert last.renew_time is not None
    assert first.acquire_time - last.renew_time >= timedelta(seconds=DURATION), "the killed leader's time"
    (run,) = ns.all(RUNS)
    (attempt,) = run["status"]["attempts"]
    assert attempt["podUid"] == pod.uid
    assert [each.uid for each in ns.pods()] == [pod.uid]


def test_a_leader_stopped_for_longer_than_its_lease_ends_itself_and_writes_nothing(replicas: Replicas) -> None:
    ns = replicas.ns
    leader = replicas.add().wait_until_working()
    follower = replicas.add().wait_until_standby()
    os.kill(leader.process.pid, signal.SIGSTOP)
    follower.wait_until_working()
    ns.create_catalog()
    ns.create(keyed_table(spec__writes=REMOVED))
    ns.wait_for_pod()
    os.kill(leader.process.pid, signal.SIGCONT)
    assert leader.wait() == 1
    assert any("another process may lead by now" in record["message"] for record in leader.log_records())
    assert len(ns.all(RUNS)) == len(ns.pods()) == 1


def test_sigterm_releases_the_lease_and_a_follower_leads_at_once(replicas: Replicas) -> None:
    leader = replicas.add().wait_until_working()
    follower = replicas.add().wait_until_standby()
    assert leader.terminate() == 0
    left = _decided_until(replicas.ns)
    follower.wait_until_working()
    assert follower.terminate() == 0
    assert "" < left < _decided_until(replicas.ns), "each has told the next one until when it has decided"
    for operator in (leader, follower):
        assert all({"time", "level", "logger", "message"} <= record.keys() for record in operator.log_records())


@pytest.mark.long
def test_a_follower_ends_with_exit_code_0_on_sigterm(replicas: Replicas) -> None:
    replicas.add().wait_until_working()
    assert replicas.add().wait_until_standby().terminate() == 0


@pytest.mark.long
def test_when_a_watch_fails_the_process_ends_with_an_error(replicas: Replicas) -> None:
    with replicas.rights.without("list", "pods"):
        operator = replicas.add().wait_until_working()
        assert operator.process.wait(timeout=180) == 1, operator.log()
    assert "cannot list resource" in operator.log_records()[-1]["message"]
    successor = replicas.add().wait_until_working()
    assert successor.terminate() == 0


@pytest.mark.long
def test_an_operator_for_all_namespaces_ends_in_a_long_outage_and_its_successor_continues(tmp_path: Path) -> None:
    with ApiServer(tmp_path / "server", controllers=USUAL_CONTROLLERS) as server:
        install(server.kubeconfig)
        home, elsewhere = (
            NamespaceClient(server.kubeconfig, "paimon-system"),
            NamespaceClient(server.kubeconfig, "elsewhere"),
        )
        rights = Rights(server, home, everywhere=True)
        with OperatorProcess(
            rights.kubeconfig, tmp_path, namespaces=(), lease_namespace=home.namespace, name="before"
        ) as operator:
            operator.wait_until_working()
            server.stop_server()
            assert operator.wait() == 1
        server.start_server()
        offset = server.audit_log.stat().st_size
        with OperatorProcess(
            rights.kubeconfig, tmp_path, namespaces=(), lease_namespace=home.namespace, name="after"
        ) as operator:
            operator.wait_until_working()
            elsewhere.create_catalog()
            elsewhere.create(keyed_table(spec__writes=REMOVED))
            elsewhere.succeed(elsewhere.wait_for_pod())
            elsewhere.wait_for_condition(TABLES, "orders", "Ready", "True")
            elsewhere.wait(lambda: _canary_came_back(server, home, offset), "a canary")
        assert [request for request in _own(server, home, 0) if request.code == HTTPStatus.FORBIDDEN] == []


def test_wrong_settings_are_logged_and_end_the_process(api_server: ApiServer, tmp_path: Path) -> None:
    operator = OperatorProcess(
        api_server.kubeconfig, tmp_path, namespaces=["x"], lease_namespace="x", workers="many", resink="10m"
    )
    assert operator.start().wait() == 2
    assert "PAIMON_OPERATOR_WORKERS" in operator.log()
    assert "PAIMON_OPERATOR_RESINK" in operator.log()


def test_a_restart_with_settled_tables_asks_for_none_of_them(replicas: Replicas, api_server: ApiServer) -> None:
    restart_with(50, replicas, api_server)


@pytest.mark.long
def test_a_restart_with_200_settled_tables_asks_for_none_of_them(replicas: Replicas, api_server: ApiServer) -> None:
    restart_with(200, replicas, api_server)


def restart_with(fleet: int, replicas: Replicas, api_server: ApiServer) -> None:
    ns = replicas.ns
    ns.create_catalog()
    for number in range(fleet):
        ns.create(keyed_table(metadata__name=f"orders-{number:03}", spec__writes=REMOVED))
    first = replicas.add().wait_until_working()
    settled: set[str] = set()
    while len(settled) < fleet:
        ns.wait(lambda: ns.succeed_all() or len(_ready(ns)) == fleet, "open Pods")
        settled = _ready(ns)
    ns.wait(lambda: not [run for run in ns.all(RUNS) if run["metadata"].get("finalizers")], "runs without finalizers")
    ns.patch(CATALOGS, "lake", {"metadata": {"labels": {"looked-at": "again"}}})  # it sums the use of its tables again
    ns.wait(lambda: _used(ns.get(CATALOGS, "lake")) == sum(map(_used, ns.all(TABLES))) > 0, "the use of all tables")
    assert first.terminate() == 0

    offset = api_server.audit_log.stat().st_size
    second = replicas.add().wait_until_working()
    ns.wait(lambda: _reconciles(second, "PaimonTable") >= fleet, "a reconcile of every table")
    ns.wait(lambda: second.metrics().get("paimon_operator_queue_depth") == 0, "an empty queue")
    ns.wait(lambda: _canary_came_back(api_server, ns, offset), "a canary")
    requests = _own(api_server, ns, offset)
    assert {request.resource for request in requests} >= {"paimontables", "paimonruns", "paimoncatalogs", "leases"}
    assert [request for request in requests if request.verb in _WRITES and request.resource != "leases"] == []
    assert [request for request in requests if request.verb == "get" and request.resource in _CACHED] == []
    assert [request for request in _own(api_server, ns, 0) if request.code == HTTPStatus.FORBIDDEN] == []
    assert second.terminate() == 0


def test_the_probes_and_the_metrics_report_the_state(replicas: Replicas) -> None:
    operator = replicas.add().wait_until_working()
    assert operator.probe("livez") == (200, "leading\n")
    replicas.ns.create_catalog()
    replicas.ns.wait_for_condition(CATALOGS, "lake", "Ready", "Unknown")
    metrics = operator.metrics()
    assert metrics["paimon_operator_leader"] == 1
    assert metrics['paimon_operator_reconcile_seconds_count{kind="PaimonCatalog",result="ok"}'] >= 1
    applied = 'paimon_operator_api_request_seconds_count{code="200",kind="PaimonCatalog",verb="apply"}'
    replicas.ns.wait(lambda: operator.metrics().get(applied, 0) >= 1, "the answer counted, which follows the request")
    assert not [name for name in metrics if "lake" in name]
    replicas.ns.wait(lambda: bool(_objects(operator)), "the catalog counted")
    assert all(f'namespace="{replicas.ns.namespace}"' in name for name in _objects(operator))
    seen = "paimon_operator_watch_canaries_seen_total"
    first = operator.metrics()[seen]
    replicas.ns.wait(lambda: operator.metrics().get(seen, 0) > first + 1, "canaries through the watch")


def _objects(operator: OperatorProcess) -> list[str]:
    """The series of objects that exist."""
    return [name for name, value in operator.metrics().items() if name.startswith("paimon_operator_objects{") and value]


def _lease(ns: NamespaceClient) -> client.V1LeaseSpec:
    spec = client.CoordinationV1Api(ns.client).read_namespaced_lease(RELEASE, ns.namespace).spec
    assert spec is not None
    return spec


def _decided_until(ns: NamespaceClient) -> str:
    metadata = client.CoordinationV1Api(ns.client).read_namespaced_lease(RELEASE, ns.namespace).metadata
    return ((metadata and metadata.annotations) or {}).get(NOTE, "")


def _used(manifest: Manifest) -> int:
    """The runs that a table or a catalog has counted."""
    return int(manifest.get("status", {}).get("usage", {}).get("runs", 0))


def _ready(ns: NamespaceClient) -> set[str]:
    return {
        table["metadata"]["name"]
        for table in ns.all(TABLES)
        if conditions(table).get("Ready", {}).get("status") == "True" and "activeRun" not in table["status"]
    }


def _reconciles(operator: OperatorProcess, kind: str) -> float:
    return operator.metrics().get(f'paimon_operator_reconcile_seconds_count{{kind="{kind}",result="ok"}}', 0)


def _own(server: ApiServer, ns: NamespaceClient, offset: int) -> list[AuditedRequest]:
    """Returns the requests of the namespace's operators."""
    user = f"system:serviceaccount:{ns.namespace}:{RELEASE}"
    return [request for request in audited_requests(server.audit_log, offset=offset) if request.user == user]


def _canary_came_back(server: ApiServer, ns: NamespaceClient, offset: int) -> bool:
    return any(request.name == f"{RELEASE}-canary" for request in _own(server, ns, offset))
