"""What a registry of charts shows: the version of the code, its kinds, and an example that is kept true."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

import yaml

ROOT: Final = Path(__file__).parents[2]


def chart() -> Any:
    return yaml.safe_load((ROOT / "charts/paimon-operator/Chart.yaml").read_text(encoding="utf-8"))


def of_hub(name: str) -> Any:
    return yaml.safe_load(chart()["annotations"][f"artifacthub.io/{name}"])


def test_chart_and_application_have_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (chart()["version"], chart()["appVersion"]) == (project["version"], project["version"])


def test_it_names_who_maintains_it() -> None:
    assert [each["name"].strip() != "" for each in chart()["maintainers"]] == [True]


def test_its_page_has_no_link_that_leads_out_of_the_packaged_chart() -> None:
    page = (ROOT / "charts/paimon-operator/README.md").read_text(encoding="utf-8")
    assert "docs/install.md" in page
    assert [link for link in re.findall(r"\]\(([^)]+)\)", page) if not link.startswith(("https://", "#"))] == []


def test_it_names_every_kind() -> None:
    kinds = {}
    for path in (ROOT / "crds").glob("*.yaml"):
        crd = yaml.safe_load(path.read_text(encoding="utf-8"))
        kinds[crd["metadata"]["name"]] = (crd["spec"]["names"]["kind"], crd["spec"]["versions"][0]["name"])
    assert {each["name"]: (each["kind"], each["version"]) for each in of_hub("crds")} == kinds


def test_its_example_is_the_smallest_one() -> None:
    minimal = yaml.safe_load((ROOT / "examples/minimal.yaml").read_text(encoding="utf-8"))
    assert of_hub("crdsExamples") == [minimal]
