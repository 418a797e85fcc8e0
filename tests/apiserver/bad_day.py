"""The stage of a bad day: an API server, a proxy with faults, operators, a kubelet, and a Prometheus that watches.

Prometheus has the rules of the chart, with all times divided by FACTOR: an hour passes in 30 s.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import yaml
from kubernetes import client

from tests.apiserver.faulty_proxy import faulty_proxy
from tests.apiserver.log_kubelet import serving_logs
from tests.apiserver.namespace_client import NamespaceClient
from tests.apiserver.operator_process import OperatorProcess
from tests.apiserver.prometheus_server import Document, Prometheus
from tests.apiserver.rights import CHART, RELEASE, Rights
from tests.apiserver.scripted_kubelet import ScriptedKubelet
from tests.cluster.apiserver import ApiServer
from tests.support.scaled_rules import scaled_rules

FACTOR: Final = 120
RULES: Final = yaml.safe_load((CHART / "files" / "alerts.yaml").read_text(encoding="utf-8"))
ALERTS: Final = tuple(str(rule["alert"]) for group in RULES["groups"] for rule in group["rules"])
HOME: Final = "paimon-system"
"""Namespace of the operator, as in the docs. The tables are in `shop`."""
OPERATORS: Final = ("operator-0", "operator-1", "operator-2", "operator-3")
CAUSES: Final[dict[str, list[dict[str, str]]]] = {
    "PaimonOperatorNoLeader": [{}],
    "PaimonOperatorCanaryLate": [{"namespace": "paimon-system", "pod": "operator-1"}],
    "PaimonOperatorQueueOld": [{"namespace": "paimon-system", "pod": "operator-1"}],
    "PaimonOperatorThrottled": [{"namespace": "paimon-system", "pod": "operator-2"}],
    "PaimonOperatorBug": [{"kind": "PaimonRun"}],
    "PaimonStalled": [{"namespace": "shop", "kind": "PaimonTable", "reason": "UnknownOption"}],
    "PaimonScheduleLate": [{"namespace": "shop"}],
    "PaimonRunsFail": [{"namespace": "shop", "type": "Write"}],
    "PaimonRunsOutOfMemory": [{"namespace": "shop", "type": "Compact"}],
    "PaimonCommitSafeLost": [{"namespace": "shop", "kind": "PaimonTable"}],
}
"""Labels by which each alert names its cause."""


@dataclass
class Story:
    """What became of one alert. Times are in seconds since 1970; 0: that did not happen."""

    before: float = 0
    """When the alert was inactive, right before its cause began."""
    fired: float = 0
    ended: float = 0
    """When its cause had ended."""
    cleared: float = 0
    documents: list[dict[str, Any]] = field(default_factory=list)
    """Labels and annotations of what fired."""


class Day:
    """As a context manager it runs for the block."""

    def __init__(self, server: ApiServer, directory: Path) -> None:
        self._server, self._directory, self._stack = server, directory, ExitStack()
        self.stories = {alert: Story() for alert in ALERTS}
        self.shop = NamespaceClient(server.kubeconfig, "shop", exists=True)
        self.kubelet = ScriptedKubelet(self.shop)
        self.began = self.ended = time.time()
        self._operators: dict[str, OperatorProcess] = {}

    @property
    def kubeconfig(self) -> Path:
        """That of the administrator."""
        return self._server.kubeconfig

    def __enter__(self) -> Self:
        self.home = NamespaceClient(self._server.kubeconfig, HOME)
        rights = Rights(self._server, self.home, everywhere=True)
        self._stack.callback(rights.close)
        self.proxy = self._stack.enter_context(faulty_proxy(self._server))
        self._operator_kubeconfig = self.proxy.kubeconfig(rights.kubeconfig)
        logs = {name: self._directory / f"{name}.log" for name in OPERATORS}
        for log in logs.values():
            log.touch()
        self._stack.enter_context(serving_logs(self._server, HOME, logs))
        rules = scaled_rules(RULES, FACTOR)
        self.prometheus = self._stack.enter_context(Prometheus(self._directory / "prometheus", rules))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def start_operator(self, name: str, **settings: str) -> OperatorProcess:
        """Starts the next operator, which Prometheus scrapes from now on."""
        operator = OperatorProcess(
            self._operator_kubeconfig,
            self._directory,
            namespaces=(),
            lease_namespace=HOME,
            name=name,
            **settings,
        )
        self._operators[name] = self._stack.enter_context(operator)
        self.prometheus.scrape(**{name: operator.metrics_port})
        return operator

    def kill_operator(self, name: str) -> None:
        """Kills the operator like a node that fails. Its Lease is deleted, as if it had expired."""
        self._operators[name].kill()
        client.CoordinationV1Api(self.home.client).delete_namespaced_lease(RELEASE, HOME)

    def await_quiet(self, *alerts: str) -> None:
        """Returns when the alerts are inactive: their cause can begin."""
        self._await_state("inactive", alerts)
        for alert in alerts:
            self.stories[alert].before = time.time()

    def await_fire(self, *alerts: str) -> None:
        """Returns when all of the alerts have fired for all of their causes since they were quiet."""
        waiting = set(alerts)

        def have_fired() -> bool:
            states = self.prometheus.alerts()
            for alert in [each for each in waiting if _names_its_causes(each, states[each].firing)]:
                self.stories[alert].fired = time.time()
                self.stories[alert].documents = states[alert].firing
                waiting.remove(alert)
            return not waiting

        self.wait(have_fired, f"{', '.join(alerts)} to fire")

    def end_cause(self, *alerts: str) -> None:
        """Records that the cause of the alerts has ended."""
        for alert in alerts:
            self.stories[alert].ended = time.time()

    def await_clear(self, *alerts: str) -> None:
        """Returns when the alerts are inactive again."""
        self._await_state("inactive", alerts)
        for alert in alerts:
            self.stories[alert].cleared = time.time()

    def wait(self, holds: Callable[[], object], what: str) -> None:
        """Plays the kubelet until the condition holds. Fails after NamespaceClient's timeout."""

        def turned() -> bool:
            self.kubelet.turn()
            return bool(holds())

        self.shop.wait(turned, what)

    def _await_state(self, state: str, alerts: tuple[str, ...]) -> None:
        def are() -> bool:
            states = self.prometheus.alerts()
            return all(alert in states and states[alert].state == state for alert in alerts)

        self.wait(are, f"{', '.join(alerts)} to be {state}")


def _names_its_causes(alert: str, firing: Sequence[Document]) -> bool:
    """Whether the alert fires for each cause. One of several objects may be scraped before the others."""
    return all(any(labels.items() <= each["labels"].items() for each in firing) for labels in CAUSES[alert])
