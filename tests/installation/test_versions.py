"""The version stands in pyproject.toml. Pages and examples that name one of an image or of the chart name that one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tests.cluster.programs import KUBE_STATE_METRICS
from tests.support.docs_manifests import PAGES, ROOT
from tools.images.publish import version

FILES: Final = (*PAGES, *sorted((ROOT / "examples").rglob("*.yaml")))
NAMED: Final = re.compile(
    r"\bpaimon-operator:(\d[\w.]*\w)"  # the operator's image
    r"|\bpaimon-spark:paimon-[\d.]+-(\d[\w.]*\w)"  # a Spark image: its engine, then the version
    r"|charts/paimon-operator\S* --version[ =](\d[\w.]*\w)"
    r"|paimon-operator-(\d[\w.]*\w)\.tgz"
)


def named_versions(text: str) -> list[str]:
    """Each version of an image or of the chart in a text."""
    return ["".join(found.groups(default="")) for found in NAMED.finditer(text)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_file_names_no_other_version(path: Path) -> None:
    assert set(named_versions(path.read_text(encoding="utf-8"))) <= {version()}


def test_the_page_of_the_installation_names_the_version_of_images_and_chart() -> None:
    text = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    for form in (f"paimon-operator:{version()} ", f"paimon-spark:paimon-1.4-{version()} ", f"--version {version()}`"):
        assert form in text


def test_the_page_of_kube_state_metrics_names_the_version_that_the_tests_run() -> None:
    major, minor, _ = KUBE_STATE_METRICS.version.removeprefix("v").split(".")
    text = " ".join((ROOT / "docs/monitoring.md").read_text(encoding="utf-8").split())
    assert f"Checked with kube-state-metrics {major}.{minor}." in text


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("docker push registry.example.com/data/paimon-operator:2.3.4.", ["2.3.4"]),
        ("`paimon-spark:paimon-1.4-2.3.4rc1`", ["2.3.4rc1"]),
        ("`helm install x oci://a.b/charts/paimon-operator --version 2.3.4`", ["2.3.4"]),
        ("build/release/paimon-operator-2.3.4.tgz", ["2.3.4"]),
        ("paimon-spark:paimon-1.4, paimon-operator:TAG, spark-submit --version 3.5, paimon-operator: 16", []),
    ],
)
def test_a_version_is_found_where_an_image_or_the_chart_is_named(text: str, versions: list[str]) -> None:
    assert named_versions(text) == versions
