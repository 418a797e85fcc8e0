"""Command lines of etcd and kube-apiserver, the same for a bare API server and for the node."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.cluster.audit import audit_flags
from tests.cluster.pki import Authority
from tests.cluster.programs import ETCD, KUBE_APISERVER

SERVICE_RANGE = "10.79.0.0/24"
SERVICE_ADDRESS = "10.79.0.1"
"""Address of the Service `kubernetes`: always the first of the range."""
OPERATOR_ADDRESS = "10.79.0.82"
"""Address of the operator's Service, which observers cannot find by name on a node without DNS."""

_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")


def etcd_command(data: Path, *, client_port: int, peer_port: int) -> list[str]:
    """Returns the command of an etcd that listens on loopback only and does not wait for the disk."""
    clients, peers = f"http://127.0.0.1:{client_port}", f"http://127.0.0.1:{peer_port}"
    return [
        str(ETCD.path),
        f"--data-dir={data}",
        f"--listen-client-urls={clients}",
        f"--advertise-client-urls={clients}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=default={peers}",
        "--unsafe-no-fsync",
    ]


def apiserver_command(
    authority: Authority, audit_directory: Path, *, etcd_port: int, addresses: Sequence[str]
) -> list[str]:
    """Returns the command of an API server whose certificate is valid for the IP `addresses`."""
    hosts = [f"DNS:{name}" for name in _NAMES] + [f"IP:{address}" for address in addresses]
    serving = authority.issue("apiserver", user="kube-apiserver", hosts=tuple(hosts))
    signing_key = authority.service_account_key()
    return [
        str(KUBE_APISERVER.path),
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        "--allow-privileged",
        f"--client-ca-file={authority.certificate}",
        f"--tls-cert-file={serving.certificate}",
        f"--tls-private-key-file={serving.key}",
        f"--service-account-key-file={signing_key}",
        f"--service-account-signing-key-file={signing_key}",
        "--service-account-issuer=https://kubernetes.default.svc",
        *audit_flags(audit_directory),
    ]
