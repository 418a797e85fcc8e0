"""A proxy before an API server, through which a test disturbs the operator's requests."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Generic, TypeVar

import yaml

from tests.cluster.apiserver import ApiServer

_HOP: Final = frozenset({"host", "connection", "content-length", "transfer-encoding", "accept-encoding"})
_WATCH: Final = "watch="


class ForwardingProxy:
    """What the connections of one proxy share."""

    def __init__(self, server: ApiServer) -> None:
        self.upstream = server.port
        self.trusted = ssl.create_default_context(cafile=str(server.authority.certificate))
        self.port = 0

    def kubeconfig(self, of: Path) -> Path:
        """Returns a kubeconfig like `of` that names the proxy."""
        document = yaml.safe_load(of.read_text())
        (cluster,) = document["clusters"]
        cluster["cluster"] = {"server": f"http://127.0.0.1:{self.port}"}
        path = of.with_suffix(".proxied")
        path.write_text(yaml.safe_dump(document))
        return path


ProxyT = TypeVar("ProxyT", bound=ForwardingProxy)


@contextmanager
def forwarding(proxy: ProxyT, handler: type[ForwardingHandler[ProxyT]]) -> Iterator[ProxyT]:
    """Serves until the end of the block."""
    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (handler,), {"proxy": proxy}))
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


class ForwardingHandler(http.server.BaseHTTPRequestHandler, Generic[ProxyT]):
    """Forwards each request as it is. Subclasses disturb some."""

    protocol_version = "HTTP/1.1"
    proxy: ProxyT

    def log_message(self, format: str, *arguments: object) -> None:
        del format, arguments

    def handle(self) -> None:
        with contextlib.suppress(ConnectionResetError):  # the process was killed between two requests
            super().handle()

    @property
    def is_watch(self) -> bool:
        return _WATCH in self.path

    def read(self) -> None:
        """Answers a request that changes nothing."""
        self.forward(b"", lambda _: None)

    def write(self) -> None:
        """Answers a request that changes an object."""
        self.forward(self.body(), lambda _: None)

    def body(self) -> bytes:
        """The body of the request, which can be read once."""
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def pass_watch(self, response: http.client.HTTPResponse) -> None:
        """Sends the events of a watch until it ends."""
        while part := response.read1(65536):
            self.send_part(part)

    def send_part(self, part: bytes) -> None:
        """Sends a part of a watch."""
        self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))

    def do_GET(self) -> None:
        self.read()

    def do_POST(self) -> None:
        self.write()

    do_HEAD = do_GET  # noqa: N815
    do_PUT = do_PATCH = do_DELETE = do_POST  # noqa: N815

    def forward(self, body: bytes, answered: Callable[[int], None]) -> None:
        """Sends the request on, calls `answered` with the status, and returns the answer."""
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP}
        upstream = http.client.HTTPSConnection("127.0.0.1", self.proxy.upstream, context=self.proxy.trusted)
        try:
            upstream.request(self.command, self.path, body or None, headers)
            response = upstream.getresponse()
            content = None if self.is_watch else response.read()
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
        self.pass_watch(response)
        self.wfile.write(b"0\r\n\r\n")
