"""Files as they were when they were first read."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.remembered import MOST_BYTES, MOST_FILES, MOST_NAMES, RememberedFiles, RememberedTimedFiles
from spark_apps.metadata.volume import VolumeFiles
from tests.support.recorded_files import Recorded


def test_what_is_read_again_is_as_it_was(tmp_path: Path) -> None:
    hint, missing, recorded = tmp_path / "LATEST", tmp_path / "snapshot-2", Recorded()
    files = RememberedFiles(recorded)
    hint.write_text("1")

    def found() -> tuple[object, ...]:
        stamped = files.read_stamped(str(hint))
        read = files.read(str(hint)), files.read(str(missing))
        return (*read, stamped and stamped.content, *files.names(str(tmp_path)))

    first = found()
    hint.write_text("2")
    missing.write_text("{}")
    assert (first, found()) == ((b"1", None, b"1", "LATEST"),) * 2
    assert recorded.asked == ["LATEST", "LATEST", "snapshot-2", f"{tmp_path.name}/"]


def test_a_bound_holds_for_what_is_remembered(tmp_path: Path) -> None:
    file, files = tmp_path / "f", RememberedFiles(VolumeFiles())
    file.write_bytes(b"12345")
    assert files.read(str(file)) == b"12345"
    with pytest.raises(UnreadableError, match="more than 4 bytes"):
        files.read(str(file), 4)


def test_what_is_large_is_read_again(tmp_path: Path) -> None:
    recorded, manifest, directory = Recorded(), tmp_path / "manifest", tmp_path / "directory"
    files = RememberedFiles(recorded)
    manifest.write_bytes(bytes(MOST_BYTES + 1))
    directory.mkdir()
    for number in range(MOST_NAMES + 1):
        (directory / f"{number}").touch()
    for _ in range(2):
        assert len(files.read(str(manifest)) or b"") == MOST_BYTES + 1
        assert len(list(files.names(str(directory)))) == MOST_NAMES + 1
    assert recorded.asked == ["manifest", "directory/"] * 2


def test_times_are_those_of_now(tmp_path: Path) -> None:
    files = RememberedTimedFiles(VolumeFiles())
    assert list(files.times(str(tmp_path))) == []
    (tmp_path / "consumer-a").touch()
    assert [name for name, _ in files.times(str(tmp_path))] == ["consumer-a"]


def test_the_contents_of_a_number_of_files_are_remembered(tmp_path: Path) -> None:
    recorded = Recorded()
    files = RememberedFiles(recorded)
    for _ in range(2):
        for number in range(MOST_FILES + 1):
            files.read(str(tmp_path / f"{number}"))
    assert recorded.asked[MOST_FILES:] == [f"{MOST_FILES}"] * 2
