"""Every example can be applied as it stands: tables become Ready, runs of users succeed, roles are taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml

from tests.cluster import release
from tests.e2e.disks import disk
from tests.e2e.lab import Lab
from tests.support.kubectl import Kubectl, Object

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def _of_kind(documents: list[Object], kind: str) -> Iterator[Object]:
    return (each for each in documents if each["kind"] == kind)


def examples_of(kind: str) -> list[Path]:
    """Files with an object of this kind."""
    files = sorted(EXAMPLES.glob("*.yaml"))
    return [path for path in files if any(_of_kind(list(yaml.safe_load_all(path.read_text())), kind))]


@pytest.mark.parametrize("path", examples_of("PaimonTable"), ids=lambda path: path.stem)
def test_the_example_becomes_a_table(path: Path, cluster_env: Mapping[str, str]) -> None:
    shop = Kubectl(namespace=release.SHOP, env=cluster_env)
    documents = list(yaml.safe_load_all(path.read_text()))
    new = [each for each in documents if shop.get(each["kind"], each["metadata"]["name"]) is None]
    with ExitStack() as disks:
        for claim in _of_kind(documents, "PersistentVolumeClaim"):
            disks.enter_context(disk(shop, claim["metadata"]["name"]))
        shop.run("apply", "--server-side", "--force-conflicts", "-f", str(path))
        try:
            for table in _of_kind(documents, "PaimonTable"):
                shop.until_condition(table["metadata"]["name"], "Ready", "True", seconds=300)
        finally:
            for each in reversed(new):  # their schedules would go on beside the other tests; what the demo made stays
                shop.delete(each["kind"], each["metadata"]["name"], wait=True)


def test_the_runs_succeed(lab: Lab) -> None:
    lab.kubectl.apply(lab.table("orders", {"order_id": "BIGINT"}, keys=["order_id"]))
    for path in examples_of("PaimonRun"):
        run = yaml.safe_load(path.read_text())
        run["metadata"]["namespace"] = lab.namespace
        made = lab.kubectl.run("create", "-o", "name", "-f", "-", stdin=yaml.safe_dump(run))
        name = made.strip().partition("/")[2]
        lab.kubectl.until_condition(name, "Succeeded", "True", kind="paimonrun", seconds=300)


def test_the_roles_are_taken(cluster_env: Mapping[str, str]) -> None:
    for path in examples_of("RoleBinding"):
        Kubectl(namespace=release.SHOP, env=cluster_env).run("apply", "--dry-run=server", "-f", str(path))
