"""Loopback ports of the host that lead into the cluster's network namespace.

    python -m tests.cluster.forward NAMESPACE 127.0.0.1:31000=10.77.0.1:6443 ...

Listens first and enters the namespace then: a socket stays where it was made, so the listeners are the host's and the
connections that follow are the namespace's.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import sys

_CLONE_NEWNET = 0x40000000
_CHUNK = 1 << 18


def enter_network_namespace(name: str) -> None:
    """Moves the calling thread into the namespace; raises OSError."""
    library = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{name}", "rb") as handle:
        if library.setns(handle.fileno(), _CLONE_NEWNET):
            number = ctypes.get_errno()
            raise OSError(number, f"cannot enter network namespace {name}: {os.strerror(number)}")


async def forward(namespace: str, routes: dict[int, tuple[str, int]]) -> None:
    """Serves `routes` (loopback port -> address inside) until it is stopped."""
    servers = []
    for port, target in routes.items():

        async def connected(
            reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: tuple[str, int] = target
        ) -> None:
            await _serve(reader, writer, target)

        servers.append(await asyncio.start_server(connected, "127.0.0.1", port))
    enter_network_namespace(namespace)
    await asyncio.gather(*(server.serve_forever() for server in servers))


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: tuple[str, int]) -> None:
    try:
        inner_reader, inner_writer = await asyncio.open_connection(*target)
    except OSError:
        # Nothing listens inside: the client must see a broken connection, as it would without the forwarder.
        writer.transport.abort()
        return
    await asyncio.gather(_pump(reader, inner_writer), _pump(inner_reader, writer))
    for end in (writer, inner_writer):
        end.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copies until one side ends, then passes the end on; the other direction may go on (half-closed connections)."""
    with contextlib.suppress(OSError):  # a peer that is gone shows as several different errors
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
            return
    writer.transport.abort()


def main() -> None:
    namespace, *routes = sys.argv[1:]
    parsed = {}
    for route in routes:
        outer, _, inner = route.partition("=")
        host, _, port = inner.rpartition(":")
        parsed[int(outer.rpartition(":")[2])] = (host, int(port))
    asyncio.run(forward(namespace, parsed))


if __name__ == "__main__":
    main()
