"""What the pages name exists: pages, fields of the API, terms, engines and versions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from paimon_engines.loader import supported_engines
from paimon_operator.generate.crd import RESOURCES, definition
from tests.generate.structural_rules import nodes
from tests.support.docs_manifests import PAGES, ROOT
from tools.images.publish import version
from tools.release import changelog

FIELDS = {
    path.replace("[]", "").replace(".*", "").removeprefix(".")
    for resource in RESOURCES
    for path, _ in nodes(definition(resource)["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
}
"""Every field of the three kinds, such as `status.health.pins.name`."""

TERMS = [
    "Catalog", "Table", "Run", "Attempt", "Driver", "Shared Pod", "Observer", "Warehouse", "Snapshot",
    "Tick", "Window", "Need", "Budget", "Drift", "Table claim", "Owner mark", "Foreign commit", "Ledger", "Effective",
    "Learned size", "Quarantine", "Sorted run", "Companion", "Observation", "Engine", "Executor", "Result", "Location",
    "Metastore", "Decision", "Commit safety", "Condition", "Reason", "Suspend", "Finalizer",
]  # fmt: skip


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def fields_in(text: str) -> set[str]:
    """Fields in commands (`{.status.health}`) and in prose, without what stands in brackets."""
    plain = re.sub(r"\[[^\]]*\]", "", text)
    return {found.rstrip(".") for found in re.findall(r"(?<![\w./-])\.?((?:status|spec)(?:\.[a-zA-Z]\w*)+)", plain)}


def test_the_entry_page_links_every_other_page() -> None:
    linked = set(re.findall(r"\]\(([a-z0-9-]+\.md)\)", page("docs/README.md")))
    assert linked == {each.name for each in (ROOT / "docs").glob("*.md")} - {"README.md"}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_names_only_fields_that_exist(path: Path) -> None:
    assert fields_in(path.read_text(encoding="utf-8")) - FIELDS == set()


def test_a_field_that_does_not_exist_is_found() -> None:
    text = "`status.health.pinsCount`, jsonpath='{.status.helth}' NAME:.spec.writes[0].from and `foo.spec.bar`"
    assert fields_in(text) - FIELDS == {"status.helth"}


@pytest.mark.parametrize("term", TERMS)
def test_the_concepts_explain_a_term(term: str) -> None:
    assert f"\n### {term}\n\n" in page("docs/concepts.md")


def test_the_support_matrix_names_each_engine_and_the_bound_of_kubernetes() -> None:
    text = page("docs/limits.md")
    chart = yaml.safe_load(page("charts/paimon-operator/Chart.yaml"))
    assert f"`{chart['kubeVersion'].removesuffix('-0')}" in text
    for engine in supported_engines().values():
        assert f"Paimon {engine.paimon}, Spark {engine.spark}" in text
        assert f"`{engine.id}`" in text


def test_the_support_matrix_names_the_kubernetes_that_is_tested() -> None:
    (tested,) = re.findall(r"k8s\.io/kubernetes v(\S+)", page("tests/cluster/go/node/go.mod"))
    text = page("docs/limits.md")
    assert f"Kubernetes {tested}," in text
    assert f"| Kubernetes {tested.rpartition('.')[0]} | tested |" in text


def test_readme_has_a_picture_and_the_three_commands_that_are_promised() -> None:
    languages = re.findall(r"^```(\w+)\n", page("README.md"), flags=re.MULTILINE)
    assert languages == ["mermaid", "console"]
    targets = re.findall(r"^make (\w+)", page("README.md"), flags=re.MULTILINE)
    assert targets == ["demo", "test", "down"]
    recipes = page("Makefile")
    assert [target for target in targets if f"\n{target}: " not in recipes] == []


@pytest.mark.parametrize("name", ["README.md", "docs/install.md", "docs/limits.md", "docs/quickstart.md"])
def test_a_page_says_that_nothing_is_published_as_long_as_the_changelog_does(name: str) -> None:
    is_unpublished = "Not published yet." in changelog.notes(version())
    assert ("Nothing is published yet" in page(name)) is is_unpublished
