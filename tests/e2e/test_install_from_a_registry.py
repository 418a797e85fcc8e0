"""The steps of docs/install.md: push the images to a registry, install the chart from there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from tests.cluster import release
from tests.cluster.images.publish import publish
from tests.cluster.registry import Registry, running_on_node
from tests.e2e.lab import Lab
from tests.support.kubectl import Kubectl

pytestmark = pytest.mark.long


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


def test_a_table_is_loaded_with_images_of_a_registry_by_their_digests(
    lab: Lab, registry: Registry, cluster_env: Mapping[str, str]
) -> None:
    references = references_in_the_cluster(registry)
    engines = {
        name.removeprefix("paimon-spark:").rpartition("-")[0]: reference
        for name, reference in references.items()
        if name.startswith("paimon-spark")
    }
    (operator,) = (reference for name, reference in references.items() if name.startswith("paimon-operator"))
    try:
        release.install(cluster_env, {"operator": operator, "spark": engines}, requireDigests=True)
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
