"""A proxy before an API server that ends its client's process right after the API server has stored a write.

The writes of one process pass one after the other, and none passes after its end. So a test reaches every gap between
two writes, whatever order the process chooses.
"""

from __future__ import annotations

import contextlib
import http.client
import http.server
import re
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Final

import yaml

from tests.cluster.apiserver import ApiServer

_HOP: Final = frozenset({"host", "connection", "content-length", "transfer-encoding", "accept-encoding"})
_RESOURCE: Final = re.compile(r"/(?:api/v1|apis/[^/]+/[^/]+)(?:/namespaces/[^/]+)?/([a-z]+)(?:/[^/?]+(/[a-z]+)?)?")
_UNCOUNTED: Final = frozenset({"leases", "selfsubjectaccessreviews", "selfsubjectrulesreviews"})
"""Writes that store no state of an object: a Lease is stored every few seconds."""


class KillingProxy:
    """`writes` are those of all processes, as `PATCH paimontables/status`. After `arm` the next write is the last."""

    def __init__(self, server: ApiServer) -> None:
        self.upstream = server.port
        self.trusted = ssl.create_default_context(cafile=str(server.authority.certificate))
        self.writes: list[str] = []
        self.turn = threading.Lock()
        self._kill: Callable[[], None] | None = None
        self._dead = False
        self.port = 0

    def kubeconfig(self, of: Path) -> Path:
        """Returns a kubeconfig like `of` that names the proxy."""
        document = yaml.safe_load(of.read_text())
        (cluster,) = document["clusters"]
        cluster["cluster"] = {"server": f"http://127.0.0.1:{self.port}"}
        path = of.with_suffix(".proxied")
        path.write_text(yaml.safe_dump(document))
        return path

    def arm(self, kill: Callable[[], None]) -> None:
        """The new process is ended by `kill` after its next write."""
        with self.turn:
            self._kill, self._dead = kill, False

    def disarm(self) -> None:
        """The next process lives."""
        with self.turn:
            self._kill, self._dead = None, False

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


@contextmanager
def killing_proxy(server: ApiServer) -> Iterator[KillingProxy]:
    """Serves until the end of the block."""
    proxy = KillingProxy(server)
    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"proxy": proxy}))
    listening.daemon_threads = True  # watches end with the API server
    proxy.port = listening.server_port
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    try:
        yield proxy
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxy: KillingProxy

    def log_message(self, format: str, *arguments: object) -> None:
        del format, arguments

    def handle(self) -> None:
        with contextlib.suppress(ConnectionResetError):  # the process was killed between two requests
            super().handle()

    def _read(self) -> None:
        self._forward(b"", lambda _: None)

    def _write(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        found = _RESOURCE.match(self.path)
        resource = f"{found[1]}{found[2] or ''}" if found else self.path
        if resource in _UNCOUNTED:
            self._forward(body, lambda _: None)
            return
        with self.proxy.turn:
            if self.proxy.is_closed:
                self.close_connection = True
                return
            self._forward(body, lambda status: self._stored(status, resource))

    do_GET = do_HEAD = _read  # noqa: N815
    do_POST = do_PUT = do_PATCH = do_DELETE = _write  # noqa: N815

    def _stored(self, status: int, resource: str) -> None:
        if status < HTTPStatus.BAD_REQUEST:
            self.proxy.stored(f"{self.command} {resource}")

    def _forward(self, body: bytes, answered: Callable[[int], None]) -> None:
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP}
        upstream = http.client.HTTPSConnection("127.0.0.1", self.proxy.upstream, context=self.proxy.trusted)
        try:
            upstream.request(self.command, self.path, body or None, headers)
            response = upstream.getresponse()
            content = None if "watch=" in self.path else response.read()
            answered(response.status)
            self._answer(response, content)
        except (BrokenPipeError, ConnectionResetError, http.client.IncompleteRead):  # one of the two has ended
            self.close_connection = True
        finally:
            upstream.close()

    def _answer(self, response: http.client.HTTPResponse, content: bytes | None) -> None:
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in _HOP:
                self.send_header(name, value)
        if content is not None:
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while part := response.read1(65536):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")
