"""docs/install.md, as a user follows it: push the images to one's own registry, install the chart from there."""

from __future__ import annotations

from collections.abc import Mapping

from tests.cluster import release
from tests.cluster.images.publish import publish
from tests.e2e.lab import Lab
from tests.support.kubectl import Kubectl


def references_in_the_cluster(env: Mapping[str, str]) -> dict[str, str]:
    """Pushes through the host's port of the registry; the nodes know the same registry by another address."""
    pushed = publish(f"{env['REGISTRY']}/mine", plain_http=True)
    inside = [reference.replace(env["REGISTRY"], env["CLUSTER_REGISTRY_IN_CLUSTER"]) for reference in pushed]
    return {reference.rpartition("/")[2]: reference for reference in inside}


def test_images_from_ones_own_registry_serve_a_table(lab: Lab, cluster_env: Mapping[str, str]) -> None:
    references = references_in_the_cluster(cluster_env)
    engines = {
        name.removeprefix("paimon-spark:").rpartition("-")[0]: reference
        for name, reference in references.items()
        if name.startswith("paimon-spark")
    }
    (operator,) = (reference for name, reference in references.items() if name.startswith("paimon-operator"))
    try:
        release.install(cluster_env, {"operator": operator, "spark": engines})
        lab.kubectl.apply(lab.table("t", {"id": "BIGINT"}, keys=["id"]))
        lab.ready("t")

        (pod,) = lab.pods()
        assert pod["spec"]["containers"][0]["image"] == engines[lab.engine]
        # The soak kills operators meanwhile, so there may be none at this moment, or one more that is on its way out.
        deployment = Kubectl(namespace=release.NAMESPACE, env=cluster_env).get("deployment", release.RELEASE) or {}
        assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == operator
    finally:
        release.deploy(cluster_env)
