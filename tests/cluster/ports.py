"""Loopback ports nobody uses."""

from __future__ import annotations

import random
import socket

# Below Linux' ephemeral range (32768 on): no outgoing connection takes the port between this check and its use.
_FIRST, _LAST = 20000, 32000


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_ports(count: int) -> list[int]:
    """Returns `count` different free ports. Random, so that two processes asking at once do not get the same."""
    candidates = random.SystemRandom().sample(range(_FIRST, _LAST), 2000)
    free = (port for port in candidates if is_free(port))
    return [next(free) for _ in range(count)]
