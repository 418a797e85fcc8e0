"""`make release` as a whole: an ordinary user makes a release, and the command that it prints installs it.

The node stands for the cluster of those who install it: it has no operator. The images are of one engine. All else is
what a release has: the user's own image builder, a registry, the packaged chart, a list of what each image consists of.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import tarfile
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.cluster import registry as node_registry
from tests.cluster import release
from tests.cluster.control_plane import OPERATOR_ADDRESS
from tests.cluster.layout import Layout
from tests.cluster.programs import HELM
from tests.e2e.base_image import builder_flags, pull_by_the_name_that_a_user_pushes, push_base
from tests.e2e.lab import Lab
from tests.e2e.labs import Node, lab_in
from tests.e2e.own_node import cluster_in
from tests.e2e.person import Person, account
from tests.support.kubectl import Kubectl
from tools.images.publish import version
from tools.release import changelog

pytestmark = [pytest.mark.long, pytest.mark.timeout(3000)]  # the first one builds the images

ENGINE: Final = "paimon-0.9"
"""All of its jars are in Maven Central, also in part of it."""
MANIFESTS: Final = "application/vnd.oci.image.manifest.v1+json,application/vnd.docker.distribution.manifest.v2+json"
COMPONENTS: Final = {
    "paimon-operator": {"kopf": "pypi", "pydantic": "pypi", "libc6": "deb"},
    f"paimon-spark-{ENGINE}": {"pyspark": "pypi", "paimon-s3": "maven", "openjdk-17-jre-headless": "deb"},
}
"""Packages that the list of each image has among others, with the kind of their address."""


@dataclass(frozen=True)
class Releaser:
    """A user with an image builder and helm, and the registry that the user releases to."""

    person: Person
    registry: str
    layout: Layout
    env: Mapping[str, str] = field(repr=False)

    @property
    def prefix(self) -> str:
        return f"{self.registry}/mine"

    @property
    def written(self) -> Path:
        """What the release has written for the user."""
        return self.person.checkout / "build" / "release"

    def release(self) -> subprocess.CompletedProcess[str]:
        return self.person.run(
            *("make", "release", f"REGISTRY={self.prefix}", f"ENGINES={ENGINE}", "PLAIN_HTTP=1"),
            variables=builder_flags(self.registry),
        )

    def digest(self, repository: str, reference: str) -> str:
        """The digest of an image as the registry names it."""
        address = f"http://{self.registry}/v2/mine/{repository}/manifests/{reference}"
        with urllib.request.urlopen(urllib.request.Request(address, headers={"Accept": MANIFESTS})) as answer:
            return str(answer.headers["Docker-Content-Digest"])

    def helm(self, *arguments: str, stdin: str = "") -> str:
        command = ["helm", *arguments, "--plain-http"]
        done = subprocess.run(command, input=stdin, env=dict(self.env), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="class")
def releaser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Releaser]:
    directory = tmp_path_factory.mktemp("release")
    with cluster_in(directory / "another") as cluster, node_registry.running_on_node(cluster.layout) as running:
        pull_by_the_name_that_a_user_pushes(cluster.layout, running)
        push_base(running.on_host, directory / "base")
        with account("paimon-releaser", {"helm": HELM.path}, cluster.layout.kubeconfig) as person:
            yield Releaser(person, running.on_host, cluster.layout, release.read_env(cluster.layout))


class TestMakeRelease:
    @pytest.fixture(scope="class")
    @classmethod
    def command(cls, releaser: Releaser) -> str:
        """The command that the release has printed in its last line."""
        done = releaser.release()
        assert done.returncode == 0, done.stdout[-6000:]
        return done.stdout.splitlines()[-1]

    @pytest.fixture(scope="class")
    @classmethod
    def digests(cls, releaser: Releaser, command: str) -> dict[str, str]:
        """Reference by digest of each image that the registry has under the tag of the version."""
        assert command, "released"
        tags = {"paimon-operator": version(), "paimon-spark": f"{ENGINE}-{version()}"}
        return {name: f"{releaser.prefix}/{name}@{releaser.digest(name, tag)}" for name, tag in tags.items()}

    def test_the_chart_names_the_images_of_the_registry_by_digest(
        self, releaser: Releaser, command: str, digests: Mapping[str, str]
    ) -> None:
        assert command == (
            f"helm install paimon-operator oci://{releaser.prefix}/charts/paimon-operator --version {version()}"
        )
        address = shlex.split(command)[3]
        values = yaml.safe_load(releaser.helm("show", "values", address, "--version", version()))
        assert f"{values['image']['repository']}@{values['image']['digest']}" == digests["paimon-operator"]
        assert values["spark"]["images"] == {ENGINE: digests["paimon-spark"]}

    @pytest.mark.usefixtures("command")
    def test_each_image_has_a_document_of_what_it_consists_of(self, releaser: Releaser) -> None:
        found = {file.name.removesuffix(".cdx.json"): file for file in releaser.written.glob("*.cdx.json")}
        assert found.keys() == COMPONENTS.keys()
        for name, file in found.items():
            document = json.loads(file.read_text())
            assert document["bomFormat"] == "CycloneDX"
            assert (document["metadata"]["component"]["name"], document["metadata"]["component"]["version"]) == (
                name,
                version(),
            )
            kinds = {each["name"]: kind_of(each) for each in document["components"]}
            assert {part: kinds.get(part) for part in COMPONENTS[name]} == COMPONENTS[name]

    def test_the_notes_have_the_changes_the_images_and_the_command(
        self, releaser: Releaser, command: str, digests: Mapping[str, str]
    ) -> None:
        notes = (releaser.written / "notes.md").read_text()
        assert notes.startswith(changelog.notes(version()))
        assert [each for each in (*digests.values(), command) if each not in notes] == []

    @pytest.mark.usefixtures("command")
    def test_the_chart_of_the_user_is_the_one_in_the_registry(self, releaser: Releaser, tmp_path: Path) -> None:
        archive = f"paimon-operator-{version()}.tgz"
        address = f"oci://{releaser.prefix}/charts/paimon-operator"
        releaser.helm("pull", address, "--version", version(), "--destination", str(tmp_path))
        assert (tmp_path / archive).read_bytes() == (releaser.written / archive).read_bytes()
        with tarfile.open(tmp_path / archive) as packed:
            assert [name for name in packed.getnames() if "/tests/" in name] == [], "the chart's own tests stay here"

    def test_the_printed_command_installs_an_operator_that_makes_a_table(
        self, releaser: Releaser, command: str, digests: Mapping[str, str]
    ) -> None:
        """No value names an image: `requireDigests` would refuse a tag."""
        values = {"requireDigests": True, "allNamespaces": True, "service": {"clusterIP": OPERATOR_ADDRESS}}
        flags = ["--namespace", release.NAMESPACE, "--create-namespace", "--values", "-", "--wait", "--timeout", "5m"]
        releaser.helm(*shlex.split(command)[1:], *flags, stdin=yaml.safe_dump(values))

        system = Kubectl(namespace=release.NAMESPACE, env=releaser.env)
        deployment = system.get("deployment", release.RELEASE) or {}
        assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == digests["paimon-operator"]
        with lab_in(Node(releaser.env, releaser.layout), "released", ENGINE) as lab:
            assert images_of_a_table(lab) == {digests["paimon-spark"]}

    @pytest.mark.usefixtures("command")
    def test_a_version_is_released_once(self, releaser: Releaser, digests: Mapping[str, str]) -> None:
        again = releaser.release()
        assert again.returncode != 0
        assert f"error: {releaser.prefix} has version {version()} already" in again.stdout
        assert f"{releaser.prefix}/paimon-operator@{releaser.digest('paimon-operator', version())}" in digests.values()


def kind_of(component: Mapping[str, Any]) -> str:
    """The kind of its address: `pkg:pypi/kopf@1.38.0` is `pypi`."""
    return str(component["purl"]).partition(":")[2].partition("/")[0]


def images_of_a_table(lab: Lab) -> set[str]:
    """Images of the driver Pods of a table that was made and is Ready."""
    lab.kubectl.apply(lab.table("t", {"id": "BIGINT"}, keys=["id"]))
    lab.ready("t")
    return {pod["spec"]["containers"][0]["image"] for pod in lab.pods()}
