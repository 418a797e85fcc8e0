"""`make image-context`: the build contexts for a machine without a network, filled by an ordinary user's programs."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.cluster.cache import CHECKOUT
from tools.images.lock import ARCHITECTURES, architecture

pytestmark = [
    pytest.mark.xdist_group("image-context"),
    pytest.mark.long,
]  # one process: each would fill the same directories again

PROGRAMS: Final = (
    "sh", "bash", "env", "dirname", "readlink", "uname", "ls", "rm", "mkdir", "tar", "gzip", "sed", "grep", "cat",
    "expr", "java", "javac", "mvn",
)  # fmt: skip
"""What pip, Maven and the JDK call. No apt-get, no debootstrap, no image builder, and nothing else of root's."""


@pytest.fixture(scope="module")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The contexts, filled where no other program is found."""
    directory = tmp_path_factory.mktemp("bin")
    for program in PROGRAMS:
        (directory / program).symlink_to(shutil.which(program) or pytest.fail(f"{program} is missing"))
    done = subprocess.run(
        [sys.executable, "-m", "tests.cluster", "context"],
        cwd=CHECKOUT,
        env={**os.environ, "PATH": str(directory)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [Path(line) for line in done.stdout.splitlines()]


def test_a_context_of_each_image_is_filled_without_apt_get_and_debootstrap(contexts: list[Path]) -> None:
    assert contexts[0].name == "operator"
    assert all((path / "prefetched" / "wheels").is_dir() for path in contexts)
    assert all(any((path / "prefetched" / "jars").iterdir()) for path in contexts[1:])


def test_no_file_of_a_context_is_for_another_architecture(contexts: list[Path]) -> None:
    """Jars hold the libraries of every architecture, and the JVM takes its own."""
    mine = architecture(platform.machine())
    others = tuple(each for each in ARCHITECTURES if each != mine)
    files = [path for context in contexts for path in context.rglob("*") if path.is_file()]
    wheels = [path.name for path in files if path.suffix == ".whl"]
    assert any(mine in name for name in wheels), "no wheel with compiled parts: the search has gone blind"
    assert [name for name in wheels if any(other in name for other in others)] == []
    assert [path for path in files if path.suffix not in (".whl", ".jar") and path.read_bytes()[:4] == b"\x7fELF"] == []
