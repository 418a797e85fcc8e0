"""docs/demo.md on one's own cluster: an ordinary user builds the images and runs the demo, through a registry.

The node stands for the user's cluster: another checkout has started it, and it has no operator. The machine reaches no
registry of public images, so a base image is made here from Debian's packages, and the image of the S3 server from its
Go module. All else is the user's own build: packages from PyPI and jars from Maven Central, by their hashes.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.cluster import registry as node_registry
from tests.cluster import release
from tests.cluster.programs import HELM, KUBECTL, VERSITYGW
from tests.e2e.base_image import builder_flags, pull_by_the_name_that_a_user_pushes, push_base, push_built
from tests.e2e.lab import OF_RUNS
from tests.e2e.own_node import cluster_in
from tests.e2e.person import Person, account
from tests.support.kubectl import Kubectl

pytestmark = pytest.mark.long

ENGINE: Final = "paimon-0.9"
"""All of its jars are in Maven Central, also in part of it."""


@dataclass(frozen=True)
class OwnCluster:
    """A cluster without the operator, its registry, and a user with the rights of `helm install`."""

    person: Person
    kubectl: Kubectl
    registry: str

    def demo(self, **variables: str) -> tuple[int, str]:
        """The exit code and the output of `make demo CLUSTER=current`."""
        given = {**builder_flags(self.registry), "S3_IMAGE": f"{self.registry}/s3:1"}
        done = self.person.run(
            *("make", "demo", "CLUSTER=current", f"REGISTRY={self.registry}/mine", f"ENGINES={ENGINE}"),
            variables=given | variables,
        )
        return done.returncode, done.stdout


@pytest.fixture
def own_cluster(tmp_path: Path) -> Iterator[OwnCluster]:
    with cluster_in(tmp_path / "another") as cluster:
        layout = cluster.layout
        with node_registry.running_on_node(layout) as running:
            pull_by_the_name_that_a_user_pushes(layout, running)
            push_base(running.on_host, tmp_path / "base")
            _push_s3(running.on_host, tmp_path / "s3")
            programs = {"kubectl": KUBECTL.path, "helm": HELM.path}
            with account("paimon-person", programs, layout.kubeconfig) as person:
                env = release.read_env(layout)
                yield OwnCluster(person, Kubectl(namespace="paimon-demo", env=env), running.on_host)


def _push_s3(registry: str, directory: Path) -> None:
    directory.mkdir()
    shutil.copy(VERSITYGW.path, directory / "versitygw")
    text = 'FROM scratch\nCOPY versitygw /versitygw\nENTRYPOINT ["/versitygw"]\n'
    (directory / "Dockerfile").write_text(text)
    push_built("s3", directory, registry)


def test_an_ordinary_user_builds_the_images_and_runs_the_demo(own_cluster: OwnCluster) -> None:
    code, said = own_cluster.demo()
    assert code != 0, said
    assert "nothing was changed" in said, said
    assert own_cluster.kubectl.get("namespace", "paimon-demo") is None, "not confirmed"

    code, said = own_cluster.demo(YES="1")

    assert code == 0, said[-6000:]
    rows = [line for line in said.splitlines() if "'order_id':" in line]
    assert len(rows) == 7, said[-6000:]
    assert all("'state': 'shipped'" in row for row in rows), rows
    images = {pod["spec"]["containers"][0]["image"] for pod in own_cluster.kubectl.list("pod", OF_RUNS)}
    assert images
    assert all(image.startswith(f"{own_cluster.registry}/mine/paimon-spark@sha256:") for image in images), images
