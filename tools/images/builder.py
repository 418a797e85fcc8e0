"""An image builder of the user's: docker, podman or buildah, without root and without a program of this project.

BUILDER names it, else the first one that is installed is taken. BUILD_FLAGS and PUSH_FLAGS are added to its commands,
for example `--build-arg BASE_IMAGE=...` or `--tls-verify=false`.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CHECKOUT: Final = Path(__file__).resolve().parents[2]
KNOWN: Final = ("docker", "podman", "buildah")
_FROM_NETWORK: Final = {"PACKAGES": "network"}
"""The Dockerfiles' own default, which buildah 1.28 overlooks where it looks for stages that nothing needs."""


class NoBuilderError(Exception):
    """No image builder is installed. The message says what to do."""


@dataclass(frozen=True)
class ImageBuilder:
    """One program that builds images from the clone and pushes them."""

    program: str
    build_flags: tuple[str, ...] = ()
    push_flags: tuple[str, ...] = ()

    def build(self, reference: str, dockerfile: str, arguments: Mapping[str, str]) -> None:
        """Builds an image from the clone. Raises CalledProcessError."""
        self._build(dockerfile, arguments, f"--tag={reference}")

    def export(self, directory: Path, dockerfile: str, arguments: Mapping[str, str]) -> None:
        """Writes `sbom.cdx.json`, which says what the image of these arguments consists of, into the directory."""
        self._build(dockerfile, arguments, "--target=sbom", f"--output=type=local,dest={directory}")

    def push(self, reference: str) -> str:
        """Pushes an image. Returns its reference by digest. Raises CalledProcessError."""
        with tempfile.NamedTemporaryFile("r") as file:
            flags = [] if Path(self.program).name == "docker" else [f"--digestfile={file.name}"]
            self._run("push", *flags, *self.push_flags, reference)
            digest = file.read().strip()
        repository = reference.rpartition(":")[0]
        return f"{repository}@{digest}" if digest else self._digest_of(reference, repository)

    def _digest_of(self, reference: str, repository: str) -> str:
        """docker tells the digest of what it has pushed in no other way."""
        command = [self.program, "image", "inspect", "--format", '{{join .RepoDigests "\\n"}}', reference]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        return next(line for line in lines if line.startswith(f"{repository}@"))

    def _build(self, dockerfile: str, arguments: Mapping[str, str], *result: str) -> None:
        given = [f"--build-arg={name}={value}" for name, value in {**_FROM_NETWORK, **arguments}.items()]
        layers = ["--layers"] if Path(self.program).name == "buildah" else []
        self._run(
            "build", *layers, *given, *self.build_flags, *result, f"--file={CHECKOUT / dockerfile}", str(CHECKOUT)
        )

    def _run(self, *arguments: str) -> None:
        subprocess.run([self.program, *arguments], check=True)


def image_builder(environment: Mapping[str, str] = os.environ) -> ImageBuilder:
    """The builder that the environment asks for. Raises NoBuilderError."""
    named = environment.get("BUILDER") or next(filter(shutil.which, KNOWN), "")
    if not shutil.which(named):
        wanted = named or "an image builder"
        raise NoBuilderError(f"{wanted} is not installed: install docker, podman or buildah, or name one in BUILDER")
    flags = (tuple(shlex.split(environment.get(name, ""))) for name in ("BUILD_FLAGS", "PUSH_FLAGS"))
    return ImageBuilder(named, *flags)
