"""Jars from a directory of the user, checked against its SHA256SUMS: complete or absent."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

import pytest

from paimon_engines.engine import Engine, Jar
from paimon_engines.loader import supported_engines
from tools.engines import fetch

ONE, TWO = b"one jar", b"another jar"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def air_gapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with two jars, and no Maven."""
    given = tmp_path / "given"
    given.mkdir()
    (given / "one-1.jar").write_bytes(ONE)
    (given / "two-2.jar").write_bytes(TWO)
    (given / "SHA256SUMS").write_text(f"{sha256(ONE)}  one-1.jar\n{sha256(TWO)} *two-2.jar\n")
    monkeypatch.setenv(fetch.JARS_DIR_VARIABLE, str(given))
    monkeypatch.setenv("PATH", str(tmp_path))
    return given


def engine_of(*jars: Jar) -> Engine:
    return dataclasses.replace(next(iter(supported_engines().values())), id="some", jars=jars)


ENGINE = engine_of(Jar("g:one:1", None), Jar("g:two:2", sha256(TWO)))


def test_all_jars_come_from_the_directory(air_gapped: Path, tmp_path: Path) -> None:
    had = fetch.fetch(ENGINE, tmp_path / "into")

    assert had.directory == tmp_path / "into" / "some"
    assert sorted(path.name for path in had.directory.iterdir()) == ["one-1.jar", "two-2.jar"]


def test_engines_with_different_jars_have_different_directories_in_the_cache(
    air_gapped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAIMON_OPERATOR_CACHE", str(tmp_path / "cache"))
    both, one = fetch.fetch(ENGINE).directory, fetch.fetch(engine_of(Jar("g:one:1", None))).directory

    assert both is not None
    assert one is not None
    assert sorted(path.name for path in both.iterdir()) == ["one-1.jar", "two-2.jar"]
    assert [path.name for path in one.iterdir()] == ["one-1.jar"]


def test_a_jar_changed_in_the_cache_is_fetched_again(air_gapped: Path, tmp_path: Path) -> None:
    had = fetch.fetch(ENGINE, tmp_path / "into")
    assert had.directory is not None
    (had.directory / "one-1.jar").write_bytes(b"spoilt")

    fetch.fetch(ENGINE, tmp_path / "into")

    assert (had.directory / "one-1.jar").read_bytes() == ONE


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("one-1.jar", b"spoilt", "one-1.jar has sha256"),
        ("SHA256SUMS", f"{sha256(ONE)} one-1.jar\n{sha256(ONE)} two-2.jar\n".encode(), "two-2.jar has sha256"),
        ("SHA256SUMS", f"{sha256(ONE)} one-1.jar\n".encode(), "two-2.jar: mvn is not on PATH"),
        ("SHA256SUMS", None, "has no SHA256SUMS"),
        ("one-1.jar", None, "is listed in SHA256SUMS but is not there"),
    ],
    ids=["spoilt jar", "wrong sum", "jar not listed", "no sums", "jar missing"],
)
def test_an_error_is_reported_and_no_file_is_left(
    air_gapped: Path, tmp_path: Path, file: str, content: bytes | None, words: str
) -> None:
    if content is None:
        (air_gapped / file).unlink()
    else:
        (air_gapped / file).write_bytes(content)

    had = fetch.fetch(ENGINE, tmp_path / "into")

    assert had.directory is None
    assert words in had.reason
    assert list((tmp_path / "into").iterdir()) == []


def test_a_jar_pinned_in_engines_yaml_is_checked_against_the_pinned_sum(air_gapped: Path, tmp_path: Path) -> None:
    had = fetch.fetch(engine_of(Jar("g:one:1", sha256(TWO))), tmp_path / "into")

    assert had.directory is None
    assert f"expected {sha256(TWO)}" in had.reason


def test_a_jar_of_maven_is_checked_against_the_sum_of_its_release_and_one_of_the_directory_is_not(
    air_gapped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def copy(jars: list[Jar], target: Path) -> None:
        for jar in jars:
            (target / jar.file_name).write_bytes(ONE)

    monkeypatch.setattr(fetch, "_copy_through_maven", copy)
    released, other = (Jar("g:one:1", None, hashlib.sha512(each).hexdigest()) for each in (ONE, TWO))
    assert fetch.fetch(engine_of(other), tmp_path / "given").directory is not None

    monkeypatch.delenv(fetch.JARS_DIR_VARIABLE)
    had = fetch.fetch(engine_of(other), tmp_path / "other")
    assert (had.directory, "one-1.jar has sha512" in had.reason) == (None, True)
    assert fetch.fetch(engine_of(released), tmp_path / "released").directory is not None


def test_every_jar_has_a_pinned_sum() -> None:
    jars = [jar for engine in supported_engines().values() for jar in engine.jars]
    assert [jar.artifact for jar in jars if not (jar.sha256 or jar.sha512)] == []
