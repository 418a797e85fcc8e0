"""docs/api.md is fresh, and has every field of the CRDs with its bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from paimon_operator.generate.api_page import page
from paimon_operator.generate.crd import RESOURCES, ResourceDefinition, definition
from tests.generate.structural_rules import nodes

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
FIELDS = sorted(
    {
        (resource.kind, path.split(".")[1], path.rpartition(".")[2].replace("[]", ""))
        for resource in RESOURCES
        for path, _ in nodes(definition(resource)["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
        if path.count(".") > 1
    }
)
"""Kind, `spec` or `status`, and name of each field."""


def section(heading: str) -> str:
    """Returns the text below a heading, up to the next one."""
    _, found, below = page().partition(f"\n### {heading}\n")
    assert found, heading
    return below.partition("\n#")[0]


def test_the_committed_page_is_the_generated_one() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make generate`"


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.kind)
@pytest.mark.parametrize("part", ["spec", "status"])
def test_the_page_has_every_field(resource: ResourceDefinition, part: str) -> None:
    kind = resource.kind
    fields = {name for of, within, name in FIELDS if (of, within) == (kind, part) and name != "*"}
    shown = [text for text in page().split("\n### ") if text.startswith(f"{kind} {part}")]
    assert len(fields) > 5
    assert [name for name in sorted(fields) if not any(f"* **{name}** (" in text for text in shown)] == []


SHOWN = {
    "PaimonTable spec": "* **database** (string, required, 1 to 128 characters, pattern `",
    "PaimonTable spec.bucket": "one of `Fixed`, `Dynamic`",
    "PaimonCatalog spec": '* **commitPolicy** (string, default `"RequireSafe"`, one of `RequireSafe`, `AllowUnsafe`): ',
    "PaimonCatalog spec.maintenanceWindows[]": "* **schedule** (string, required, ",
    "PaimonRun spec.tableRef": "* **name** (string, required, ",
    "PaimonTable status.conditions[]": "* **lastTransitionTime** (time): ",
}


@pytest.mark.parametrize(("heading", "text"), SHOWN.items(), ids=SHOWN)
def test_a_section_has_types_defaults_and_bounds(heading: str, text: str) -> None:
    assert text in section(heading)


def test_an_object_that_occurs_again_links_to_its_first_section() -> None:
    first = "PaimonCatalog spec.metastore.jdbc.credentialsSecretRef"
    assert f"[{first.partition(' ')[2]}](#{first.lower().replace(' ', '-').replace('.', '')})" in " ".join(
        section("PaimonCatalog spec.storage.s3").split()
    )
    assert "### PaimonCatalog spec.storage.s3.credentialsSecretRef" not in page()
