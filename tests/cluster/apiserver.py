"""A real API server for tests: etcd and kube-apiserver as processes on loopback ports, in a directory of their own.

    with ApiServer(directory) as server:
        core = kubernetes.client.CoreV1Api(open_client(server.kubeconfig))

No node, scheduler or kubelet: a Pod stays Pending until the test writes its status. With `controllers` a
kube-controller-manager runs the named ones. Both processes die with the thread that started them.
"""

from __future__ import annotations

import http.client
import signal
import ssl
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from kubernetes import client, config

from tests.cluster.control_plane import apiserver_command, etcd_command
from tests.cluster.kubeconfig import write_kubeconfig
from tests.cluster.pki import Authority
from tests.cluster.ports import free_ports
from tests.cluster.processes import Daemon, wait_until
from tests.cluster.programs import KUBE_CONTROLLER_MANAGER

GARBAGE_COLLECTOR = "garbage-collector-controller"
NAMESPACES = "namespace-controller"
SERVICE_ACCOUNTS = "serviceaccount-controller"
AGGREGATED_ROLES = "clusterrole-aggregation-controller"
POLICY_TYPES = "validatingadmissionpolicy-status-controller"
USUAL_CONTROLLERS = (GARBAGE_COLLECTOR, NAMESPACES, SERVICE_ACCOUNTS, AGGREGATED_ROLES, POLICY_TYPES)

_SYSTEM_MASTERS = "system:masters"


def open_client(kubeconfig: Path) -> client.ApiClient:
    """Returns a client of the API server that the kubeconfig names, with its user's credentials."""
    opened: client.ApiClient = config.new_client_from_config(str(kubeconfig))  # type: ignore[no-untyped-call]
    return opened


class ApiServer:
    """One API server. `start` takes about 3 s; `stop` leaves no process. Not thread-safe."""

    def __init__(self, directory: Path, *, controllers: Sequence[str] = ()) -> None:
        """`controllers` are names of kube-controller-manager's controllers, for example USUAL_CONTROLLERS.

        Without SERVICE_ACCOUNTS no namespace has a `default` account, so the admission plugin that asks for one is off.
        """
        self.directory = directory
        self.controllers = tuple(controllers)
        self.audit_log = directory / "audit.log"
        self.kubeconfig = directory / "admin.kubeconfig"
        self._etcd, self._server, self._manager = (
            Daemon(name, directory / f"{name}.pid", directory / f"{name}.log")
            for name in ("etcd", "kube-apiserver", "kube-controller-manager")
        )
        self._etcd_port, self._etcd_peer_port, self.port = free_ports(3)

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def start(self) -> Self:
        """Starts everything and returns when the server is ready; raises ProcessDiedError or TimeoutError."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self.authority = Authority(self.directory / "pki")
        admin = self.authority.issue("admin", user="admin", groups=(_SYSTEM_MASTERS,))
        write_kubeconfig(self.kubeconfig, server=self.url, authority=self.authority.certificate, user=admin)
        try:
            self._start_daemon(self._etcd, self._etcd_command())
            self.start_server()
            if self.controllers:
                self._start_daemon(self._manager, self._manager_command())
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stops everything; data and logs stay in the directory."""
        self._manager.stop(signal.SIGKILL)
        self.stop_server()
        self._etcd.stop(signal.SIGKILL)

    def start_server(self) -> None:
        """Starts only the API server (after `stop_server`, on the same port with the same data) and waits for it."""
        self._start_daemon(self._server, self._server_command())
        self._wait_until_ready()

    def stop_server(self) -> None:
        """Stops only the API server, at once: an outage. Open watches break."""
        self._server.stop(signal.SIGKILL)

    def restart_store(self) -> None:
        """Kills the API server and etcd, and starts both with the same data: a node of the control plane fails."""
        self.stop_server()
        self._etcd.stop(signal.SIGKILL)
        self._start_daemon(self._etcd, self._etcd_command())
        self.start_server()

    def user_kubeconfig(self, user: str, *, groups: tuple[str, ...] = ()) -> Path:
        """Returns a kubeconfig of `user` by certificate. The user has no right until a test binds a role to it."""
        name = "user-" + user.replace(":", "-").replace("/", "-")
        identity = self.authority.issue(name, user=user, groups=groups)
        path = self.directory / f"{name}.kubeconfig"
        return write_kubeconfig(path, server=self.url, authority=self.authority.certificate, user=identity)

    def service_account_kubeconfig(self, namespace: str, name: str) -> Path:
        """Returns a kubeconfig with a fresh token (1 h) of an existing service account."""
        with open_client(self.kubeconfig) as api:
            body = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[]))
            answer = client.CoreV1Api(api).create_namespaced_service_account_token(name, namespace, body)
        token = answer.status.token if answer.status else None
        if not token:
            raise LookupError(f"the API server gave no token for {namespace}/{name}")
        path = self.directory / f"account-{namespace}-{name}.kubeconfig"
        return write_kubeconfig(path, server=self.url, authority=self.authority.certificate, user=token)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _start_daemon(self, daemon: Daemon, command: list[str]) -> None:
        daemon.start(["setpriv", "--pdeathsig", "KILL", *command])

    def _etcd_command(self) -> list[str]:
        return etcd_command(self.directory / "etcd", client_port=self._etcd_port, peer_port=self._etcd_peer_port)

    def _server_command(self) -> list[str]:
        command = [
            *apiserver_command(self.authority, self.directory, etcd_port=self._etcd_port, addresses=("127.0.0.1",)),
            "--bind-address=127.0.0.1",
            f"--secure-port={self.port}",
            "--endpoint-reconciler-type=none",  # a loopback address cannot be published as an endpoint
            "--authorization-mode=RBAC",
        ]
        if SERVICE_ACCOUNTS not in self.controllers:
            command.append("--disable-admission-plugins=ServiceAccount")
        return command

    def _manager_command(self) -> list[str]:
        return [
            str(KUBE_CONTROLLER_MANAGER.path),
            f"--kubeconfig={self.kubeconfig}",
            f"--controllers={','.join(self.controllers)}",
            "--leader-elect=false",
            "--secure-port=0",
        ]

    def _wait_until_ready(self, *, timeout: float = 60.0) -> None:
        admin = self.authority.issue("admin", user="admin", groups=(_SYSTEM_MASTERS,))
        context = ssl.create_default_context(cafile=str(self.authority.certificate))
        context.load_cert_chain(admin.certificate, admin.key)
        deadline = time.monotonic() + timeout
        for path in ("/readyz", "/api/v1/namespaces/default", "/api/v1/namespaces/kube-system"):
            if not wait_until(lambda: self._answers(path, context), timeout=deadline - time.monotonic()):  # noqa: B023
                raise TimeoutError(f"{self.url}{path} is not ready after {timeout:.0f} s\n{self._server.log_tail()}")

    def _answers(self, path: str, context: ssl.SSLContext) -> bool:
        for daemon in (self._etcd, self._server):
            daemon.check_alive()
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=5)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == http.HTTPStatus.OK
        except OSError:
            return False
        finally:
            connection.close()
