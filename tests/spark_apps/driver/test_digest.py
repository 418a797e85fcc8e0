"""A driver runs only the job whose digest its Pod has."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from paimon_contract.job import files_digest
from spark_apps.driver import main, process, without_jvm
from spark_apps.driver.digest import checked_text

FILES = {"job.json": "{}", "executor.json": "{}"}


@pytest.fixture
def volume(tmp_path: Path) -> Path:
    """The job's volume as a kubelet mounts it: links to the files of a hidden directory."""
    hidden = tmp_path / "..2026_11_21"
    hidden.mkdir()
    (tmp_path / "..data").symlink_to(hidden.name)
    for name, text in FILES.items():
        (hidden / name).write_text(text, encoding="utf-8")
        (tmp_path / name).symlink_to(f"..data/{name}")
    return tmp_path


@pytest.mark.parametrize("program", [main, without_jvm], ids=["main", "without_jvm"])
@pytest.mark.parametrize("changed", ["job.json", "executor.json", "another.json"])
def test_a_changed_or_added_file_stops_the_driver_before_it_reads_the_job(
    volume: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], changed: str, program: Any
) -> None:
    monkeypatch.setenv("JOB_DIGEST", files_digest(FILES))
    (volume / "..data" / changed).write_bytes(b'{"operation": "Drop", "\xff": 1}')
    (volume / changed).unlink(missing_ok=True)
    (volume / changed).symlink_to(f"..data/{changed}")
    monkeypatch.setattr(process, "read_job", lambda _: pytest.fail("the forged job was read"))
    assert program.main([str(volume / "job.json")]) == 26
    assert "is not the one that the operator wrote, so nothing was done" in capsys.readouterr().err


def test_the_job_that_the_operator_wrote_is_read(volume: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOB_DIGEST", files_digest(FILES))
    assert checked_text(volume / "job.json") == "{}"


def test_executors_are_created_from_the_checked_text_even_if_the_volume_changes_later(
    volume: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Spark reads the file for each executor, hours later too, and a kubelet updates a mutable volume."""
    monkeypatch.setenv("JOB_DIGEST", files_digest(FILES))
    monkeypatch.setenv("EXECUTOR_TEMPLATE", str(volume / "executor.json"))
    monkeypatch.setenv("TMPDIR", str(tmp_path_factory.mktemp("tmp")))
    checked_text(volume / "job.json")
    (volume / "..data" / "executor.json").write_text('{"spec": {"volumes": []}}')
    assert Path(os.environ["EXECUTOR_TEMPLATE"]).read_text() == FILES["executor.json"]


def test_an_operator_of_release_0_1_gives_no_digest(volume: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JOB_DIGEST", raising=False)
    assert checked_text(volume / "job.json") == "{}"


def test_the_digest_tells_texts_from_names() -> None:
    digests = {files_digest(each) for each in ({"a": "b"}, {"ab": ""}, {"a": "", "b": ""}, {})}
    assert len(digests) == 4
