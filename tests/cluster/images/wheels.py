"""Python packages for the images, fetched by the host so that the builds need no network.

Each file is one of those in tools/images/*.txt, by its hash.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.cache import cached
from tests.cluster.images.digest import digest
from tests.cluster.progress import run_with_progress
from tools.images.lock import DIRECTORY, LIBCS, PYTHON, architecture

PIP_LIST, OPERATOR_LIST, SPARK_LIST, PYSPARK_LIST = (
    DIRECTORY / f"{name}.txt" for name in ("pip", "operator", "spark", "pyspark")
)
_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")


def download(*lists: Path) -> Path:
    """Returns a directory with the wheels of the lists for this machine's architecture."""
    key = digest(files=lists, texts=[architecture(platform.machine())])
    return cached("wheelhouse", key, lambda into: _download(lists, into))


def _download(lists: Sequence[Path], into: Path) -> None:
    # Wheels with compiled parts must be for the Python of the base images, whatever runs this.
    target = ["--only-binary=:all:", f"--python-version={PYTHON}", "--implementation=cp"]
    target += [f"--platform={libc}_{architecture(platform.machine())}" for libc in LIBCS]
    wanted = [f"--requirement={each}" for each in lists]
    command = [*_PIP, "download", "--quiet", "--require-hashes", "--no-deps", f"--dest={into}", *target, *wanted]
    run_with_progress(f"fetching the wheels of {', '.join(each.name for each in lists)}", command)


def pyspark() -> Path:
    """Returns the wheel of pyspark, built once: PyPI has only its source archive (318 MB).

    It is not compressed, because its jars are.
    """

    def build(into: Path) -> None:
        stored = "--config-settings=--build-option=--compression=stored"
        command = [*_PIP, "wheel", "--quiet", "--require-hashes", "--no-deps", stored, f"--wheel-dir={into}"]
        run_with_progress("building the wheel of pyspark", [*command, f"--requirement={PYSPARK_LIST}"])

    return next(cached("pyspark", digest(files=[PYSPARK_LIST]), build).glob("pyspark-*.whl"))
