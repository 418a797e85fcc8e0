"""A proxy before an API server that ends its client's process right after the API server has stored a write.

The writes of one process pass one after the other, and none passes after its end. So a test reaches every gap between
two writes, whatever order the process chooses.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final, TypeVar

from tests.apiserver.forwarding_proxy import ForwardingHandler, ForwardingProxy, forwarding
from tests.cluster.apiserver import ApiServer

_RESOURCE: Final = re.compile(r"/(?:api/v1|apis/[^/]+/[^/]+)(?:/namespaces/[^/]+)?/([a-z]+)(?:/[^/?]+(/[a-z]+)?)?")
_UNCOUNTED: Final = frozenset({"leases", "selfsubjectaccessreviews", "selfsubjectrulesreviews"})
"""Writes that store no state of an object: a Lease is stored every few seconds."""


class KillingProxy(ForwardingProxy):
    """`writes` are those of all processes, as `PATCH paimontables/status`. After `arm` the next write is the last."""

    def __init__(self, server: ApiServer) -> None:
        super().__init__(server)
        self.writes: list[str] = []
        self.turn = threading.Lock()
        self._kill: Callable[[], None] | None = None
        self._dead = False

    def arm(self, kill: Callable[[], None]) -> None:
        """The new process is ended by `kill` after its next write."""
        with self.turn:
            self._kill, self._dead = kill, False

    def disarm(self) -> None:
        """The next process lives."""
        with self.turn:
            self._kill, self._dead = None, False

    def disarm_if_alive(self) -> None:
        """The armed process lives, unless it was ended already."""
        with self.turn:
            self._kill = None

    @property
    def has_killed(self) -> bool:
        """Whether the armed process was ended."""
        with self.turn:
            return self._dead

    @property
    def is_closed(self) -> bool:
        """Whether writes of the ended process are dropped. For the holder of `turn`."""
        return self._dead

    def stored(self, write: str) -> None:
        """Records a write, and ends the process. For the holder of `turn`."""
        self.writes.append(write)
        if self._kill is not None:
            self._dead = True
            self._kill()


KillingProxyT = TypeVar("KillingProxyT", bound=KillingProxy)


@contextmanager
def killing_proxy(server: ApiServer) -> Iterator[KillingProxy]:
    """Serves until the end of the block."""
    with forwarding(KillingProxy(server), KillingHandler) as proxy:
        yield proxy


class KillingHandler(ForwardingHandler[KillingProxyT]):
    """Lets the writes pass one after the other, and none after the end of the process."""

    def write(self) -> None:
        body = self.body()
        found = _RESOURCE.match(self.path)
        resource = f"{found[1]}{found[2] or ''}" if found else self.path
        if resource in _UNCOUNTED:
            self.forward(body, lambda _: None)
            return
        with self.proxy.turn:
            if self.proxy.is_closed:
                self.close_connection = True
                return
            self.forward(body, lambda status: self._stored(status, resource))

    def _stored(self, status: int, resource: str) -> None:
        if status < HTTPStatus.BAD_REQUEST:
            self.proxy.stored(f"{self.command} {resource}")
