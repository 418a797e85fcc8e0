"""The operator's end of the observer's connection: an HTTP server on loopback whose answers a test decides."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

from paimon_contract.documents import to_json, to_text
from paimon_contract.looks import PATH, LookAnswer, TableToLook


class FakeOperator:
    """Answers each request with the tables, or first with each status of `statuses`."""

    def __init__(self, tables: list[TableToLook] | None = None) -> None:
        self.tables, self.statuses = tables or [], list[int]()
        self.requests: list[dict[str, Any]] = []
        self.tokens: list[str] = []
        self.location = ""
        """Where a redirect leads."""
        self.text: str | None = None
        """Sent in place of the answer."""
        self.url = ""

    def answer(self, request: Mapping[str, Any]) -> str:
        """The body of the answer to a request."""
        del request
        return self.text or to_text(to_json(LookAnswer(interval_seconds=60, tables=tuple(self.tables))))


OperatorT = TypeVar("OperatorT", bound=FakeOperator)


@contextmanager
def serving(operator: OperatorT) -> Iterator[OperatorT]:
    """Serves it on a free port of loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            request = json.loads(body)
            operator.requests.append(request)
            operator.tokens.append(self.headers["Authorization"])
            status = operator.statuses.pop(0) if operator.statuses else 200
            content = operator.answer(request).encode() if status == 200 else b"no"
            self.send_response(status)
            if operator.location:
                self.send_header("Location", operator.location)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    operator.url = f"http://127.0.0.1:{server.server_port}{PATH}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield operator
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
