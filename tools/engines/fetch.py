"""Brings engines' jars onto this machine: `python -m tools.engines.fetch [--engine ID] [--into DIR]`.

Each jar comes from the directory named by PAIMON_OPERATOR_JARS_DIR when it is there (checked against that directory's
SHA256SUMS), else through Maven by its coordinates. The result is DIR/<engine>/*.jar, or a directory of the cache
outside the checkout. It is complete or absent, and holds nothing else, so it can be put on a class path as it is.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from paimon_engines.engine import Engine, Jar
from paimon_engines.loader import supported_engines

JARS_DIR_VARIABLE = "PAIMON_OPERATOR_JARS_DIR"
COPY_PLUGIN = ("org.apache.maven.plugins", "maven-dependency-plugin", "3.6.1")


class JarUnavailableError(Exception):
    """A jar cannot be had, or is not what engines.yaml or SHA256SUMS says. The message says which and what to do."""


@dataclass(frozen=True)
class Availability:
    """Whether one engine's jars are on this machine, and if not, why not."""

    engine: Engine
    directory: Path | None
    reason: str


def cache_dir() -> Path:
    """The directory for everything that is fetched once per version: $PAIMON_OPERATOR_CACHE, else below ~/.cache."""
    named = os.environ.get("PAIMON_OPERATOR_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "paimon-operator"


def fetch(engine: Engine, into: Path | None = None) -> Availability:
    """Completes `into`/<engine id> and says where it is; a jar already there is checked, not fetched again."""
    directory = into / engine.id if into else _cached(engine)
    directory.parent.mkdir(parents=True, exist_ok=True)
    try:
        if not _complete(engine, directory):
            with tempfile.TemporaryDirectory(dir=directory.parent, prefix=f".{engine.id}-") as half:
                collected = Path(half) / "jars"
                collected.mkdir()
                _collect(engine, collected)
                shutil.rmtree(directory, ignore_errors=True)
                collected.rename(directory)  # in one step: no other process sees half a class path
    except JarUnavailableError as unavailable:
        return Availability(engine, None, str(unavailable))
    return Availability(engine, directory, f"{len(engine.jars)} jars in {directory}")


def _cached(engine: Engine) -> Path:
    """By the names of its jars: checkouts that want others share the cache and never each other's class path."""
    names = " ".join(jar.file_name for jar in engine.jars)
    return cache_dir() / "engines" / f"{engine.id}-{hashlib.sha256(names.encode()).hexdigest()[:8]}"


def _complete(engine: Engine, directory: Path) -> bool:
    vouched = _directory_sums()
    for jar in engine.jars:
        path, (algorithm, expected) = directory / jar.file_name, _expected(jar, vouched)
        if not path.is_file() or (expected and _hash(path, algorithm) != expected):
            return False
    return True


def _expected(jar: Jar, vouched: dict[str, str]) -> tuple[str, str | None]:
    """Algorithm and hash of a jar; None where nothing is known. `vouched`: the sums of the directory of jars."""
    sha256 = jar.sha256 or vouched.get(jar.file_name)
    return ("sha256", sha256) if sha256 else ("sha512", jar.sha512)


def _collect(engine: Engine, target: Path) -> None:
    vouched = _directory_sums()
    given = [jar for jar in engine.jars if jar.file_name in vouched]
    for jar in given:
        source = Path(os.environ[JARS_DIR_VARIABLE]) / jar.file_name
        if not source.is_file():
            raise JarUnavailableError(f"{source} is listed in SHA256SUMS but is not there; add it or remove its line")
        shutil.copy2(source, target)
        _verify(target / jar.file_name, "sha256", vouched[jar.file_name])
    from_maven = [jar for jar in engine.jars if jar not in given]
    if from_maven:
        _copy_through_maven(from_maven, target)
    for jar in engine.jars:
        algorithm, expected = _expected(jar, vouched)
        if expected and expected != vouched.get(jar.file_name):  # (that one is verified above)
            _verify(target / jar.file_name, algorithm, expected)


def _directory_sums() -> dict[str, str]:
    named = os.environ.get(JARS_DIR_VARIABLE)
    if not named:
        return {}
    sums = Path(named) / "SHA256SUMS"
    if not sums.is_file():
        raise JarUnavailableError(f"{JARS_DIR_VARIABLE}={named} has no SHA256SUMS; write one with: sha256sum *.jar")
    pairs = (line.split(maxsplit=1) for line in sums.read_text(encoding="utf-8").splitlines() if line.strip())
    return {name.lstrip("*").strip(): digest for digest, name in pairs}


def _verify(path: Path, algorithm: str, expected: str) -> None:
    found = _hash(path, algorithm)
    if found != expected:
        raise JarUnavailableError(f"{path.name} has {algorithm} {found}, expected {expected}; get the jar again")


def _hash(path: Path, algorithm: str) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, algorithm).hexdigest()


def _copy_through_maven(jars: list[Jar], target: Path) -> None:
    """Runs dependency:copy from a pinned pom; Maven's own settings say where from. -C refuses bad checksums."""
    if shutil.which("mvn") is None:
        names = ", ".join(jar.file_name for jar in jars)
        raise JarUnavailableError(
            f"{names}: mvn is not on PATH; install Maven or put the jars into {JARS_DIR_VARIABLE}"
        )
    with tempfile.TemporaryDirectory() as work:
        pom = Path(work) / "pom.xml"
        pom.write_text(_pom(jars, target), encoding="utf-8")
        done = subprocess.run(
            ["mvn", "-q", "-B", "-C", "-f", str(pom), "dependency:copy"], capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        raise JarUnavailableError(_maven_reason(done.stdout))


def _maven_reason(output: str) -> str:
    """One sentence out of Maven's log, without the host names in it."""
    missing = re.search(r"[\w.-]+:[\w.-]+:jar:[\w.-]+", output)
    errors = [line for line in output.splitlines() if "[ERROR]" in line]
    said = (
        f"has no {missing[0]}" if missing else re.sub(r"\w+://\S+", "the repository", (errors or ["failed"])[0])[:300]
    )
    return f"Maven {said}; put the jar and a SHA256SUMS into a directory and name it in {JARS_DIR_VARIABLE}"


def _pom(jars: list[Jar], target: Path) -> str:
    items = "".join(
        f"<artifactItem><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version></artifactItem>"
        for group, name, version in (jar.artifact.split(":") for jar in jars)
    )
    group, plugin, version = COPY_PLUGIN
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>paimon-operator</groupId><artifactId>engine-jars</artifactId><version>1</version><packaging>pom</packaging>"
        f"<build><plugins><plugin><groupId>{group}</groupId><artifactId>{plugin}</artifactId><version>{version}</version>"
        f"<configuration><outputDirectory>{escape(str(target))}</outputDirectory><artifactItems>{items}</artifactItems>"
        "</configuration></plugin></plugins></build></project>"
    )


def main(arguments: list[str] | None = None) -> int:
    """Fetches, prints one line per engine, and returns 0 if every engine asked for (or, if none was, any) is there."""
    parser = argparse.ArgumentParser(prog="python -m tools.engines.fetch", description=__doc__)
    parser.add_argument("--engine", action="append", choices=list(supported_engines()), help="may be repeated")
    parser.add_argument("--into", type=Path, help="directory that receives <engine>/*.jar")
    given = parser.parse_args(arguments)
    results = [fetch(supported_engines()[name], given.into) for name in given.engine or supported_engines()]
    for result in results:
        sys.stdout.write(f"{result.engine.id}: {'ready' if result.directory else 'not available'}, {result.reason}\n")
    return 0 if (all if given.engine else any)(result.directory for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
