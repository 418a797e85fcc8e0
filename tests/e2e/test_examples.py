"""Every example can be applied as it stands, and its tables become Ready."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml

from tests.cluster import release
from tests.e2e.disks import disk
from tests.support.kubectl import Kubectl, Object

ELSEWHERE = frozenset({"catalog", "hdfs", "kerberos"})
"""Their servers have names of this node's own: tests.cluster.release applies the first, test_hdfs.py the others."""
EXAMPLES = sorted(
    path for path in (Path(__file__).resolve().parents[2] / "examples").glob("*.yaml") if path.stem not in ELSEWHERE
)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
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


def _of_kind(documents: list[Object], kind: str) -> Iterator[Object]:
    return (each for each in documents if each["kind"] == kind)
