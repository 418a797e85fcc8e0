"""What can be shown of arm64 without such a machine: every package of the images exists for it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.cluster.cache import CHECKOUT
from tools.images import lock

pytestmark = pytest.mark.long

DEBIAN: Final = {"x86_64": "amd64", "aarch64": "arm64"}
BINARIES: Final = (b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe")
"""How programs of Linux, Windows and macOS begin."""


def test_pip_resolves_each_package_of_the_images_for_each_architecture() -> None:
    found = lock.locked()
    kept = {name: (lock.DIRECTORY / name).read_text() for name in found}
    assert found == kept, "run: make lock"


@pytest.mark.parametrize("architecture", lock.ARCHITECTURES)
def test_debian_has_each_package_that_the_dockerfiles_install(architecture: str, tmp_path: Path) -> None:
    wanted = debian_packages()
    assert {"python3", "openjdk-17-jre-headless", "maven", "python3-pip"} <= wanted
    simulated = in_apt(tmp_path, DEBIAN[architecture], "install", "--simulate", "--no-install-recommends", *wanted)
    installed = set(re.findall(r"^Inst (\S+?)(?::\S+)? ", simulated, re.MULTILINE))
    assert wanted <= installed


def test_a_clone_holds_no_program_of_any_architecture() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, check=True).stdout
    files = [CHECKOUT / name for name in listed.decode().split("\0") if name]
    assert len(files) > 1000
    assert not [file for file in files if file.is_file() and file.read_bytes().startswith(BINARIES)]


def debian_packages() -> set[str]:
    """All that an `apt-get install` of a Dockerfile names."""
    found: set[str] = set()
    for name in ("Dockerfile", "Dockerfile.spark"):
        text = (CHECKOUT / name).read_text().replace("\\\n", " ")
        for packages in re.findall(r"--no-install-recommends\s+([a-z0-9 .+-]+)", text):
            found |= set(packages.split())
    return found


def in_apt(directory: Path, architecture: str, *command: str) -> str:
    """What apt-get says about Debian for an architecture, with lists and a state of its own."""
    for name in ("state/lists/partial", "cache/archives/partial"):
        (directory / name).mkdir(parents=True)
    (directory / "status").touch()
    options = {
        "Dir::State": directory / "state",
        "Dir::State::status": directory / "status",
        "Dir::Cache": directory / "cache",
        "APT::Architecture": architecture,
        "APT::Architectures": architecture,
        "Debug::NoLocking": "1",
        "APT::Sandbox::User": "root",
    }
    apt = ["apt-get", "--quiet=2", *(f"--option={name}={value}" for name, value in options.items())]
    subprocess.run([*apt, "update"], check=True)
    return subprocess.run([*apt, *command], check=True, capture_output=True, text=True).stdout
