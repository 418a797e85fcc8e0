"""docs/quickstart.md on the node: the commands of the page, from `helm install` to the rows."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping

import pytest

from tests.cluster import containerd, release
from tests.cluster.cache import CHECKOUT
from tests.cluster.layout import Layout
from tests.e2e.storage_class import default_storage_class
from tests.support.docs_commands import commands_of
from tests.support.kubectl import Kubectl
from tools.images import publish

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("release")]  # one at a time changes the release
NAMESPACE = "quickstart"
LIMIT_S = 600
ENGINE = "paimon-0.9"
BUILT = {"operator": f"{publish.OPERATOR}:{publish.version()}", ENGINE: f"{publish.SPARK}:{ENGINE}-{publish.version()}"}
"""The images on the node, by the names with which the page builds them (tests/installation/test_image_builds.py)."""


@pytest.fixture
def fresh_node(cluster_env: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    """The node without a release, with the images and a default StorageClass."""
    layout, found = Layout(), release.images()
    names = {name: f"docker.io/library/{reference}" for name, reference in BUILT.items()}
    for name, source in {"operator": found["operator"], ENGINE: found["spark"][ENGINE]}.items():
        containerd.ctr(layout, "images", "tag", "--force", source, names[name])
    subprocess.run(
        ["helm", "uninstall", release.RELEASE, "-n", release.NAMESPACE, "--wait"], env=cluster_env, check=True
    )
    kubectl = Kubectl(namespace=NAMESPACE, env=cluster_env)
    try:
        with default_storage_class(cluster_env, names["operator"]):
            yield cluster_env
            kubectl.run("delete", "namespace", NAMESPACE, timeout=300)
    finally:
        containerd.ctr(layout, "images", "remove", *names.values())
        uninstall(cluster_env)  # (the address of its Service cannot be changed)
        release.deploy(cluster_env)


def uninstall(env: Mapping[str, str]) -> None:
    """Removes the release. Its CRDs stay, and with them all tables."""
    command = ["helm", "uninstall", release.RELEASE, "--namespace", release.NAMESPACE, "--wait"]
    subprocess.run(command, env=env, check=True)


def test_the_commands_of_the_page_lead_to_ten_rows_in_ten_minutes(fresh_node: Mapping[str, str]) -> None:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands_of("docs/quickstart.md", "## Steps")],
        cwd=CHECKOUT,
        env=dict(fresh_node),
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 2]
    assert [row[0] for row in rows] == [str(number) for number in range(1, 11)], done.stdout
    assert (rows[0], rows[-1]) == (["1", "apple", "0.40"], ["10", "jackfruit", "9.80"])
