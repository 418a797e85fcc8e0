"""A proxy before an S3 server that accepts temporary credentials, which versitygw does not support.

It checks the key and the token of each request, signs the request with the server's own keys and forwards it. It also
serves such credentials to workloads by the protocol of EKS Pod Identity and ECS.
"""

from __future__ import annotations

import http.client
import http.server
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from urllib.parse import urlsplit

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tests.cluster.pki import Identity
from tests.cluster.s3 import REGION
from tests.support.s3_server import S3Server

CREDENTIALS = "/credentials"
STS_NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/"
WORKLOAD_TOKEN = "what-the-kubelet-projects"  # gives access to nothing else
_NOT_PASSED = frozenset({
    "authorization", "host", "connection", "content-length", "transfer-encoding", "expect", "x-amz-date",
    "x-amz-security-token", "x-amz-content-sha256", "x-amz-decoded-content-length", "x-amz-trailer",
    "x-amz-sdk-checksum-algorithm", "content-encoding", "user-agent", "amz-sdk-invocation-id", "amz-sdk-request",
    "amz-sdk-retry",
})  # fmt: skip


@dataclass
class Gate:
    """The accepted credentials, and the recorded requests."""

    server: S3Server
    access_key_id: str = "ASIATEMPORARY"
    secret_access_key: str = "temporary-secret-that-only-signs"
    token: str = "temporary-token"
    endpoint: str = ""
    passed: set[str] = field(default_factory=set)
    """User agents of the accepted requests."""
    requests: list[str] = field(default_factory=list)
    """Method and path of the accepted requests: `GET /bucket/key`."""
    fetched: int = 0
    """Number of requests for the credentials."""


@contextmanager
def token_gate(
    server: S3Server, address: tuple[str, int] = ("127.0.0.1", 0), tls: Identity | None = None
) -> Iterator[Gate]:
    """Serves until the end of the block. Port 0 means a free port."""
    gate = Gate(server)
    handler = type("Handler", (_Handler,), {"gate": gate})
    listening = http.server.ThreadingHTTPServer(address, handler)
    if tls:
        secured(listening, tls)
    gate.endpoint = f"{'https' if tls else 'http'}://{address[0]}:{listening.server_port}"
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    try:
        yield gate
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def assumed_role(gate: Gate, role: str) -> str:
    """The answer of STS that gives the gate's credentials to a workload for its token."""
    until = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    keys = {
        "AccessKeyId": gate.access_key_id,
        "SecretAccessKey": gate.secret_access_key,
        "SessionToken": gate.token,
        "Expiration": until,
    }
    given = "".join(f"<{name}>{value}</{name}>" for name, value in keys.items())
    name = "AssumeRoleWithWebIdentity"
    user = f"<AssumedRoleUser><Arn>{role}/x</Arn><AssumedRoleId>x:x</AssumedRoleId></AssumedRoleUser>"
    result = f"<{name}Result><Credentials>{given}</Credentials>{user}</{name}Result>"
    return f'<{name}Response xmlns="{STS_NAMESPACE}">{result}</{name}Response>'


def secured(server: http.server.HTTPServer, identity: Identity) -> None:
    """Makes the server accept only TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity.certificate, identity.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    gate: Gate

    def log_message(self, format: str, *arguments: object) -> None:
        del format, arguments

    def _serve(self) -> None:
        body = self._body()
        if self.path == CREDENTIALS:
            return self._give_credentials()
        known = f"Credential={self.gate.access_key_id}/" in self.headers.get("Authorization", "")
        if not known or self.headers.get("X-Amz-Security-Token") != self.gate.token:
            error = b"<Error><Code>InvalidToken</Code><Message>The provided token is malformed.</Message></Error>"
            return self._answer(HTTPStatus.BAD_REQUEST, {"Content-Type": "application/xml"}, error)
        self.gate.passed.add(self.headers.get("User-Agent", ""))
        self.gate.requests.append(f"{self.command} {urlsplit(self.path).path}")
        return self._pass_on(body)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _serve  # noqa: N815

    def _body(self) -> bytes:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chunked = self.headers.get("X-Amz-Content-Sha256", "").startswith("STREAMING-")
        return b"".join(_chunks(body)) if chunked else body

    def _give_credentials(self) -> None:
        if self.headers.get("Authorization") != WORKLOAD_TOKEN:
            return self._answer(HTTPStatus.UNAUTHORIZED, {}, b"")
        self.gate.fetched += 1
        until = datetime.now(UTC) + timedelta(hours=1)
        credentials = {
            "AccessKeyId": self.gate.access_key_id,
            "SecretAccessKey": self.gate.secret_access_key,
            "Token": self.gate.token,
            "Expiration": until.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        return self._answer(HTTPStatus.OK, {"Content-Type": "application/json"}, json.dumps(credentials).encode())

    def _pass_on(self, body: bytes) -> None:
        server = self.gate.server
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _NOT_PASSED}
        request = AWSRequest(self.command, f"{server.endpoint}{self.path}", headers=headers, data=body)
        keys = Credentials(server.access_key_id, server.secret_access_key)
        S3SigV4Auth(keys, "s3", REGION).add_auth(request)
        connection = http.client.HTTPConnection(urlsplit(server.endpoint).netloc, timeout=60)
        try:
            connection.request(self.command, self.path, body, dict(request.headers.items()))
            response = connection.getresponse()
            self._answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        hop = {"connection", "transfer-encoding"} | (set() if self.command == "HEAD" else {"content-length"})
        for name, value in headers.items():
            if name.lower() not in hop:
                self.send_header(name, value)
        if self.command != "HEAD":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _chunks(body: bytes) -> Iterator[bytes]:
    """The data of a body in AWS's chunks, without their signatures and the trailer."""
    while body:
        head, _, rest = body.partition(b"\r\n")
        size = int(head.partition(b";")[0], 16)
        if size == 0:
            return
        yield rest[:size]
        body = rest[size + 2 :]
