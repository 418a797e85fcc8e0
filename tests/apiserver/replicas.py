"""Operator processes in one test's namespace, with the rights and settings of the chart."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kubernetes import client
from kubernetes.client.exceptions import NotFoundException

from tests.apiserver.namespace_client import NamespaceClient
from tests.apiserver.operator_process import OperatorProcess
from tests.apiserver.rights import RELEASE, Rights
from tests.cluster.apiserver import ApiServer

_SET_BY_TEST = ("watch_namespaces", "health_port", "metrics_port", "spark_images")
_OF_OBSERVERS = ("looks_port", "looks_url", "looks_interval")
"""Left out: several processes of one machine cannot have one port, and no kubelet starts observers here."""


class Replicas:
    """Operators of one release, of which one leads."""

    def __init__(
        self, server: ApiServer, ns: NamespaceClient, logs: Path, *, process: type[OperatorProcess] = OperatorProcess
    ) -> None:
        self.ns, self.rights = ns, Rights(server, ns)
        self._logs, self._process = logs, process
        self._started: list[OperatorProcess] = []

    @property
    def newest(self) -> OperatorProcess:
        """The operator that was started last."""
        return self._started[-1]

    def add(self, **settings: str) -> OperatorProcess:
        """Starts one more operator; `settings` override the chart's."""
        given = {
            key: value for key, value in self.rights.environment().items() if key not in (*_SET_BY_TEST, *_OF_OBSERVERS)
        }
        operator = self._process(
            self.rights.kubeconfig,
            self._logs,
            namespaces=[self.ns.namespace],
            lease_namespace=self.ns.namespace,
            name=f"operator-{len(self._started)}",
            **given | settings,
        )
        self._started.append(operator)
        return operator.start()

    def kill_newest(self) -> None:
        """Kills the newest operator and deletes its Lease, so that the next one need not wait until it expires."""
        self.newest.kill()
        self.delete_lease()

    def delete_lease(self) -> None:
        """Deletes the Lease, as if it had expired. An operator that was killed before it led has none."""
        with contextlib.suppress(NotFoundException):
            client.CoordinationV1Api(self.ns.client).delete_namespaced_lease(RELEASE, self.ns.namespace)

    def close(self) -> None:
        """Kills the operators and deletes the rights; the namespace stays."""
        for operator in self._started:
            operator.__exit__(None, None, None)
        self.rights.close()


@contextmanager
def namespace_with_operator(server: ApiServer, namespace: str, logs: Path) -> Iterator[NamespaceClient]:
    """Runs an operator with all rights for a new namespace with a catalog. Fails if the operator logs an error."""
    ns = NamespaceClient(server.kubeconfig, namespace)
    ns.create_catalog()
    try:
        with OperatorProcess(server.kubeconfig, logs, namespaces=[namespace], lease_namespace=namespace) as operator:
            operator.wait_until_working()
            yield ns
            assert operator.errors() == []
    finally:
        ns.close()
