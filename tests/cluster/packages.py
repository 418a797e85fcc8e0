"""Debian packages of the machine that the node and the image builds need; installed when missing."""

from __future__ import annotations

import os
import shutil

from tests.cluster.cache import locked
from tests.cluster.progress import run_with_progress

# Package by one program of it (found on PATH, in /usr/sbin or under /usr/lib/cni).
NODE = {
    "containerd": "containerd",
    "runc": "runc",
    "/usr/lib/cni/bridge": "containernetworking-plugins",
    "iptables": "iptables",
    "conntrack": "conntrack",
    "ethtool": "ethtool",
    "ip": "iproute2",
    "nsenter": "util-linux",
    "openssl": "openssl",
    "mount": "mount",
}
IMAGES = {"buildah": "buildah", "mmdebstrap": "mmdebstrap", "gcc": "gcc", "tar": "tar"}

SYSTEM_PATH = f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/sbin:/sbin"


class MachineError(RuntimeError):
    """This machine cannot run the node. The message states what to do."""


def require_root() -> None:
    """Raises MachineError unless this process may make network namespaces and mounts."""
    if os.geteuid() != 0:
        raise MachineError("the node needs root: network namespaces, mounts, cgroups. Run the command as root.")


def install(programs: dict[str, str]) -> None:
    """Installs the packages of the programs that are missing, from the machine's own apt sources."""
    with locked("apt"):
        missing = sorted({package for program, package in programs.items() if not _present(program)})
        if not missing:
            return
        if not shutil.which("apt-get"):
            raise MachineError(f"missing: {', '.join(missing)}. This machine has no apt-get: install them yourself.")
        require_root()
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        run_with_progress("apt-get update", ["apt-get", "update", "-qq"], env=environment)
        command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing]
        run_with_progress(f"apt-get install {' '.join(missing)}", command, env=environment)


def _present(program: str) -> bool:
    return shutil.which(program, path=SYSTEM_PATH) is not None
