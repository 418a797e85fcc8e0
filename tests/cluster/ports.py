"""Free loopback ports."""

from __future__ import annotations

import os
import random
import socket
import threading
from collections import deque

# Below Linux' ephemeral range (32768 on): no outgoing connection takes the port between this check and its use.
_FIRST, _LAST = 20000, 32000
_SHARES = 8
"""The last share is for processes that run without xdist."""
_lock = threading.Lock()
_given: deque[int] = deque(maxlen=100)
"""The last ports, whose servers may not listen yet: other threads do not get them."""


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
    with _lock:
        free = (port for port in candidates if port not in _given and is_free(port))
        ports = [next(free) for _ in range(count)]
        _given.extend(ports)
    return ports


def _share(worker: str) -> range:
    number = int(worker.removeprefix("gw")) if worker.startswith("gw") else -1
    return range(_FIRST, _LAST)[number % _SHARES :: _SHARES]
