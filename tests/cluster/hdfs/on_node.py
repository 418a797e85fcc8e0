"""The node's HDFS, one of each kind, started on demand and stopped by `make down`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tests.cluster import network
from tests.cluster.cache import locked
from tests.cluster.hdfs.realm import Realm
from tests.cluster.hdfs.servers import Hdfs
from tests.cluster.hdfs.sites import PORTS
from tests.cluster.layout import NODE_ADDRESS, Layout
from tests.cluster.processes import Daemon

SIMPLE: Final = "hdfs"
KERBEROS: Final = "kerberos"
_FIRST_PORT: Final = {SIMPLE: 8020, KERBEROS: 8120}
"""Port of the NameNode. The DataNode's ports follow, then the KDC's."""


def hdfs_of(layout: Layout, kind: str) -> Hdfs:
    """Returns the node's HDFS of the kind, running or not."""
    home, first = layout.state / kind, _FIRST_PORT[kind]

    def daemon(name: str) -> Daemon:
        return layout.daemon(f"{kind}-{name}")

    def around(command: Sequence[str]) -> list[str]:
        return network.inside(layout.name, command)

    realm = None
    if kind == KERBEROS:
        realm = Realm(home / "kdc", NODE_ADDRESS, first + len(PORTS), around, daemon("kdc"))
    ports = {name: first + number for number, name in enumerate(PORTS)}
    return Hdfs(home / "hdfs", NODE_ADDRESS, ports, daemon, around, realm)


def start(layout: Layout, kind: str) -> Hdfs:
    """Starts those of its processes that do not run, and returns it. Concurrent calls get the same HDFS."""
    hdfs = hdfs_of(layout, kind)
    with locked(f"{layout.name}-{kind}"):
        hdfs.start()
    return hdfs


def stop_all(layout: Layout) -> None:
    """Stops the processes of both kinds."""
    for kind in _FIRST_PORT:
        hdfs_of(layout, kind).stop()
