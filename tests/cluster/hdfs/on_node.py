"""The node's HDFS, one of each kind: started when somebody asks, ended by `make down`."""

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
"""Of the NameNode; the others follow, and at last the KDC's."""


def hdfs_of(layout: Layout, kind: str) -> Hdfs:
    """Returns the node's HDFS of that kind, whether it runs or not."""
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
    """Starts what of it does not run, and returns it; two that ask at once get the same."""
    hdfs = hdfs_of(layout, kind)
    with locked(f"{layout.name}-{kind}"):
        hdfs.start()
    return hdfs


def stop_all(layout: Layout) -> None:
    """Ends the processes of both kinds."""
    for kind in _FIRST_PORT:
        hdfs_of(layout, kind).stop()
