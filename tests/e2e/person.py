"""An ordinary user of the machine: an account without root, whose programs are an image builder, kubectl and helm."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.cluster.cache import CHECKOUT
from tests.cluster.processes import wait_until

MISSING: Final = (
    "apt-get",
    "debootstrap",
    "docker",
    "go",
    "gofmt",
    "jar",
    "java",
    "javac",
    "mmdebstrap",
    "mvn",
    "sudo",
)
"""What the machine has and the user has not: each is what only a developer or root needs."""
OF_THE_MACHINE: Final = ("LANG", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE")
"""Variables that every account of this machine has, besides those of pip: where packages come from."""


@dataclass(frozen=True)
class Person:
    """One account with its home."""

    name: str
    home: Path

    @property
    def checkout(self) -> Path:
        """The user's own clone."""
        return self.home / "paimon-operator"

    def own(self, directory: Path) -> None:
        """Makes a directory of this user."""
        directory.mkdir()
        shutil.chown(directory, self.name, self.name)

    def run(
        self, *command: str, variables: Mapping[str, str], seconds: float = 1800
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command in the clone as this user. Its output is one text."""
        machine = {k: v for k, v in os.environ.items() if k.startswith("PIP_") or k in OF_THE_MACHINE}
        env = machine | {
            "HOME": str(self.home),
            "USER": self.name,
            "PATH": str(self.home / "bin"),
            "XDG_RUNTIME_DIR": str(self.home / "run"),
            "BUILDAH_ISOLATION": "chroot",  # a container may make no other one
            "STORAGE_DRIVER": "overlay",  # what it finds by itself copies each layer
            "KUBECONFIG": str(self.home / "kubeconfig"),
        }
        return subprocess.run(
            ["setpriv", f"--reuid={self.name}", f"--regid={self.name}", "--init-groups", *command],
            cwd=self.checkout,
            env=env | dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=seconds,
        )


@contextmanager
def account(name: str, programs: Mapping[str, Path], kubeconfig: Path) -> Iterator[Person]:
    """Adds the account, with a clone of this checkout's commit. Removes it with all its files and processes.

    An account of this name that a killed test has left is removed first.
    """
    if subprocess.run(["id", name], capture_output=True, check=False).returncode == 0:
        _remove(name)
    subprocess.run(["useradd", "--create-home", "--shell", "/bin/bash", name], check=True)
    try:
        person = Person(name, Path("/home") / name)
        _fill_bin(person.home / "bin", programs)
        (person.home / "run").mkdir()
        shutil.copy(kubeconfig, person.home / "kubeconfig")
        subprocess.run(["git", "clone", "--quiet", str(CHECKOUT), str(person.checkout)], check=True)
        subprocess.run(["chown", "--recursive", f"{name}:{name}", str(person.home)], check=True)
        yield person
    finally:
        _remove(name)


def _fill_bin(directory: Path, programs: Mapping[str, Path]) -> None:
    """Links the machine's programs but those that are MISSING, and copies `programs`, which may be root's."""
    directory.mkdir()
    for place in (Path("/usr/sbin"), Path("/usr/bin")):
        for program in place.iterdir():
            if program.name not in MISSING and not (directory / program.name).is_symlink():
                (directory / program.name).symlink_to(program)
    for name, path in programs.items():
        (directory / name).unlink(missing_ok=True)
        shutil.copy(path, directory / name)


def _remove(name: str) -> None:
    """Ends the processes of the account and removes it."""
    for pid in _processes_of(name):
        subprocess.run(["kill", "-KILL", pid], check=False)
    assert wait_until(lambda: not _processes_of(name), timeout=30)
    subprocess.run(["userdel", "--remove", name], check=True, capture_output=True)


def _processes_of(name: str) -> list[str]:
    return subprocess.run(["pgrep", "--uid", name], capture_output=True, text=True, check=False).stdout.split()
