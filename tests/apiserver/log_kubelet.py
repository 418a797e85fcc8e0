"""A kubelet that serves logs alone: an API server without nodes then answers `kubectl logs`."""

from __future__ import annotations

import http.server
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Final

from kubernetes import client

from tests.apiserver.api import Body
from tests.cluster.apiserver import ApiServer, open_client

NODE: Final = "node-of-the-operator"
_LABELS: Final = {"app.kubernetes.io/name": "paimon-operator"}


@contextmanager
def serving_logs(
    server: ApiServer, namespace: str, logs: Mapping[str, Path], *, others: Mapping[str, Path] | None = None
) -> Iterator[None]:
    """Creates a Pod for each log, by its name, on a node that serves the file as the log of its container.

    `others` are logs of Pods that the caller creates on `NODE`.
    """
    handler = type("Handler", (_Handler,), {"logs": {**logs, **(others or {})}})
    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    identity = server.authority.issue("log-kubelet", user="system:node:logs", hosts=("IP:127.0.0.1",))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity.certificate, identity.key)
    listening.socket = context.wrap_socket(listening.socket, server_side=True)
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    try:
        with open_client(server.kubeconfig) as api:
            _create(client.CoreV1Api(api), namespace, logs, listening.server_port)
        yield
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def _create(core: client.CoreV1Api, namespace: str, pods: Mapping[str, Path], port: int) -> None:
    node: Body = {"metadata": {"name": NODE}}
    core.create_node(node)
    address = [{"type": "InternalIP", "address": "127.0.0.1"}]
    status: Body = {"status": {"addresses": address, "daemonEndpoints": {"kubeletEndpoint": {"Port": port}}}}
    core.patch_node_status(NODE, status)
    for pod in pods:
        containers = [{"name": "operator", "image": "example.test/operator"}]
        body: Body = {
            "metadata": {"name": pod, "labels": _LABELS},
            "spec": {"nodeName": NODE, "containers": containers},
        }
        core.create_namespaced_pod(namespace, body)


class _Handler(http.server.BaseHTTPRequestHandler):
    logs: Mapping[str, Path]

    def log_message(self, format: str, *arguments: object) -> None:
        del format, arguments

    def do_GET(self) -> None:
        """Answers `/containerLogs/<namespace>/<pod>/<container>`."""
        _, what, _, pod, *_ = self.path.split("?")[0].split("/")
        if what != "containerLogs" or pod not in self.logs:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        self.send_response(HTTPStatus.OK)
        self.end_headers()
        self.wfile.write(self.logs[pod].read_bytes())
