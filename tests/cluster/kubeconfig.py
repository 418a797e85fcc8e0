"""Kubeconfig files with everything inside, so that they can be copied anywhere."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import yaml

from tests.cluster.pki import Identity


def write_kubeconfig(path: Path, *, server: str, authority: Path, user: Identity | str) -> Path:
    """Writes the kubeconfig of one user (a certificate, or a bearer token) and returns its path."""
    if isinstance(user, Identity):
        credentials = {"client-certificate-data": _inline(user.certificate), "client-key-data": _inline(user.key)}
    else:
        credentials = {"token": user}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": "cluster", "cluster": {"server": server, "certificate-authority-data": _inline(authority)}}
        ],
        "users": [{"name": "user", "user": credentials}],
        "contexts": [{"name": "context", "context": {"cluster": "cluster", "user": "user"}}],
        "current-context": "context",
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        yaml.safe_dump(document, file)
    return path


def _inline(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
