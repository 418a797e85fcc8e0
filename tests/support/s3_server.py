"""A real S3 server (versitygw) on loopback with its own keys, for tests without a node. TLS is optional."""

from __future__ import annotations

import http.client
import os
import secrets
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import boto3
from botocore.client import BaseClient
from botocore.config import Config

from tests.cluster.pki import Identity
from tests.cluster.ports import free_ports
from tests.cluster.processes import GO_ENVIRONMENT, wait_until
from tests.cluster.programs import VERSITYGW
from tests.cluster.s3 import REGION, SERVER_FLAGS


@dataclass(frozen=True)
class S3Server:
    """A running server. It accepts only its root keys."""

    endpoint: str
    access_key_id: str
    secret_access_key: str
    authority: Path | None = None
    """Certificate of the authority that signed the server's certificate, with TLS."""

    @property
    def authority_text(self) -> str:
        """The authority's certificate as PEM."""
        assert self.authority is not None
        return self.authority.read_text()

    @property
    def keys(self) -> dict[str, str]:
        """The keys as environment variables for AWS's clients."""
        return {"AWS_ACCESS_KEY_ID": self.access_key_id, "AWS_SECRET_ACCESS_KEY": self.secret_access_key}

    @property
    def reader_environment(self) -> dict[str, str]:
        """The environment of lake_reader."""
        return {**self.keys, "AWS_ENDPOINT_URL": self.endpoint, "AWS_REGION": REGION}

    def client(self) -> BaseClient:
        """A client of boto3 with the root keys."""
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=self.access_key_id,
            aws_secret_access_key=self.secret_access_key,
            verify=str(self.authority) if self.authority else None,
            config=Config(s3={"addressing_style": "path"}),
        )


@contextmanager
def s3_server(
    directory: Path,
    *buckets: str,
    tls: Identity | None = None,
    authority: Path | None = None,
    keys: tuple[str, str] | None = None,
) -> Iterator[S3Server]:
    """Serves the files below `directory`, which other servers may serve too. Stops the server after the block."""
    (port,) = free_ports(1)
    scheme = "https" if tls else "http"
    key, secret = keys or (f"AK{secrets.token_hex(9).upper()}", secrets.token_urlsafe(30))
    server = S3Server(f"{scheme}://127.0.0.1:{port}", key, secret, authority)
    data, log = directory / "s3", directory / "s3.log"
    data.mkdir(parents=True, exist_ok=True)
    command = [str(VERSITYGW.path), *SERVER_FLAGS, "--port", f"127.0.0.1:{port}"]
    if tls:
        command += ["--cert", str(tls.certificate), "--key", str(tls.key)]
    root = {"ROOT_ACCESS_KEY_ID": server.access_key_id, "ROOT_SECRET_ACCESS_KEY": server.secret_access_key}
    with log.open("a") as stream:
        process = subprocess.Popen(
            [*command, "posix", str(data)], env={**GO_ENVIRONMENT, **os.environ, **root}, stdout=stream, stderr=stream
        )
    try:
        assert wait_until(lambda: _answers(port, tls), timeout=20), log.read_text()
        for bucket in buckets:
            server.client().create_bucket(Bucket=bucket)
        yield server
    finally:
        process.terminate()
        process.wait()


def _answers(port: int, tls: Identity | None) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    if tls:
        anybody = ssl._create_unverified_context()  # noqa: S323  # checks that it is up, not its identity
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=anybody)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
