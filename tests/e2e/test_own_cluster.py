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

from tests.cluster import current, release
from tests.cluster import registry as node_registry
from tests.cluster.layout import Layout
from tests.cluster.programs import HELM, KUBECTL, VERSITYGW
from tests.e2e.base_image import builder_flags, pull_by_the_name_that_a_user_pushes, push_base, push_built
from tests.e2e.lab import OF_RUNS
from tests.e2e.loading import COMMAND, loading_onto
from tests.e2e.own_node import cluster_in
from tests.e2e.person import Person, account
from tests.support.kubectl import Kubectl

pytestmark = pytest.mark.long

ENGINE: Final = "paimon-0.9"
"""All of its jars are in Maven Central, also in part of it."""


@dataclass(frozen=True)
class OwnCluster:
    """A cluster without the operator, its registry, and a user with the rights of `helm install`."""

    layout: Layout
    person: Person
    kubectl: Kubectl
    registry: str

    def demo(self, way: str, **variables: str) -> tuple[int, str]:
        """The exit code and the output of `make demo CLUSTER=current`. `way` says how images get onto the node."""
        given = {**builder_flags(self.registry), "S3_IMAGE": f"{self.registry}/s3:1"}
        command = ("make", "demo", "CLUSTER=current", way, f"ENGINES={ENGINE}")
        done = self.person.run(*command, variables=given | variables)
        return done.returncode, done.stdout

    def images(self) -> set[str]:
        """The images of the driver Pods."""
        return {pod["spec"]["containers"][0]["image"] for pod in self.kubectl.list("pod", OF_RUNS)}

    def remove_demo(self) -> None:
        """As the demo's last words say."""
        self.kubectl.run("delete", "paimontables,paimonruns,paimoncatalogs", "--all", timeout=300)
        self.kubectl.run("delete", "namespace", current.NAMESPACE, timeout=300)
        uninstall = f"helm uninstall {release.RELEASE} --namespace {current.SYSTEM}"
        command = f"{uninstall} && kubectl delete namespace {current.SYSTEM}"
        done = self.person.run("sh", "-c", command, variables={})
        assert done.returncode == 0, done.stdout


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
                yield OwnCluster(layout, person, Kubectl(namespace=current.NAMESPACE, env=env), running.on_host)


def _push_s3(registry: str, directory: Path) -> None:
    directory.mkdir()
    shutil.copy(VERSITYGW.path, directory / "versitygw")
    text = 'FROM scratch\nCOPY versitygw /versitygw\nENTRYPOINT ["/versitygw"]\n'
    (directory / "Dockerfile").write_text(text)
    push_built("s3", directory, registry)


def test_an_ordinary_user_builds_the_images_and_runs_the_demo(own_cluster: OwnCluster) -> None:
    through_registry = f"REGISTRY={own_cluster.registry}/mine"
    code, said = own_cluster.demo(through_registry)
    assert (code != 0, own_cluster.kubectl.get("namespace", current.NAMESPACE)) == (True, None), "not confirmed"
    assert "nothing was changed" in said, said

    own_cluster.kubectl.run("create", "namespace", current.NAMESPACE)
    code, said = own_cluster.demo(through_registry, YES="1")
    assert (code != 0, f"namespace {current.NAMESPACE} exists and is not the demo's" in said) == (True, True), said
    own_cluster.kubectl.run("delete", "namespace", current.NAMESPACE)

    assert_rows(own_cluster.demo(through_registry, YES="1"))
    pushed = f"{own_cluster.registry}/mine/paimon-spark@sha256:"
    assert [each.startswith(pushed) for each in own_cluster.images()] == [True], own_cluster.images()

    own_cluster.remove_demo()
    with loading_onto(own_cluster.layout, own_cluster.person) as imported:
        assert_rows(own_cluster.demo(f"LOAD={COMMAND}", YES="1"))
    assert len(imported) == 2, "the operator's image and that of the engine"
    (loaded,) = own_cluster.images()
    assert loaded.startswith(f"paimon-spark:{ENGINE}-")


def assert_rows(demo: tuple[int, str]) -> None:
    """The demo has ended well and shown its rows."""
    code, said = demo
    assert code == 0, said[-6000:]
    rows = [line for line in said.splitlines() if "'order_id':" in line]
    assert len(rows) == 7, said[-6000:]
    assert all("'state': 'shipped'" in row for row in rows), rows
