"""Every example can be applied as it stands: tables become Ready, runs of users succeed, roles are taken."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.cluster import release
from tests.e2e.lab import Lab
from tests.support.kubectl import Kubectl

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def of_kind(kind: str) -> list[Path]:
    """Files whose first object is of this kind."""
    files = sorted(EXAMPLES.glob("*.yaml"))
    return [path for path in files if next(iter(yaml.safe_load_all(path.read_text())))["kind"] == kind]


@pytest.mark.parametrize("path", of_kind("PaimonTable"), ids=lambda path: path.stem)
def test_the_example_becomes_a_table(path: Path, cluster_env: Mapping[str, str]) -> None:
    shop = Kubectl(namespace=release.SHOP, env=cluster_env)
    names = [document["metadata"]["name"] for document in yaml.safe_load_all(path.read_text())]
    new = [name for name in names if shop.get("paimontable", name) is None]
    shop.run("apply", "--server-side", "--force-conflicts", "-f", str(path))
    try:
        for name in names:
            shop.until_condition(name, "Ready", "True", seconds=300)
    finally:
        for name in new:  # their schedules would go on beside the other tests; what the demo made stays
            shop.delete("paimontable", name)


def test_the_runs_succeed(lab: Lab) -> None:
    lab.kubectl.apply(lab.table("orders", {"order_id": "BIGINT"}, keys=["order_id"]))
    for path in of_kind("PaimonRun"):
        run = yaml.safe_load(path.read_text())
        run["metadata"]["namespace"] = lab.namespace
        made = lab.kubectl.run("create", "-o", "name", "-f", "-", stdin=yaml.safe_dump(run))
        name = made.strip().partition("/")[2]
        lab.kubectl.until_condition(name, "Succeeded", "True", kind="paimonrun", seconds=300)


def test_the_roles_are_taken(cluster_env: Mapping[str, str]) -> None:
    for path in of_kind("RoleBinding"):
        Kubectl(namespace=release.SHOP, env=cluster_env).run("apply", "--dry-run=server", "-f", str(path))
