"""The archive of a released chart, which helm makes."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.cache import CHECKOUT
from tests.cluster.programs import HELM
from tools.images.publish import Images
from tools.release import chart

IMAGES = Images("registry.example.com/paimon-operator@sha256:" + "1" * 64, {"paimon-0.9": "spark@sha256:" + "2" * 64})


def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The documents of the chart's archive."""
    monkeypatch.setenv("PATH", str(HELM.path.parent), prepend=":")
    archive = chart.package(IMAGES, "7.0.0", tmp_path)
    with tarfile.open(archive) as file:
        members = {member.name.removeprefix("paimon-operator/"): member for member in file}
        texts = {name: file.extractfile(member) for name, member in members.items() if name.endswith(".yaml")}
        return {name: text.read().decode() for name, text in texts.items() if text is not None}


def test_the_archive_has_the_version_and_the_crds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = packaged(tmp_path, monkeypatch)
    described = yaml.safe_load(texts["Chart.yaml"])
    assert (described["version"], described["appVersion"]) == ("7.0.0", "7.0.0")
    crds = {name.removeprefix("files/crds/"): text for name, text in texts.items() if name.startswith("files/crds/")}
    assert crds == {file.name: file.read_text() for file in (CHECKOUT / "crds").iterdir()}
    assert not [name for name in texts if name.startswith("tests/")]
