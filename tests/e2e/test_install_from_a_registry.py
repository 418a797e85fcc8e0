"""A release as `make release` makes it, but of the node's own images: images and chart come from a registry."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from tests.cluster import release
from tests.cluster.images.publish import publish
from tests.cluster.registry import Registry, running_on_node
from tests.e2e.lab import Lab
from tests.support.kubectl import Kubectl
from tools.images.publish import Images, version
from tools.release import chart

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("release")]  # one at a time changes the release


@pytest.fixture
def registry(lab: Lab) -> Iterator[Registry]:
    with running_on_node(lab.layout) as registry:
        yield registry


def references_in_the_cluster(registry: Registry) -> dict[str, str]:
    """Name and tag -> reference by digest. Pushes through the host's port of the registry; the nodes know the same
    registry by another address."""
    pushed = publish(f"{registry.on_host}/mine", plain_http=True)
    return {
        tagged.rpartition("/")[2]: digest.replace(registry.on_host, registry.in_cluster)
        for tagged, digest in pushed.items()
    }


def test_a_table_is_loaded_by_a_release_that_names_its_images_by_digest(
    lab: Lab, registry: Registry, cluster_env: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    references = references_in_the_cluster(registry)
    engines = {
        name.removeprefix("paimon-spark:").rpartition("-")[0]: reference
        for name, reference in references.items()
        if name.startswith("paimon-spark")
    }
    (operator,) = (reference for name, reference in references.items() if name.startswith("paimon-operator"))
    monkeypatch.setenv("PATH", cluster_env["PATH"])
    archive = chart.package(Images(operator, engines), version(), tmp_path)
    address = chart.push(archive, f"{registry.on_host}/mine", plain_http=True)
    try:
        install(address, cluster_env)
        lab.kubectl.apply(lab.table("t", {"id": "BIGINT"}, keys=["id"]))
        lab.ready("t")

        (pod,) = lab.pods()
        image = pod["spec"]["containers"][0]["image"]
        assert image == engines[lab.engine]
        assert "@sha256:" in image
        deployment = Kubectl(namespace=release.NAMESPACE, env=cluster_env).get("deployment", release.RELEASE) or {}
        assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == operator
    finally:
        release.deploy(cluster_env)


def install(address: str, env: Mapping[str, str]) -> None:
    """`helm upgrade --install` from the registry. No value names an image: `requireDigests` would refuse a tag."""
    of_node = release.values(release.images())
    values = {"service": of_node["service"], "workloads": of_node["workloads"], "resources": of_node["resources"]}
    values |= {"allNamespaces": True, "requireDigests": True, "spark": {"cpuShare": of_node["spark"]["cpuShare"]}}
    command = ["helm", "upgrade", "--install", release.RELEASE, address, "--version", version(), "--plain-http"]
    command += ["--namespace", release.NAMESPACE, "--values", "-", "--wait", "--timeout", "3m"]
    subprocess.run(command, input=yaml.safe_dump(values), env=dict(env), text=True, check=True)
