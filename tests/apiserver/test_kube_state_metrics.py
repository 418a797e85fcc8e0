"""A real kube-state-metrics with the chart's configuration and the documented rights shows what the objects say."""

from __future__ import annotations

import re
import signal
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.apiserver.api import RBAC, apply, user
from tests.apiserver.conftest import serving
from tests.apiserver.namespace_client import CATALOGS, RUNS, TABLES, NamespaceClient, conditions
from tests.apiserver.replicas import namespace_with_operator
from tests.cluster.apiserver import ApiServer
from tests.cluster.ports import free_ports
from tests.cluster.processes import Daemon, wait_until
from tests.cluster.programs import KUBE_STATE_METRICS
from tests.support.docs_commands import blocks_below
from tests.support.manifests import REMOVED, keyed_table

CONFIG: Final = Path(__file__).parents[2] / "charts" / "paimon-operator" / "files" / "kube-state-metrics.yaml"
NAMESPACE: Final = "shown"
READER: Final = "kube-state-metrics"
PREFIXES: Final = {"kube_paimontable": TABLES, "kube_paimoncatalog": CATALOGS, "kube_paimonrun": RUNS}
_SERIES: Final = re.compile(r"^(\w+)\{(.*)\} (\S+)$", re.MULTILINE)
_LABEL: Final = re.compile(r'(\w+)="([^"]*)"')
Series = tuple[str, Mapping[str, str], float]
"""Name, labels and value."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """A server of its own: the rights are a cluster-scoped object."""
    with serving(tmp_path_factory) as server:
        yield server


@pytest.fixture(scope="module")
def ns(server: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NamespaceClient]:
    """A namespace with a table that one run has established."""
    with namespace_with_operator(server, NAMESPACE, tmp_path_factory.mktemp("operator")) as ns:
        ns.create(keyed_table(spec__writes=REMOVED))
        pod = ns.wait_for_pod(of="orders")
        ns.run_pod(pod)
        ns.succeed(pod)
        ns.wait_for_condition(TABLES, "orders", "Ready", "True", "TableMatchesSpec")
        ns.wait_for_condition(CATALOGS, "lake", "Ready", "True")
        yield ns


@pytest.fixture(scope="module")
def shown(server: ApiServer, ns: NamespaceClient, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Series]]:
    """All series, once each kind has some."""
    grant_as_the_page_says(server)
    directory = tmp_path_factory.mktemp("kube-state-metrics")
    port, telemetry = free_ports(2)
    daemon = Daemon(READER, directory / "ksm.pid", directory / "ksm.log")
    ports = (f"--port={port}", f"--telemetry-port={telemetry}", "--host=127.0.0.1", "--telemetry-host=127.0.0.1")
    kubeconfig = server.user_kubeconfig(READER)
    config = ("--custom-resource-state-only=true", f"--custom-resource-state-config-file={CONFIG}")
    command = ("setpriv", "--pdeathsig", "KILL", str(KUBE_STATE_METRICS.path), f"--kubeconfig={kubeconfig}")
    daemon.start([*command, *ports, *config])
    try:
        assert wait_until(lambda: kinds_of(read(port)) == PREFIXES.keys(), timeout=60), daemon.log_tail()
        yield read(port)
    finally:
        daemon.stop(signal.SIGKILL)


def grant_as_the_page_says(server: ApiServer) -> None:
    """Gives the rights of docs/monitoring.md to the user of kube-state-metrics."""
    (block,) = blocks_below("docs/monitoring.md", "## Metrics of every single object", "yaml")
    role: dict[str, Any] = yaml.safe_load(block)
    binding = {
        "apiVersion": role["apiVersion"],
        "kind": "ClusterRoleBinding",
        "metadata": role["metadata"],
        "roleRef": {"apiGroup": RBAC, "kind": role["kind"], "name": role["metadata"]["name"]},
        "subjects": [user(READER)],
    }
    apply(server.kubeconfig, role, binding)


def read(port: int) -> list[Series]:
    """What is shown now; nothing before it listens."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            text = answer.read().decode()
    except OSError:
        return []
    return [(name, dict(_LABEL.findall(labels)), float(value)) for name, labels, value in _SERIES.findall(text)]


def kinds_of(series: list[Series]) -> set[str]:
    return {name.partition("_status")[0] for name, _, _ in series if name.endswith("_status_condition")}


@pytest.mark.parametrize("prefix", PREFIXES)
def test_every_condition_of_an_object_is_a_series(shown: list[Series], ns: NamespaceClient, prefix: str) -> None:
    label = prefix.removeprefix("kube_paimon")
    found = {
        (labels[label], labels["condition"], labels["status"], labels["reason"])
        for name, labels, value in shown
        if name == f"{prefix}_status_condition" and labels["namespace"] == NAMESPACE and value == 1
    }
    objects = ns.all(PREFIXES[prefix])
    assert objects
    assert found == {
        (each["metadata"]["name"], condition["type"], condition["status"], condition["reason"])
        for each in objects
        for condition in conditions(each).values()
    }


def test_every_configured_series_is_shown_that_the_objects_have_a_value_for(shown: list[Series]) -> None:
    resources = yaml.safe_load(CONFIG.read_text())["spec"]["resources"]
    configured = {f"{each['metricNamePrefix']}_{metric['name']}" for each in resources for metric in each["metrics"]}
    assert configured - {name for name, _, _ in shown} == set()


def test_a_run_is_shown_with_its_type_table_and_phase(shown: list[Series]) -> None:
    runs = [labels for name, labels, _ in shown if name == "kube_paimonrun_info"]
    assert [(each["type"], each["table"], each["phase"]) for each in runs] == [("Provision", "orders", "Succeeded")]
