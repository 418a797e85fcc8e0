"""The packages of the images, each with the hashes of its files: `python -m tools.images.lock [--check]`.

Writes operator.txt, spark.txt, pyspark.txt and pip.txt beside this file. pip itself resolves what pyproject.toml asks
for, with the versions of constraints.txt, once for each architecture of the images: a package without a wheel for one
of them is an error here. `--check` changes nothing, and fails where a file would change.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

DIRECTORY: Final = Path(__file__).parent
CHECKOUT: Final = DIRECTORY.parents[1]
CONSTRAINTS: Final = CHECKOUT / "constraints.txt"
PYTHON: Final = "3.11"
"""Python of the base images (Debian 12)."""
ARCHITECTURES: Final = ("x86_64", "aarch64")
_SAME: Final = {"amd64": "x86_64", "arm64": "aarch64"}
"""Other names of them: macOS says arm64."""
LIBCS: Final = ("manylinux2014", "manylinux_2_17", "manylinux_2_28")
"""What the C library of Debian 12 can load."""
NO_WHEEL: Final = "pyspark"
"""PyPI has its source archive alone."""
_HEAD: Final = "# Made by `python -m tools.images.lock`: each file that the image builds may take from PyPI.\n"


def architecture(machine: str) -> str:
    """The name that wheels have for a machine. Raises ValueError if there is no list of packages for it."""
    name = _SAME.get(machine, machine)
    if name not in ARCHITECTURES:
        raise ValueError(f"no packages for {machine}: the images are for {' and '.join(ARCHITECTURES)}")
    return name


@dataclass(frozen=True)
class Package:
    """One version of a package, and the SHA-256 of each file that may be taken."""

    name: str
    version: str
    hashes: frozenset[str]

    @property
    def lines(self) -> str:
        """As pip reads it with --require-hashes."""
        hashes = "".join(f" \\\n    --hash=sha256:{each}" for each in sorted(self.hashes))
        return f"{self.name}=={self.version}{hashes}\n"


def wanted() -> Mapping[str, Sequence[str]]:
    """File name -> the requirements whose wheels it lists."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    of_spark = [each for each in project["optional-dependencies"]["spark"] if not each.startswith(NO_WHEEL)]
    return {
        "operator.txt": project["dependencies"],
        "spark.txt": [*of_spark, f"py4j=={_constrained('py4j')}"],
        "pip.txt": [f"pip=={version('pip')}"],
    }


def locked() -> Mapping[str, str]:
    """File name -> its text. Raises CalledProcessError where pip finds no file for an architecture."""
    texts = {}
    for name, requirements in wanted().items():
        found = [package for each in ARCHITECTURES for package in _resolved(requirements, each)]
        texts[name] = _HEAD + "".join(package.lines for package in _merged(found))
    (archive,) = _report([f"{NO_WHEEL}=={_constrained(NO_WHEEL)}", "--no-deps", "--no-binary=:all:"])
    return texts | {"pyspark.txt": _HEAD + archive.lines}


def _constrained(name: str) -> str:
    pinned = dict(line.split("==") for line in CONSTRAINTS.read_text(encoding="utf-8").split())
    return pinned[name]


def _resolved(requirements: Sequence[str], architecture: str) -> Sequence[Package]:
    platforms = [f"--platform={libc}_{architecture}" for libc in LIBCS]
    target = ["--only-binary=:all:", f"--python-version={PYTHON}", "--implementation=cp", *platforms]
    return _report([*target, *requirements])


def _report(arguments: Sequence[str]) -> Sequence[Package]:
    """What pip would install."""
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory) / "report.json"
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--dry-run"]
        command += ["--ignore-installed", f"--target={directory}", f"--report={report}"]
        command += [f"--constraint={CONSTRAINTS}", *arguments]
        subprocess.run(command, check=True)
        return [_package(each) for each in json.loads(report.read_text(encoding="utf-8"))["install"]]


def _package(entry: Mapping[str, Any]) -> Package:
    digest = entry["download_info"]["archive_info"]["hashes"]["sha256"]
    name = entry["metadata"]["name"].lower().replace("_", "-").replace(".", "-")
    return Package(name, entry["metadata"]["version"], frozenset({digest}))


def _merged(found: Sequence[Package]) -> Sequence[Package]:
    """Sorted by name, with the hashes of all architectures."""
    hashes: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for each in found:
        hashes[each.name, each.version] |= each.hashes
    return [Package(name, pinned, frozenset(digests)) for (name, pinned), digests in sorted(hashes.items())]


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 1 where `--check` finds a file that would change."""
    parser = argparse.ArgumentParser(prog="python -m tools.images.lock", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing")
    check = parser.parse_args(arguments).check
    differing = 0
    for name, text in locked().items():
        file = DIRECTORY / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            differing += 1
            sys.stdout.write(f"{name}: {'would change' if check else 'written'}\n")
        if not check:
            file.write_text(text, encoding="utf-8")
    return 1 if check and differing else 0


if __name__ == "__main__":
    sys.exit(main())
