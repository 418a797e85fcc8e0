"""What a user's image build needs of a registry where the machine reaches none with public images: a base image."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from tests.cluster.cache import locked
from tests.cluster.images import storage
from tests.cluster.images.context import link
from tests.cluster.images.rootfs import SPARK_PACKAGES, rootfs
from tests.cluster.layout import Layout
from tests.cluster.registry import Registry

PACKAGES: Final = (*SPARK_PACKAGES, "maven", "python3-pip")
"""Where a base image has them, the build asks no apt-get, whose mirror only this machine knows."""
TRUSTED: Final = ("certs/ca-certificates.crt", "certs/java/cacerts")
"""Authorities of this machine, below /etc/ssl: those of its way to PyPI and Maven."""


def builder_flags(registry: str) -> dict[str, str]:
    """Variables of `make` with which buildah takes the base image from this registry, which has no TLS."""
    flags = f"--tls-verify=false --build-arg=BASE_IMAGE={registry}/base:1"
    return {"BUILD_FLAGS": flags, "PUSH_FLAGS": "--tls-verify=false"}


def push_base(registry: str, directory: Path) -> None:
    """Makes the base image from Debian's packages in a new directory, and pushes it."""
    directory.mkdir()
    link(rootfs(PACKAGES), directory / "rootfs.tar")
    for name in TRUSTED:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path("/etc/ssl") / name, directory / name)
    text = "FROM scratch\nADD rootfs.tar /\nCOPY certs /etc/ssl/certs\nENV LANG=C.UTF-8\n"
    (directory / "Dockerfile").write_text(text)
    push_built("base", directory, registry)


def push_built(name: str, context: Path, registry: str) -> None:
    """Builds the context and pushes it as `<registry>/<name>:1`."""
    tag = f"localhost/person-{name}:1"
    with locked("images"):
        storage.build(tag, dockerfile=context / "Dockerfile", context=context, arguments={})
        storage.publish(tag, f"{registry}/{name}:1", plain_http=True)


def pull_by_the_name_that_a_user_pushes(layout: Layout, running: Registry) -> None:
    """The loopback port of the host is the registry's address for containerd as well, as kind does it."""
    hosts = layout.state / "registries" / running.on_host / "hosts.toml"
    hosts.parent.mkdir(parents=True)
    hosts.write_text(f'[host."http://{running.in_cluster}"]\n  capabilities = ["pull", "resolve"]\n')
