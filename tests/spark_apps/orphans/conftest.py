"""The world of the tests of orphan files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark_apps.orphans.world import World, new_world


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return new_world(tmp_path / "warehouse", monkeypatch)
