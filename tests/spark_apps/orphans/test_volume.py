"""Files on a volume: listed with their times, moved and removed. The time of the storage is that of a file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from spark_apps.orphans import volume
from spark_apps.orphans.files import ChangeFailedError, ListedFile
from spark_apps.orphans.times import moment_of
from spark_apps.orphans.volume import VolumeStorage

STORAGE = VolumeStorage()


def test_all_files_below_a_directory_are_listed_with_size_and_time(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    for path, size in (("one", 1), ("a/two", 2), ("a/b/three", 3)):
        (tmp_path / path).write_bytes(b"x" * size)
        os.utime(tmp_path / path, ns=(0, size * 1_000_000))
    (tmp_path / "link").symlink_to(tmp_path / "one")
    (tmp_path / "linked").symlink_to(tmp_path / "a")
    found = sorted(STORAGE.walk(f"file://{tmp_path}"))
    assert found == [ListedFile("a/b/three", 3, 3), ListedFile("a/two", 2, 2), ListedFile("one", 1, 1)]
    assert list(STORAGE.walk(f"file://{tmp_path}/none")) == []


def test_a_temporary_file_that_a_writer_renames_during_the_listing_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".snapshot-4.tmp").write_bytes(b"x")
    (tmp_path / "snapshot-3").write_bytes(b"xx")
    entries = volume._entries

    def then_renamed(directory: Path) -> list[os.DirEntry[str]]:
        found = entries(directory)
        (tmp_path / ".snapshot-4.tmp").rename(tmp_path / "snapshot-4")
        return found

    monkeypatch.setattr(volume, "_entries", then_renamed)
    assert [each.path for each in STORAGE.walk(f"file://{tmp_path}")] == ["snapshot-3"]


def test_a_file_is_written_moved_and_removed(tmp_path: Path) -> None:
    one, two = f"file://{tmp_path}/x/one", f"file://{tmp_path}/y/z/two"
    STORAGE.write(one, b"first")
    STORAGE.write(one, b"second")
    STORAGE.move(one, two)
    assert STORAGE.status(one) is None
    assert STORAGE.read(two) == b"second"
    STORAGE.delete(two)
    STORAGE.delete(two)
    assert list(STORAGE.walk(f"file://{tmp_path}")) == []


def test_only_empty_directories_are_pruned(tmp_path: Path) -> None:
    (tmp_path / "q" / "empty" / "inner").mkdir(parents=True)
    (tmp_path / "q" / "full").mkdir()
    (tmp_path / "q" / "full" / "file").write_text("kept")
    STORAGE.prune(f"file://{tmp_path}/q")
    assert [each.name for each in (tmp_path / "q").iterdir()] == ["full"]
    STORAGE.prune(f"file://{tmp_path}/none")


def test_a_file_that_cannot_be_moved_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(ChangeFailedError, match="none"):
        STORAGE.move(f"file://{tmp_path}/none", f"file://{tmp_path}/there")


def test_the_time_of_the_storage_is_that_of_a_file_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_apps.orphans.times.time.time_ns", lambda: 7_000_000)
    found = moment_of(STORAGE, f"file://{tmp_path}/own")
    assert found.driver_ms == 7
    assert found.storage_ms == (tmp_path / "own" / "clock").stat().st_mtime_ns // 1_000_000
