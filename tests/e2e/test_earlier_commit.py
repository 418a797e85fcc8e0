"""The earlier commit is exported from any clone. A shallow clone fetches it or reports that it cannot."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cluster import earlier


def git(directory: Path, *arguments: str) -> str:
    names = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    command = ["git", "-C", str(directory), *names, *arguments]
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout.strip()


@pytest.fixture
def shallow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone of depth one; the earlier commit is the one before."""
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    git(origin, "init", "--quiet")
    for text in ("old", "new"):
        (origin / "file").write_text(text)
        git(origin, "add", "file")
        git(origin, "commit", "--quiet", "--message", text)
    git(tmp_path, "clone", "--quiet", "--depth=1", origin.as_uri(), str(clone))
    monkeypatch.setattr(earlier, "COMMIT", git(origin, "rev-parse", "HEAD~1"))
    monkeypatch.setattr(earlier, "CHECKOUT", clone)
    monkeypatch.setenv("PAIMON_OPERATOR_CACHE", str(tmp_path / "cache"))
    return clone


def test_a_shallow_clone_fetches_the_commit(shallow: Path) -> None:
    assert not earlier._has_commit()
    assert (earlier._source() / "file").read_text() == "old"
    assert (shallow / "file").read_text() == "new"


def test_a_clone_that_cannot_fetch_reports_the_missing_commit(shallow: Path) -> None:
    (shallow.parent / "origin").rename(shallow.parent / "gone")
    with pytest.raises(earlier.CommitMissingError, match="cannot be fetched from its origin"):
        earlier._source()


def test_a_tree_without_the_jars_of_an_engine_is_reported_and_not_remembered(
    shallow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(earlier, "_BUILD", "import sys; open(sys.argv[1], 'w').write('{}')")
    for _ in range(2):
        with pytest.raises(earlier.EngineMissingError, match=r"jars of paimon-1.4; .* PAIMON_OPERATOR_JARS_DIR"):
            earlier._images("paimon-1.4")
    assert not list(shallow.parent.rglob("*-paimon-1.4*"))


def test_the_pinned_commit_is_in_this_projects_history() -> None:
    assert (earlier.chart() / "Chart.yaml").exists()
