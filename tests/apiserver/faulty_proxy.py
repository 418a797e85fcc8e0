"""A proxy before an API server that is slow, delivers no watch events, or answers what no API server answers."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tests.apiserver.forwarding_proxy import ForwardingHandler, ForwardingProxy, forwarding
from tests.cluster.apiserver import ApiServer

_LEASES: Final = "/leases"
"""Part of the path of the leader's Lease, which always passes: a leader that cannot renew it ends."""
_LIST_OF_PODS: Final = re.compile(r"/pods\?")
"""What the operator always reads live, before it makes the Pod of a run."""


class FaultyProxy(ForwardingProxy):
    """A proxy without a fault until a block causes one."""

    def __init__(self, server: ApiServer) -> None:
        super().__init__(server)
        self.reads, self.watches = threading.Event(), threading.Event()
        self.reads.set()
        self.watches.set()
        self.garbles_lists = False

    @contextmanager
    def without_reads(self) -> Iterator[None]:
        """The API server answers no read of an object until the end of the block."""
        with _cleared(self.reads):
            yield

    @contextmanager
    def without_watches(self) -> Iterator[None]:
        """The watches deliver nothing until the end of the block, as behind a proxy that buffers."""
        with _cleared(self.watches):
            yield

    @contextmanager
    def with_garbled_lists(self) -> Iterator[None]:
        """A list of Pods has no items until the end of the block."""
        self.garbles_lists = True
        try:
            yield
        finally:
            self.garbles_lists = False


@contextmanager
def faulty_proxy(server: ApiServer) -> Iterator[FaultyProxy]:
    """Serves until the end of the block."""
    with forwarding(FaultyProxy(server), _Handler) as proxy:
        yield proxy


class _Handler(ForwardingHandler[FaultyProxy]):
    def read(self) -> None:
        if not self.is_watch and _LEASES not in self.path:
            self.proxy.reads.wait()
        if self.proxy.garbles_lists and not self.is_watch and _LIST_OF_PODS.search(self.path):
            self._answer_garbled()
            return
        super().read()

    def send_part(self, part: bytes) -> None:
        self.proxy.watches.wait()
        super().send_part(part)

    def _answer_garbled(self) -> None:
        content = json.dumps({"kind": "Status", "status": "Success"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def _cleared(event: threading.Event) -> Iterator[None]:
    event.clear()
    try:
        yield
    finally:
        event.set()
