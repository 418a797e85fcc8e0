"""Free loopback ports."""

from __future__ import annotations

import os
import random
import socket

# Below Linux' ephemeral range (32768 on): no outgoing connection takes the port between this check and its use.
_FIRST, _LAST = 20000, 32000
_SHARES = 8
"""The last share is for processes that run without xdist."""


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_ports(count: int) -> list[int]:
    """Returns `count` different free ports, chosen at random so that two processes rarely get the same one.

    Processes of pytest-xdist never get the same port: each has its own share, by its number.
    """
    candidates = random.SystemRandom().sample(_share(os.environ.get("PYTEST_XDIST_WORKER", "")), 1000)
    free = (port for port in candidates if is_free(port))
    return [next(free) for _ in range(count)]


def _share(worker: str) -> range:
    number = int(worker.removeprefix("gw")) if worker.startswith("gw") else -1
    return range(_FIRST, _LAST)[number % _SHARES :: _SHARES]
