"""The sandbox (pause) image: a static C program, compiled by the machine's gcc."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.cluster.images.context import fresh
from tests.cluster.packages import IMAGES, install
from tests.cluster.progress import run

SOURCE = Path(__file__).parent / "sandbox" / "pause.c"


def prepare() -> Path:
    """Compiles the program into its build context and returns that."""
    install(IMAGES)
    directory = fresh("pause")
    run(["gcc", "-Os", "-static", "-s", "-Wall", "-Werror", "-o", str(directory / "pause"), str(SOURCE)])
    shutil.copy(SOURCE, directory)
    return directory
