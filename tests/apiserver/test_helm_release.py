"""A release's life on a real API server: CRDs are upgraded with the chart, kept without it, and taken up again."""

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
from kubernetes import client, config
from kubernetes.client.exceptions import NotFoundException

from tests.cluster import programs, service_monitor
from tests.cluster.apiserver import USUAL_CONTROLLERS, ApiServer
from tests.cluster.processes import wait_until
from tests.support.manifests import catalog

CHART = Path(__file__).resolve().parents[2] / "charts" / "paimon-operator"
SPACE, GROUP = "paimon-system", "paimon-operator.dev"
CATALOGS = f"paimoncatalogs.{GROUP}"
PLACE = (GROUP, "v1alpha1", SPACE, "paimoncatalogs")
SECRET_LIMIT = 1_048_576
"""What etcd's front takes of one Secret; Helm keeps chart and manifest of each revision in one."""
Object = dict[str, Any]


class Helm:
    """helm and a client of one API server without nodes: nothing is waited for."""

    def __init__(self, server: ApiServer) -> None:
        self._helm, self._kubectl = programs.build(["helm", "kubectl"])
        self._environment = {**os.environ, "KUBECONFIG": str(server.kubeconfig)}
        self.client = config.new_client_from_config(str(server.kubeconfig))

    def __call__(self, *arguments: str, **values: object) -> subprocess.CompletedProcess[str]:
        given = ["--values", "-"] if arguments[0] in ("install", "upgrade") else []
        command = [str(self._helm), *arguments, "--namespace", SPACE, *given]
        return subprocess.run(
            command, input=yaml.safe_dump(values), env=self._environment, text=True, capture_output=True, check=False
        )

    def good(self, *arguments: str, **values: object) -> str:
        done = self(*arguments, **values)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def kubectl(self, *arguments: str) -> None:
        command = [str(self._kubectl), *arguments]
        subprocess.run(command, env=self._environment, text=True, capture_output=True, check=True)

    def crd(self, name: str = CATALOGS) -> Object:
        found = client.ApiextensionsV1Api(self.client).read_custom_resource_definition(name)
        shown: Object = self.client.sanitize_for_serialization(found)
        return shown

    def catalogs(self) -> client.CustomObjectsApi:
        return client.CustomObjectsApi(self.client)

    def clear(self) -> None:
        """No release, and none of its CRDs, which it leaves."""
        for release in yaml.safe_load(self.good("list", "--all", "--output=yaml")):
            self.good("uninstall", release["name"])
        definitions = client.ApiextensionsV1Api(self.client)
        ours = [crd.metadata.name for crd in definitions.list_custom_resource_definition().items]
        for name in ours:
            definitions.delete_custom_resource_definition(name)
        assert wait_until(self._crds_are_gone, timeout=120), self._crd_conditions()

    def _crds_are_gone(self) -> bool:
        """Whether none is left. Asks the server's finalizer again, which forgets a CRD whose update met a conflict."""
        definitions = client.ApiextensionsV1Api(self.client)
        touch = {"metadata": {"annotations": {"example.com/asked-at": str(time.time())}}}
        left = [crd.metadata.name for crd in definitions.list_custom_resource_definition().items]
        for name in left:
            with contextlib.suppress(NotFoundException):
                definitions.patch_custom_resource_definition(name, touch)
        time.sleep(1 if left else 0)
        return not left

    def _crd_conditions(self) -> dict[str, Object]:
        left = client.ApiextensionsV1Api(self.client).list_custom_resource_definition().items
        return {crd.metadata.name: self.client.sanitize_for_serialization(crd.status.conditions) for crd in left}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """Not the session's: that one has its CRDs already."""
    with ApiServer(tmp_path_factory.mktemp("server"), controllers=USUAL_CONTROLLERS) as server:
        with config.new_client_from_config(str(server.kubeconfig)) as api:
            client.CoreV1Api(api).create_namespace({"metadata": {"name": SPACE}})
        yield server


@pytest.fixture
def helm(server: ApiServer) -> Iterator[Helm]:
    helm = Helm(server)
    yield helm
    helm.clear()
    helm.client.close()


def older(directory: Path) -> Path:
    """The chart as it might have been: catalogs without `suspend` and without the column that shows it."""
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
    """A catalog as the API server keeps it when it is sent with `suspend: true`."""
    patch = {"spec": {"suspend": True}}
    stored: Object = helm.catalogs().patch_namespaced_custom_object(*PLACE, "lake", patch)
    return stored


def test_an_upgrade_brings_a_changed_crd_and_keeps_the_objects(helm: Helm, tmp_path: Path) -> None:
    helm.good("install", "paimon-operator", str(older(tmp_path)))
    manifest = catalog(spec__allowedDatabases=["shop"], metadata__namespace=SPACE)

    def made() -> bool:
        try:
            helm.catalogs().create_namespaced_custom_object(*PLACE, manifest)
        except NotFoundException:
            return False  # the kind is served a moment after its CRD is there
        return True

    assert wait_until(made, timeout=120)
    before = helm.catalogs().get_namespaced_custom_object(*PLACE, "lake")
    assert "suspend" not in suspend(helm)["spec"], "the older CRD does not know the field"

    helm.good("upgrade", "paimon-operator", str(CHART))

    committed = yaml.safe_load((CHART / "files" / "crds" / f"{GROUP}_paimoncatalogs.yaml").read_text())
    assert columns(helm) == [column["name"] for column in committed["spec"]["versions"][0]["additionalPrinterColumns"]]
    assert wait_until(lambda: suspend(helm)["spec"].get("suspend") is True, timeout=120), (
        "the field is kept from now on"
    )
    after = helm.catalogs().get_namespaced_custom_object(*PLACE, "lake")
    assert after["metadata"]["uid"] == before["metadata"]["uid"]


def columns(helm: Helm) -> list[str]:
    return [column["name"] for column in helm.crd()["spec"]["versions"][0]["additionalPrinterColumns"]]


def test_a_rollback_brings_the_earlier_crds_back_and_an_upgrade_without_them_leaves_them(
    helm: Helm, tmp_path: Path
) -> None:
    earlier = str(older(tmp_path))
    helm.good("install", "paimon-operator", earlier)
    helm.good("upgrade", "paimon-operator", str(CHART))
    helm.good("rollback", "paimon-operator", "1")
    assert "Suspended" not in columns(helm)

    helm.good("upgrade", "paimon-operator", str(CHART))
    helm.good("upgrade", "paimon-operator", earlier, crds={"install": False})
    assert "Suspended" in columns(helm)


def test_crds_outlive_the_release_and_a_new_one_of_the_same_name_takes_them_up(helm: Helm) -> None:
    helm.good("install", "paimon-operator", str(CHART))
    uid = helm.crd()["metadata"]["uid"]
    helm.good("uninstall", "paimon-operator")
    assert helm.crd()["metadata"]["uid"] == uid

    other = helm("install", "another", str(CHART))
    assert other.returncode != 0
    assert "invalid ownership metadata" in other.stderr
    helm.good("install", "paimon-operator", str(CHART))
    assert helm.crd()["metadata"]["uid"] == uid


def test_crds_of_an_earlier_version_must_be_brought_up_to_date_before_a_new_release_takes_them(
    helm: Helm, tmp_path: Path
) -> None:
    helm.good("install", "paimon-operator", str(older(tmp_path)))
    helm.good("uninstall", "paimon-operator")
    stale = helm("install", "paimon-operator", str(CHART))
    assert stale.returncode != 0
    assert f"crds.install: the cluster has another version of {CATALOGS}" in stale.stderr

    helm.kubectl("apply", "--server-side", "--force-conflicts", "--filename", str(CHART.parents[1] / "crds"))
    helm.good("install", "paimon-operator", str(CHART))
    assert "Suspended" in columns(helm)


def test_a_release_of_another_name_takes_the_crds_over_when_told_to(helm: Helm) -> None:
    helm.good("install", "paimon-operator", str(CHART))
    helm.good("uninstall", "paimon-operator")
    helm.good("install", "another", str(CHART), "--take-ownership")
    assert helm.crd()["metadata"]["annotations"]["meta.helm.sh/release-name"] == "another"


def test_replicas_come_and_go_with_strategy_and_budget(helm: Helm) -> None:
    deployments, policies = client.AppsV1Api(helm.client), client.PolicyV1Api(helm.client)

    def seen() -> tuple[int, str, int]:
        spec = deployments.read_namespaced_deployment("paimon-operator", SPACE).spec
        return spec.replicas, spec.strategy.type, len(policies.list_namespaced_pod_disruption_budget(SPACE).items)

    helm.good("install", "paimon-operator", str(CHART))
    assert seen() == (1, "Recreate", 0)
    helm.good("upgrade", "paimon-operator", str(CHART), replicas=2)
    assert seen() == (2, "RollingUpdate", 1)
    helm.good("upgrade", "paimon-operator", str(CHART), replicas=1)
    assert seen() == (1, "Recreate", 0)


def test_a_revision_fits_into_its_secret_with_room_for_crds_to_grow(helm: Helm) -> None:
    helm.good("install", "paimon-operator", str(CHART))
    (secret,) = client.CoreV1Api(helm.client).list_namespaced_secret(SPACE, label_selector="owner=helm").items
    size = len(base64.b64decode(secret.data["release"]))
    assert size < SECRET_LIMIT / 4, f"{size} bytes"


def test_a_service_monitor_is_refused_before_anything_is_made(helm: Helm) -> None:
    refused = helm("install", "paimon-operator", str(CHART), metrics={"serviceMonitor": {"enabled": True}})
    assert refused.returncode != 0
    assert "this cluster has no ServiceMonitor" in refused.stderr
    with pytest.raises(NotFoundException):
        helm.crd()


def test_a_service_monitor_is_one_and_finds_the_metrics(helm: Helm) -> None:
    helm.kubectl("create", "-f", str(service_monitor.crd()))
    helm.kubectl("wait", "--for=condition=Established", "crd/servicemonitors.monitoring.coreos.com", "--timeout=120s")
    asked = {"enabled": True, "interval": "45s", "labels": {"release": "prometheus"}}
    helm.good("install", "paimon-operator", str(CHART), metrics={"serviceMonitor": asked})

    place = ("monitoring.coreos.com", "v1", SPACE, "servicemonitors", "paimon-operator")
    made = client.CustomObjectsApi(helm.client).get_namespaced_custom_object(*place)
    (service,) = client.CoreV1Api(helm.client).list_namespaced_service(SPACE).items
    assert made["metadata"]["labels"].items() >= asked["labels"].items()
    assert service.metadata.labels.items() >= made["spec"]["selector"]["matchLabels"].items()
    assert made["spec"]["endpoints"] == [{"port": "metrics", "interval": asked["interval"]}]
    assert "metrics" in [port.name for port in service.spec.ports]
