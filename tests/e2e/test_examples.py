"""Every example of a table can be applied as it stands, and becomes Ready. Those with a catalog: test_hdfs.py."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.cluster import release
from tests.support.kubectl import Kubectl

EXAMPLES = sorted(
    path
    for path in (Path(__file__).resolve().parents[2] / "examples").glob("*.yaml")
    if "kind: PaimonCatalog" not in path.read_text()
)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
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
