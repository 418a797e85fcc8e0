"""What a release writes: a chart that names its images by digest, and the notes of its version."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tests.support.docs_manifests import PAGES
from tools.images.publish import Images, version
from tools.release import changelog, chart
from tools.release.__main__ import notes_file

IMAGES = Images(
    "registry.example.com/data/paimon-operator@sha256:" + "1" * 64,
    {name: f"registry.example.com/data/paimon-spark@sha256:{name[-1] * 64}" for name in ("paimon-0.9", "paimon-1.4")},
)


def test_the_values_of_a_released_chart_name_its_images_by_digest() -> None:
    text = (chart.CHART / "values.yaml").read_text()
    found = yaml.safe_load(chart.released_values(text, IMAGES))
    operator, _, digest = IMAGES.operator.partition("@")
    assert found["image"] == yaml.safe_load(text)["image"] | {"repository": operator, "digest": digest}
    assert found["spark"] == yaml.safe_load(text)["spark"] | {"images": dict(IMAGES.spark)}
    same = {"image", "spark"}
    assert {k: v for k, v in found.items() if k not in same} == {
        k: v for k, v in yaml.safe_load(text).items() if k not in same
    }


def test_its_values_keep_their_comments() -> None:
    text = (chart.CHART / "values.yaml").read_text()
    comments = [line for line in text.splitlines() if line.lstrip().startswith("#")]
    released = chart.released_values(text, IMAGES).splitlines()
    assert [line for line in released if line.lstrip().startswith("#")] == comments


def test_a_place_that_is_gone_is_an_error() -> None:
    text = (chart.CHART / "values.yaml").read_text().replace("  images:\n", "  engines:\n")
    with pytest.raises((ValueError, KeyError)):
        chart.released_values(text, IMAGES)


def test_the_notes_of_this_version_have_each_of_its_upgrade_notes() -> None:
    written = notes_file(changelog.notes(version()), IMAGES, "helm install it")
    newest = changelog.FILE.read_text().partition(f"\n## {version()}\n")[2].partition("\n## ")[0]
    upgrade = newest.partition(f"\n{changelog.UPGRADE}\n")[2].strip()
    assert upgrade.count("\n* ") > 2
    assert f"{changelog.UPGRADE}\n\n{upgrade}\n" in written


def test_the_notes_have_no_link_that_leads_nowhere_outside_the_checkout() -> None:
    assert re.findall(r"\]\((?!https:)[^)]*\)", changelog.notes(version())) == []


def test_no_other_page_repeats_the_upgrade_notes() -> None:
    notes = [line for line in changelog.notes(version()).splitlines() if len(line) > 60]
    pages = "".join(page.read_text() for page in PAGES if page != changelog.FILE)
    assert [line for line in notes if line in pages] == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# Changes\n\n## 2\n\n### Upgrade\n", r"has no section '## 1': add one"),
        ("## 11\n\n### Upgrade\n", r"has no section '## 1': add one"),
        ("## 1 (2026)\n\n* a change\n\n## 0\n\n### Upgrade\n", r"'## 1' of .* has no notes below '### Upgrade'"),
        ("## 1\n\n### Upgrade\n\n## 0\n\n### Upgrade\n\nold\n", r"has no notes below '### Upgrade'"),
    ],
)
def test_a_version_without_notes_is_not_released(text: str, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "CHANGELOG.md"
    file.write_text(text)
    with pytest.raises(changelog.MissingNotesError, match=problem):
        changelog.notes("1", file)


def test_the_notes_of_a_version_end_where_the_one_before_begins(tmp_path: Path) -> None:
    file = tmp_path / "CHANGELOG.md"
    file.write_text(
        "# Changes\n\n## 2\n\nlater\n\n## 1 (2026-11-26)\n\n* first\n\n### Upgrade\n\nnone\n\n## 0\n\nold\n"
    )
    assert changelog.notes("1", file) == "* first\n\n### Upgrade\n\nnone\n"
