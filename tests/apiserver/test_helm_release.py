"""The life cycle of a Helm release on a real API server: its CRDs are upgraded, kept and adopted again."""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client
from kubernetes.client.exceptions import NotFoundException

from tests.apiserver.api import CustomObjects, as_json, create_namespace
from tests.apiserver.page_commands import run_commands
from tests.cluster import programs, prometheus_crds
from tests.cluster.apiserver import USUAL_CONTROLLERS, ApiServer, open_client
from tests.cluster.processes import wait_until
from tests.support.docs_commands import blocks_below
from tests.support.manifests import catalog

CHART = Path(__file__).resolve().parents[2] / "charts" / "paimon-operator"
SPACE, GROUP = "paimon-system", "paimon-operator.dev"
MONITORING = prometheus_crds.GROUP
CATALOGS = f"paimoncatalogs.{GROUP}"
PLACE = (GROUP, "v1alpha1", SPACE, "paimoncatalogs")
SECRET_LIMIT = 1_048_576
"""Bytes that the API server admits in one Secret. Helm stores each revision with its chart in one Secret."""
Object = dict[str, Any]


class Helm:
    """helm, kubectl and a client of one API server. Without nodes there is no rollout to wait for."""

    def __init__(self, server: ApiServer, api: client.ApiClient) -> None:
        self._helm, self._kubectl = programs.build(["helm", "kubectl"])
        self._environment = {**os.environ, "KUBECONFIG": str(server.kubeconfig)}
        self.client = api
        self.custom: CustomObjects = client.CustomObjectsApi(api)
        self._definitions = client.ApiextensionsV1Api(api)

    def __call__(self, *arguments: str, **values: object) -> subprocess.CompletedProcess[str]:
        """Runs helm; `values` are the chart's."""
        given = ["--values", "-"] if arguments[0] in ("install", "upgrade") else []
        command = [str(self._helm), *arguments, "--namespace", SPACE, *given]
        return subprocess.run(
            command, input=yaml.safe_dump(values), env=self._environment, text=True, capture_output=True, check=False
        )

    def succeed(self, *arguments: str, **values: object) -> str:
        """Runs helm, which must succeed, and returns what it prints."""
        done = self(*arguments, **values)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def kubectl(self, *arguments: str) -> None:
        command = [str(self._kubectl), *arguments]
        subprocess.run(command, env=self._environment, text=True, capture_output=True, check=True)

    def crd(self, name: str = CATALOGS) -> Object:
        return as_json(self._definitions.read_custom_resource_definition(name))

    def clear(self) -> None:
        """Uninstalls every release and deletes the CRDs, which a release leaves."""
        for release in yaml.safe_load(self.succeed("list", "--all", "--output=yaml")):
            self.succeed("uninstall", release["name"])
        for crd in self._crds():
            self._definitions.delete_custom_resource_definition(crd["metadata"]["name"])
        assert wait_until(self._has_no_crds, timeout=120), self._crd_conditions()

    def _crds(self) -> list[Object]:
        return [as_json(each) for each in self._definitions.list_custom_resource_definition().items]

    def _has_no_crds(self) -> bool:
        """Returns whether no CRD is left.

        Updates the CRDs that are left: the server's finalizer does not retry a CRD whose update met a conflict.
        """
        touch = {"metadata": {"annotations": {"example.com/asked-at": str(time.time())}}}
        left = self._crds()
        for crd in left:
            with contextlib.suppress(NotFoundException):
                self._definitions.patch_custom_resource_definition(crd["metadata"]["name"], touch)
        time.sleep(1 if left else 0)  # each round writes to every CRD
        return not left

    def _crd_conditions(self) -> dict[str, Object]:
        return {crd["metadata"]["name"]: crd["status"]["conditions"] for crd in self._crds()}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """A server without CRDs, unlike the session's."""
    with ApiServer(tmp_path_factory.mktemp("server"), controllers=USUAL_CONTROLLERS) as server:
        with open_client(server.kubeconfig) as api:
            create_namespace(api, SPACE)
        yield server


@pytest.fixture
def helm(server: ApiServer) -> Iterator[Helm]:
    with open_client(server.kubeconfig) as api:
        helm = Helm(server, api)
        yield helm
        helm.clear()


def older_chart(directory: Path) -> Path:
    """Returns a copy of the chart whose CRD of catalogs lacks `suspend` and the column that shows it."""
    chart = directory / "older" / CHART.name
    shutil.copytree(CHART, chart)
    file = chart / "files" / "crds" / f"{GROUP}_paimoncatalogs.yaml"
    crd = yaml.safe_load(file.read_text())
    (version,) = crd["spec"]["versions"]
    del version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["suspend"]
    columns = version["additionalPrinterColumns"]
    columns[:] = [column for column in columns if column["name"] != "Suspended"]
    file.write_text(yaml.safe_dump(crd))
    return chart


def suspend(helm: Helm) -> Object:
    """Sets `suspend: true` on the catalog and returns it as stored."""
    patch = {"spec": {"suspend": True}}
    stored: Object = helm.custom.patch_namespaced_custom_object(*PLACE, "lake", patch)
    return stored


def test_an_upgrade_applies_a_changed_crd_and_keeps_the_objects(helm: Helm, tmp_path: Path) -> None:
    helm.succeed("install", "paimon-operator", str(older_chart(tmp_path)))
    manifest = catalog(spec__allowedDatabases=["shop"], metadata__namespace=SPACE)

    def is_created() -> bool:
        try:
            helm.custom.create_namespaced_custom_object(*PLACE, manifest)
        except NotFoundException:
            return False  # the kind is served a moment after the creation of its CRD
        return True

    assert wait_until(is_created, timeout=120)
    before = helm.custom.get_namespaced_custom_object(*PLACE, "lake")
    assert "suspend" not in suspend(helm)["spec"], "the older CRD does not know the field"

    helm.succeed("upgrade", "paimon-operator", str(CHART))

    committed = yaml.safe_load((CHART / "files" / "crds" / f"{GROUP}_paimoncatalogs.yaml").read_text())
    assert columns(helm) == [column["name"] for column in committed["spec"]["versions"][0]["additionalPrinterColumns"]]
    assert wait_until(lambda: suspend(helm)["spec"].get("suspend") is True, timeout=120), (
        "the field is stored from now on"
    )
    after = helm.custom.get_namespaced_custom_object(*PLACE, "lake")
    assert after["metadata"]["uid"] == before["metadata"]["uid"]


def columns(helm: Helm) -> list[str]:
    return [column["name"] for column in helm.crd()["spec"]["versions"][0]["additionalPrinterColumns"]]


def test_a_rollback_restores_the_earlier_crds_and_an_upgrade_without_crds_keeps_the_served_ones(
    helm: Helm, tmp_path: Path
) -> None:
    earlier = str(older_chart(tmp_path))
    helm.succeed("install", "paimon-operator", earlier)
    helm.succeed("upgrade", "paimon-operator", str(CHART))
    helm.succeed("rollback", "paimon-operator", "1")
    assert "Suspended" not in columns(helm)

    helm.succeed("upgrade", "paimon-operator", str(CHART))
    helm.succeed("upgrade", "paimon-operator", earlier, crds={"install": False})
    assert "Suspended" in columns(helm)


def test_an_upgrade_does_not_leave_namespaces_unwatched_unless_it_says_so(helm: Helm) -> None:
    helm.succeed("install", "paimon-operator", str(CHART), allNamespaces=True)
    refused = helm(
        "upgrade", "paimon-operator", str(CHART), replicas=2
    )  # without any value, helm takes the earlier ones
    assert refused.returncode != 0
    why = (
        f"this release watches all namespaces, and without allNamespaces or watchNamespaces it would watch only {SPACE}"
    )
    assert why in refused.stderr
    helm.succeed("upgrade", "paimon-operator", str(CHART), watchNamespaces=[SPACE])
    helm.succeed("upgrade", "paimon-operator", str(CHART), replicas=2)


@pytest.mark.long
def test_crds_outlive_the_release_and_a_new_one_of_the_same_name_adopts_them(helm: Helm) -> None:
    helm.succeed("install", "paimon-operator", str(CHART))
    uid = helm.crd()["metadata"]["uid"]
    helm.succeed("uninstall", "paimon-operator")
    assert helm.crd()["metadata"]["uid"] == uid

    other = helm("install", "another", str(CHART))
    assert other.returncode != 0
    assert "invalid ownership metadata" in other.stderr
    helm.succeed("install", "paimon-operator", str(CHART))
    assert helm.crd()["metadata"]["uid"] == uid


@pytest.mark.long
def test_crds_of_an_earlier_version_must_be_upgraded_before_a_new_release_adopts_them(
    helm: Helm, tmp_path: Path
) -> None:
    helm.succeed("install", "paimon-operator", str(older_chart(tmp_path)))
    helm.succeed("uninstall", "paimon-operator")
    stale = helm("install", "paimon-operator", str(CHART))
    assert stale.returncode != 0
    assert f"crds.install: the cluster has another version of {CATALOGS}" in stale.stderr

    helm.kubectl("apply", "--server-side", "--force-conflicts", "--filename", str(CHART.parents[1] / "crds"))
    helm.succeed("install", "paimon-operator", str(CHART))
    assert "Suspended" in columns(helm)


@pytest.mark.long
def test_a_release_of_another_name_adopts_the_crds_with_take_ownership(helm: Helm) -> None:
    helm.succeed("install", "paimon-operator", str(CHART))
    helm.succeed("uninstall", "paimon-operator")
    helm.succeed("install", "another", str(CHART), "--take-ownership")
    assert helm.crd()["metadata"]["annotations"]["meta.helm.sh/release-name"] == "another"


def test_the_number_of_replicas_decides_strategy_and_disruption_budget(helm: Helm) -> None:
    deployments, policies = client.AppsV1Api(helm.client), client.PolicyV1Api(helm.client)

    def seen() -> tuple[int, str, int]:
        spec = as_json(deployments.read_namespaced_deployment("paimon-operator", SPACE))["spec"]
        budgets = policies.list_namespaced_pod_disruption_budget(SPACE).items
        return spec["replicas"], spec["strategy"]["type"], len(budgets)

    helm.succeed("install", "paimon-operator", str(CHART))
    assert seen() == (1, "Recreate", 0)
    helm.succeed("upgrade", "paimon-operator", str(CHART), replicas=2)
    assert seen() == (2, "RollingUpdate", 1)
    helm.succeed("upgrade", "paimon-operator", str(CHART), replicas=1)
    assert seen() == (1, "Recreate", 0)


def test_the_commands_of_the_emergency_page_restore_the_revision_before(server: ApiServer, helm: Helm) -> None:
    _, roll_back, _ = blocks_below("docs/emergency.md", "## The operator is down", "console")
    helm.succeed("install", "paimon-operator", str(CHART), replicas=2)
    helm.succeed("upgrade", "paimon-operator", str(CHART), replicas=1)
    assert "Rollback was a success" in run_commands(server.kubeconfig, roll_back)
    deployment = client.AppsV1Api(helm.client).read_namespaced_deployment("paimon-operator", SPACE)
    assert as_json(deployment)["spec"]["replicas"] == 2


def test_a_revision_takes_less_than_a_third_of_the_limit_of_a_secret(helm: Helm) -> None:
    helm.succeed("install", "paimon-operator", str(CHART))
    (secret,) = client.CoreV1Api(helm.client).list_namespaced_secret(SPACE, label_selector="owner=helm").items
    size = len(base64.b64decode(as_json(secret)["data"]["release"]))
    assert size < SECRET_LIMIT / 3, f"{size} bytes"


def test_a_service_monitor_without_its_crd_is_refused_before_anything_is_created(helm: Helm) -> None:
    refused = helm("install", "paimon-operator", str(CHART), metrics={"serviceMonitor": {"enabled": True}})
    assert refused.returncode != 0
    assert "this cluster has no ServiceMonitor" in refused.stderr
    with pytest.raises(NotFoundException):
        helm.crd()


def define(helm: Helm, plural: str) -> None:
    """Creates the CRD of the Prometheus operator."""
    helm.kubectl("create", "-f", str(prometheus_crds.crd(plural)))
    helm.kubectl("wait", "--for=condition=Established", f"crd/{plural}.{MONITORING}", "--timeout=120s")


def test_a_service_monitor_selects_the_service_and_its_metrics_port(helm: Helm) -> None:
    define(helm, "servicemonitors")
    asked = {"enabled": True, "interval": "45s", "labels": {"release": "prometheus"}}
    helm.succeed("install", "paimon-operator", str(CHART), metrics={"serviceMonitor": asked})

    monitor = helm.custom.get_namespaced_custom_object(MONITORING, "v1", SPACE, "servicemonitors", "paimon-operator")
    (service,) = client.CoreV1Api(helm.client).list_namespaced_service(SPACE).items
    selected = as_json(service)
    assert monitor["metadata"]["labels"].items() >= {"release": "prometheus"}.items()
    assert selected["metadata"]["labels"].items() >= monitor["spec"]["selector"]["matchLabels"].items()
    assert monitor["spec"]["endpoints"] == [{"port": "metrics", "interval": "45s", "honorLabels": True}]
    assert "metrics" in [port["name"] for port in selected["spec"]["ports"]]


def test_rules_without_their_crd_are_refused_before_anything_is_created(helm: Helm) -> None:
    refused = helm("install", "paimon-operator", str(CHART), monitoring={"rules": {"enabled": True}})
    assert refused.returncode != 0
    assert "this cluster has no PrometheusRule" in refused.stderr
    with pytest.raises(NotFoundException):
        helm.crd()


def test_the_crd_of_a_prometheus_rule_takes_every_field_of_the_alerts(helm: Helm) -> None:
    define(helm, "prometheusrules")
    asked = {"enabled": True, "labels": {"release": "prometheus"}, "docsUrl": "https://docs.example.com/paimon/"}
    helm.succeed("install", "paimon-operator", str(CHART), monitoring={"rules": asked})

    stored = helm.custom.get_namespaced_custom_object(MONITORING, "v1", SPACE, "prometheusrules", "paimon-operator")
    assert stored["metadata"]["labels"].items() >= {"release": "prometheus"}.items()
    alerts = (CHART / "files" / "alerts.yaml").read_text(encoding="utf-8")
    there = alerts.replace("runbook_url: docs/", "runbook_url: https://docs.example.com/paimon/")
    assert there.count("https://docs.example.com/paimon/runbooks.md#") == alerts.count("alert:")
    assert stored["spec"] == yaml.safe_load(there), "the API server drops what its CRD does not have"
