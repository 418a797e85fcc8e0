"""buildah with a store of its own in the cache: builds without a network, copies to the node or to a registry."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.cluster.cache import cache_root
from tests.cluster.packages import IMAGES, install, require_root
from tests.cluster.progress import CommandFailedError, run, run_with_progress

# A mount namespace of its own, so that the store leaves no mount behind; a network namespace of its own, so that a
# build that asks the network for anything fails. The loopback must be up: Spark's training run talks to itself.
_WITHOUT_NETWORK = ("unshare", "--mount", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
_WITHOUT_MOUNTS = ("unshare", "--mount")


def _buildah(*arguments: str) -> list[str]:
    store = cache_root() / "images"
    run_root = Path("/run") / f"paimon-images-{hashlib.sha256(str(store).encode()).hexdigest()[:6]}"
    return ["buildah", "--root", str(store), "--runroot", str(run_root), *arguments]


def _environment() -> dict[str, str]:
    # chroot isolation: works where no container may make another one.
    driver = os.environ.get("STORAGE_DRIVER", "overlay")
    return {**os.environ, "BUILDAH_ISOLATION": "chroot", "STORAGE_DRIVER": driver}


def exists(tag: str) -> bool:
    """Returns whether the store has the image."""
    try:
        run([*_WITHOUT_MOUNTS, *_buildah("inspect", "--type", "image", tag)], env=_environment())
    except CommandFailedError:
        return False
    return True


def build(tag: str, *, dockerfile: Path, context: Path, arguments: Mapping[str, str]) -> None:
    """Builds `tag`; layers whose inputs did not change are taken from earlier builds."""
    require_root()
    install(IMAGES)
    options = [f"--build-arg={name}={value}" for name, value in arguments.items()]
    options += ["--layers", "--pull=never", "--format=oci", f"--file={dockerfile}", f"--tag={tag}"]
    command: Sequence[str] = [*_WITHOUT_NETWORK, *_buildah("build", *options, str(context))]
    run_with_progress(f"building image {tag}", command, env=_environment())


def publish(tag: str, reference: str, *, plain_http: bool) -> str:
    """Pushes the image as `reference` to a registry that this machine reaches by itself. Returns the digest there."""
    with tempfile.NamedTemporaryFile("r") as digest:
        options = [f"--tls-verify={str(not plain_http).lower()}", "--quiet", f"--digestfile={digest.name}"]
        command = [*_WITHOUT_MOUNTS, *_buildah("push", *options, tag, f"docker://{reference}")]
        run_with_progress(f"pushing {reference}", command, env=_environment())
        return digest.read().strip()


def save(tag: str, archive: Path, reference: str) -> None:
    """Writes the image into a tar archive, in which it is named `reference`; its layers are not compressed."""
    command = [*_WITHOUT_MOUNTS, *_buildah("push", "--quiet", tag, f"docker-archive:{archive}:{reference}")]
    run_with_progress(f"copying {reference}", command, env=_environment())
