"""Python packages for the images, fetched by the host so that the builds need no network. Versions: constraints.txt."""

from __future__ import annotations

import platform
import sys
import tomllib
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from tests.cluster.cache import CHECKOUT, cached
from tests.cluster.images.digest import digest
from tests.cluster.progress import run_with_progress

PYTHON = "3.11"
"""Python of the base images (Debian 12): wheels with compiled parts must be for it, whatever runs this script."""

_CONSTRAINTS = CHECKOUT / "constraints.txt"
_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")


def operator_requirements() -> list[str]:
    """Returns what the operator itself needs: the project's dependencies without extras."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    return list(project["dependencies"])


def download(requirements: Sequence[str]) -> Path:
    """Returns a directory with the wheels of `requirements`, of all they need, and pip itself to install them."""
    wanted = [*requirements, f"pip=={version('pip')}"]
    key = digest(files=[_CONSTRAINTS], texts=[*wanted, PYTHON, platform.machine()])
    return cached("wheelhouse", key, lambda into: _download(wanted, into))


def _download(requirements: Sequence[str], into: Path) -> None:
    target = ["--only-binary=:all:", f"--python-version={PYTHON}", "--implementation=cp"]
    for libc in ("manylinux2014", "manylinux_2_17", "manylinux_2_28"):
        target.append(f"--platform={libc}_{platform.machine()}")
    command = [*_PIP, "download", "--quiet", f"--constraint={_CONSTRAINTS}", f"--dest={into}", *target, *requirements]
    run_with_progress(f"fetching wheels of {len(requirements)} packages", command)


def pyspark(pinned: str) -> Path:
    """Returns the wheel of pyspark `pinned`, built once: PyPI has only its source archive (318 MB).

    It is not compressed, because its jars are.
    """

    def build(into: Path) -> None:
        stored = "--config-settings=--build-option=--compression=stored"
        command = [*_PIP, "wheel", "--quiet", "--no-deps", stored, f"--wheel-dir={into}", f"pyspark=={pinned}"]
        run_with_progress(f"building the wheel of pyspark {pinned}", command)

    return next(cached("pyspark", pinned, build).glob("pyspark-*.whl"))


def project(into: Path) -> None:
    """Builds the project's own wheel into the directory."""
    command = [*_PIP, "wheel", "--quiet", "--no-deps", f"--wheel-dir={into}", str(CHECKOUT)]
    run_with_progress("building the project's wheel", command)
