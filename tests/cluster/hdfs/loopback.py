"""An HDFS on loopback, for tests without a cluster."""

from __future__ import annotations

from pathlib import Path

from tests.cluster.hdfs.realm import Realm
from tests.cluster.hdfs.servers import Hdfs, directly
from tests.cluster.hdfs.sites import PORTS
from tests.cluster.ports import free_ports
from tests.cluster.processes import Daemon

ADDRESS = "127.0.0.1"


def on_loopback(home: Path, *, secure: bool) -> Hdfs:
    """Returns an HDFS that is not started yet, below `home`."""

    def daemon(name: str) -> Daemon:
        return Daemon(name, home / "pids" / name, home / "log" / f"{name}.log")

    kdc_port, *ports = free_ports(1 + len(PORTS))
    realm = Realm(home / "kdc", ADDRESS, kdc_port, directly, daemon("kdc")) if secure else None
    return Hdfs(home / "hdfs", ADDRESS, dict(zip(PORTS, ports, strict=True)), daemon, realm=realm)
