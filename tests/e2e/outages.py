"""Outages of storage, for the duration of a block and for one namespace alone."""

from __future__ import annotations

import signal
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.cluster import s3
from tests.cluster.hdfs.servers import Hdfs
from tests.cluster.layout import NODE_ADDRESS, Layout
from tests.cluster.pki import Identity
from tests.cluster.services import Service
from tests.e2e.lab import Lab

PORTS = range(20000, 30000)
"""Ports of S3 servers for single tests, below those that the kernel gives to clients."""


@dataclass(frozen=True)
class DedicatedS3:
    """Another S3 server over the same buckets. Its outage affects only those who use it."""

    port: int
    layout: Layout = field(default_factory=Layout)
    tls: Identity | None = None

    @classmethod
    def of(cls, lab: Lab, tls: Identity | None = None) -> DedicatedS3:
        """The server for this lab alone. It may not run yet."""
        return cls(PORTS[zlib.crc32(lab.namespace.encode()) % len(PORTS)], lab.layout, tls)

    @property
    def endpoint(self) -> str:
        """The server's address for Pods."""
        return f"{'https' if self.tls else 'http'}://{NODE_ADDRESS}:{self.port}"

    def start(self) -> None:
        """Starts it and waits until it listens."""
        service = self._service()
        service.start(self.layout)
        service.wait(self.layout)

    def stop(self) -> None:
        """Stops it, so that connections are refused. The data stays."""
        self._service().stop(self.layout)

    @contextmanager
    def outage(self) -> Iterator[None]:
        """Stops it for the duration of the block."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    def _service(self) -> Service:
        name = f"s3-dedicated-{self.port}"
        return Service(
            name,
            lambda layout: s3.command(layout, port=self.port, log=name, tls=self.tls),
            lambda layout: layout.daemon(name).listens(self.port),
            environment=s3.environment,
        )


@contextmanager
def without_datanode(hdfs: Hdfs) -> Iterator[None]:
    """Stops the DataNode for the duration of the block. The NameNode runs, but no file can be read or written."""
    hdfs.datanode.stop(signal.SIGKILL)
    try:
        yield
    finally:
        hdfs.start_datanode()


@contextmanager
def dedicated_s3_of(lab: Lab, tls: Identity | None = None) -> Iterator[DedicatedS3]:
    """Starts an S3 server for this lab alone and changes the lab's catalog to it."""
    server = DedicatedS3.of(lab, tls)
    server.start()
    try:
        lab.kubectl.apply(lab.catalog(endpoint=server.endpoint))
        yield server
    finally:
        server.stop()
