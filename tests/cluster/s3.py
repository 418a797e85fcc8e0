"""The S3 server on the node (versitygw over a directory) and its root keys, created for each cluster."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.cluster.layout import NODE_ADDRESS, S3_PORT, Layout
from tests.cluster.pki import Identity
from tests.cluster.programs import VERSITYGW

if TYPE_CHECKING:
    from botocore.client import BaseClient

REGION = "us-east-1"
SERVER_FLAGS = ("--region", REGION, "--health", "/health", "--keep-alive")
"""Of each server of the tests. As other object stores do, it leaves a connection open for the next request."""
ENDPOINT_IN_CLUSTER = f"http://{NODE_ADDRESS}:{S3_PORT}"
"""The server's address for Pods."""

BUCKETS = ("lake", "landing")


@dataclass(frozen=True)
class S3Keys:
    """Root keys of the server; never printed, only in the env file (readable by its owner)."""

    access_key_id: str
    secret_access_key: str


def keys(layout: Layout) -> S3Keys:
    """Returns the cluster's keys, created at the first call."""
    file = layout.state / "s3-keys.json"
    if not file.exists():
        made = {"access_key_id": f"AK{secrets.token_hex(9).upper()}", "secret_access_key": secrets.token_urlsafe(30)}
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as handle:
            json.dump(made, handle)
    return S3Keys(**json.loads(file.read_text()))


def data_directory(layout: Layout) -> Path:
    return layout.state / "s3"


def command(layout: Layout, *, port: int = S3_PORT, log: str = "s3", tls: Identity | None = None) -> list[str]:
    """Returns the server's command. Its keys are passed in the environment (`environment`), not in arguments."""
    data = data_directory(layout)
    data.mkdir(parents=True, exist_ok=True)
    address = [*SERVER_FLAGS, "--port", f"{NODE_ADDRESS}:{port}"]
    logging = ["--quiet", "--access-log", str(layout.state / "log" / f"{log}-access.log")]
    secured = ["--cert", str(tls.certificate), "--key", str(tls.key)] if tls else []
    return [str(VERSITYGW.path), *address, *secured, *logging, "posix", str(data)]


def environment(layout: Layout) -> dict[str, str]:
    """Returns this process's environment with the root keys."""
    root = keys(layout)
    return {**os.environ, "ROOT_ACCESS_KEY_ID": root.access_key_id, "ROOT_SECRET_ACCESS_KEY": root.secret_access_key}


def s3_at(endpoint: str, keys: S3Keys) -> BaseClient:
    """A client with those keys."""
    import boto3  # noqa: PLC0415  # a quarter of a second that `status` and `env` need not wait

    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name=REGION,
        aws_access_key_id=keys.access_key_id,
        aws_secret_access_key=keys.secret_access_key,
    )


def create_buckets(endpoint: str, root: S3Keys, names: Iterable[str] = BUCKETS) -> None:
    """Creates the buckets that do not exist yet."""
    client = s3_at(endpoint, root)
    present = {bucket["Name"] for bucket in client.list_buckets()["Buckets"]}
    for name in names:
        if name not in present:
            client.create_bucket(Bucket=name)
