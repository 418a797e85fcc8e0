"""Names, paths and ports of the one cluster that belongs to a checkout.

Whatever two clusters on one machine could collide on has the cluster's name, which is made from the checkout's path.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.cache import CHECKOUT
from tests.cluster.ports import free_ports, is_free
from tests.cluster.processes import Daemon

NODE_ADDRESS = "10.77.0.1"
POD_RANGE = "10.78.0.0/24"
API_PORT, S3_PORT, REGISTRY_PORT = 6443, 7070, 5000

FORWARDED = {"api": API_PORT, "s3": S3_PORT, "registry": REGISTRY_PORT}
"""Services on the node address that the host reaches through a loopback port of its own."""


@dataclass(frozen=True)
class Layout:
    """Directories, files and ports of the cluster of one checkout."""

    checkout: Path = CHECKOUT

    @property
    def name(self) -> str:
        """Network namespace, cgroup, node and CNI network: 13 characters (interface names end at 15)."""
        return "paimon-" + hashlib.sha256(str(self.checkout).encode()).hexdigest()[:6]

    @property
    def state(self) -> Path:
        """Files for people (env, kubeconfig, logs), and the images, which `down` keeps."""
        return self.checkout / "build" / "cluster"

    @property
    def run(self) -> Path:
        """Sockets and pid files. Short: a socket's path has at most 108 bytes. Empty after a restart of the machine."""
        return Path("/run") / self.name

    @property
    def kubelet(self) -> Path:
        """Volumes of pods and kubelet's sockets; gone after `down`."""
        return Path("/var/lib") / self.name

    @property
    def env_file(self) -> Path:
        return self.state / "env"

    @property
    def images_file(self) -> Path:
        """References of the images on the node: `{"operator": ref, "spark": {engine: ref}}`."""
        return self.state / "images.json"

    @property
    def kubeconfig(self) -> Path:
        return self.state / "kubeconfig"

    @property
    def audit_log(self) -> Path:
        return self.state / "audit" / "audit.log"

    @property
    def containerd_root(self) -> Path:
        return self.state / "containerd"

    @property
    def containerd_socket(self) -> Path:
        return self.run / "containerd.sock"

    def daemon(self, name: str) -> Daemon:
        return Daemon(name, self.run / "pids" / name, self.state / "log" / f"{name}.log")

    def ports(self) -> dict[str, int]:
        """Returns the host's port of each forwarded service; raises FileNotFoundError before the first `up`."""
        ports: dict[str, int] = json.loads((self.state / "ports.json").read_text())
        return ports

    def choose_ports(self) -> dict[str, int]:
        """Stores a free loopback port per service: the previous ones if they are still free."""
        file = self.state / "ports.json"
        old = json.loads(file.read_text()) if file.exists() else {}
        if set(old) == set(FORWARDED) and all(is_free(port) for port in old.values()):
            return self.ports()
        chosen = dict(zip(FORWARDED, free_ports(len(FORWARDED)), strict=True))
        file.write_text(json.dumps(chosen))
        return chosen
