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
from tests.cluster.cache import locked
from tests.cluster.images import storage
from tests.cluster.images.context import link
from tests.cluster.images.rootfs import SPARK_PACKAGES, rootfs
from tests.cluster.layout import Layout
from tests.cluster.programs import HELM, KUBECTL, VERSITYGW
from tests.e2e.lab import OF_RUNS
from tests.e2e.own_node import cluster_in
from tests.e2e.person import Person, account
from tests.support.kubectl import Kubectl

pytestmark = pytest.mark.long

ENGINE: Final = "paimon-0.9"
"""All of its jars are in Maven Central, also in part of it."""
BUILD_PACKAGES: Final = (*SPARK_PACKAGES, "maven", "python3-pip")
"""Where a base image has them, the build asks no apt-get, whose mirror only this machine knows."""
TRUSTED: Final = ("certs/ca-certificates.crt", "certs/java/cacerts")
"""Authorities of this machine, below /etc/ssl: those of its way to PyPI and Maven."""


@dataclass(frozen=True)
class OwnCluster:
    """A cluster without the operator, its registry, and a user with the rights of `helm install`."""

    person: Person
    kubectl: Kubectl
    registry: str

    def demo(self, **variables: str) -> tuple[int, str]:
        """The exit code and the output of `make demo CLUSTER=current`."""
        flags = f"--tls-verify=false --build-arg=BASE_IMAGE={self.registry}/base:1"
        given = {"BUILD_FLAGS": flags, "PUSH_FLAGS": "--tls-verify=false", "S3_IMAGE": f"{self.registry}/s3:1"}
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
            _nodes_pull_by_the_name_that_the_user_pushes(layout, running)
            _push_base_and_s3(running.on_host, tmp_path)
            programs = {"kubectl": KUBECTL.path, "helm": HELM.path}
            with account("paimon-person", programs, layout.kubeconfig) as person:
                env = release.read_env(layout)
                yield OwnCluster(person, Kubectl(namespace="paimon-demo", env=env), running.on_host)


def _nodes_pull_by_the_name_that_the_user_pushes(layout: Layout, running: node_registry.Registry) -> None:
    """The loopback port of the host is the registry's address for containerd as well, as kind does it."""
    hosts = layout.state / "registries" / running.on_host / "hosts.toml"
    hosts.parent.mkdir(parents=True)
    hosts.write_text(f'[host."http://{running.in_cluster}"]\n  capabilities = ["pull", "resolve"]\n')


def _push_base_and_s3(registry: str, directory: Path) -> None:
    base, s3 = directory / "base", directory / "s3"
    base.mkdir()
    s3.mkdir()
    link(rootfs(BUILD_PACKAGES), base / "rootfs.tar")
    for name in TRUSTED:
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path("/etc/ssl") / name, base / name)
    (base / "Dockerfile").write_text("FROM scratch\nADD rootfs.tar /\nCOPY certs /etc/ssl/certs\nENV LANG=C.UTF-8\n")
    shutil.copy(VERSITYGW.path, s3 / "versitygw")
    (s3 / "Dockerfile").write_text('FROM scratch\nCOPY versitygw /versitygw\nENTRYPOINT ["/versitygw"]\n')
    with locked("images"):
        for name, context in {"base": base, "s3": s3}.items():
            tag = f"localhost/person-{name}:1"
            storage.build(tag, dockerfile=context / "Dockerfile", context=context, arguments={})
            storage.publish(tag, f"{registry}/{name}:1", plain_http=True)


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
