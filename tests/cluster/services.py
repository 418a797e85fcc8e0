"""The processes of the node: how each starts, when it is ready, and in which order."""

from __future__ import annotations

import http.client
import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.cluster import containerd, network, s3, worker
from tests.cluster.cache import CHECKOUT
from tests.cluster.control_plane import SERVICE_ADDRESS, apiserver_command, etcd_command
from tests.cluster.layout import API_PORT, FORWARDED, NODE_ADDRESS, Layout
from tests.cluster.pki import Authority
from tests.cluster.processes import wait_until
from tests.cluster.programs import KUBECTL
from tests.cluster.progress import CommandFailedError, run

Command = Callable[[Layout], list[str]]


def authority(layout: Layout) -> Authority:
    return Authority(layout.state / "pki")


def kubectl(layout: Layout, *arguments: str, stdin: str | None = None) -> str:
    """Runs kubectl as admin from the host and returns what it printed; raises CommandFailedError."""
    command = [str(KUBECTL.path), f"--kubeconfig={layout.kubeconfig}", *arguments]
    return run(command, stdin=stdin.encode() if stdin is not None else None)


def _always(_: Layout) -> bool:
    return True


@dataclass(frozen=True)
class Service:
    """One process: its command, its test of readiness, and the signal that ends it."""

    name: str
    command: Command
    ready: Callable[[Layout], bool] = _always
    environment: Callable[[Layout], Mapping[str, str]] | None = None
    inside: bool = True
    """Whether it runs in the network namespace. The forwarder starts outside and enters the namespace itself."""
    end_signal: signal.Signals = signal.SIGTERM

    def start(self, layout: Layout) -> None:
        command = self.command(layout)
        wrapped = network.inside(layout.name, command) if self.inside else network.beside(layout.name, command)
        layout.daemon(self.name).start(wrapped, env=self.environment(layout) if self.environment else None)

    def wait(self, layout: Layout, *, timeout: float = 180.0) -> None:
        """Waits until it is ready; raises ProcessDiedError or TimeoutError with the end of its log."""
        daemon = layout.daemon(self.name)

        def ready() -> bool:
            daemon.check_alive()
            return self.ready(layout)

        if not wait_until(ready, timeout=timeout):
            raise TimeoutError(f"{self.name} is not ready after {timeout:.0f} s. Its log ends:\n{daemon.log_tail()}")

    def stop(self, layout: Layout) -> None:
        layout.daemon(self.name).stop(self.end_signal)


def _etcd(layout: Layout) -> list[str]:
    return etcd_command(layout.state / "etcd", client_port=2379, peer_port=2380)


def _apiserver(layout: Layout) -> list[str]:
    audit = layout.audit_log.parent
    audit.mkdir(parents=True, exist_ok=True)
    signer = authority(layout)
    kubelet_client = signer.issue("apiserver-kubelet", user="apiserver-kubelet", groups=("system:masters",))
    addresses = ("127.0.0.1", NODE_ADDRESS, SERVICE_ADDRESS)
    return [
        *apiserver_command(signer, audit, etcd_port=2379, addresses=addresses),
        f"--advertise-address={NODE_ADDRESS}",
        f"--secure-port={API_PORT}",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--kubelet-preferred-address-types=InternalIP",  # or logs and exec try to resolve the node's name
        f"--kubelet-client-certificate={kubelet_client.certificate}",
        f"--kubelet-client-key={kubelet_client.key}",
        f"--kubelet-certificate-authority={signer.certificate}",
    ]


def _apiserver_is_ready(layout: Layout) -> bool:
    try:
        return kubectl(layout, "get", "--raw", "/readyz") == "ok"
    except CommandFailedError:
        return False


def _forward(layout: Layout) -> list[str]:
    routes = [f"127.0.0.1:{port}={NODE_ADDRESS}:{FORWARDED[name]}" for name, port in layout.ports().items()]
    return [sys.executable, "-m", "tests.cluster.forward", layout.name, *routes]


def answers(service: str, path: str) -> Callable[[Layout], bool]:
    """Returns a test that asks the service over its forwarded loopback port."""

    def is_answered(layout: Layout) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", layout.ports()[service], timeout=5)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    return is_answered


def _environment_of_forward(_: Layout) -> Mapping[str, str]:
    return {**os.environ, "PYTHONPATH": str(CHECKOUT)}


CONTAINERD = Service("containerd", containerd.command, containerd.is_ready)
"""Starts first, because it takes the images."""

SERVERS = (
    Service("forward", _forward, environment=_environment_of_forward, inside=False),
    # A graceful stop of these two keeps the port beyond the next start, and their data need not be flushed.
    Service("etcd", _etcd, end_signal=signal.SIGKILL),
    Service("kube-apiserver", _apiserver, _apiserver_is_ready, end_signal=signal.SIGKILL),
    Service("versitygw", s3.command, answers("s3", "/health"), environment=s3.environment),
)
"""What CLIENTS need. All start at once; CLIENTS start when these are ready."""

CLIENTS = (
    Service("kube-controller-manager", lambda layout: worker.controller_manager_command(layout, authority(layout))),
    Service("kube-scheduler", lambda layout: worker.scheduler_command(layout, authority(layout))),
    Service("kubelet", lambda layout: worker.kubelet_command(layout, authority(layout))),
    Service("kube-proxy", lambda layout: worker.proxy_command(layout, authority(layout))),
)
"""Clients of the API server."""

SERVICES = {service.name: service for service in (CONTAINERD, *SERVERS, *CLIENTS)}
