"""A real Prometheus on a loopback port, with rules, which scrapes operators of the tests."""

from __future__ import annotations

import json
import signal
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import yaml

from tests.cluster.ports import free_ports
from tests.cluster.processes import Daemon, wait_until
from tests.cluster.programs import PROMETHEUS

Document = dict[str, Any]
SCRAPE_MS: Final = 1000
"""Time from one scrape to the next, and for its answer: on a busy machine, half of it is not enough."""
_STEP: Final = "500ms"
"""Time from one evaluation of the rules to the next."""
_START_S: Final = 60.0


@dataclass(frozen=True)
class Series:
    """One series of an answer. `values` are pairs of a time, in seconds since 1970, and a value."""

    labels: dict[str, str]
    values: list[tuple[float, float]]


@dataclass(frozen=True)
class Alert:
    """A rule of alerts as Prometheus has evaluated it last. `error` is empty if it could be."""

    state: str
    error: str
    firing: list[Document]
    """Labels and annotations of what fires."""


class Prometheus:
    """One Prometheus. As a context manager it runs for the block; its data stay in the directory."""

    def __init__(self, directory: Path, rules: Document) -> None:
        self._directory = directory
        self._config, self._rules = directory / "prometheus.yaml", directory / "rules.yaml"
        self._daemon = Daemon("prometheus", directory / "prometheus.pid", directory / "prometheus.log")
        (self._port,) = free_ports(1)
        self._targets: dict[str, int] = {}
        directory.mkdir(parents=True, exist_ok=True)
        self._rules.write_text(yaml.safe_dump(rules), encoding="utf-8")

    def scrape(self, **targets: int) -> None:
        """Scrapes also these metrics ports, of Pods by their names, as a ServiceMonitor of the chart does."""
        self._targets |= targets
        self._write_config()
        self._request("/-/reload", method="POST")

    def query(self, query: str, *, at: float | None = None) -> list[Series]:
        """The instant query's answer, now or as of a time. Raises HTTPError for a query that is wrong."""
        answer = self._get("/api/v1/query", query=query, **({} if at is None else {"time": str(at)}))
        return [Series(each["metric"], [_value(each["value"])]) for each in answer["result"]]

    def history(self, query: str, *, begin: float, end: float) -> list[Series]:
        """The query's answer at each evaluation between two times."""
        answer = self._get("/api/v1/query_range", query=query, start=str(begin), end=str(end), step=_STEP)
        return [Series(each["metric"], [_value(pair) for pair in each["values"]]) for each in answer["result"]]

    def label_values(self, series: str, label: str) -> list[str]:
        """The values that a label of a series has had."""
        found: list[str] = self._get(f"/api/v1/label/{label}/values", **{"match[]": series})
        return found

    def alerts(self) -> dict[str, Alert]:
        """The state of each alert by its name."""
        groups = self._get("/api/v1/rules", type="alert")["groups"]
        rules = [rule for group in groups for rule in group["rules"]]
        return {rule["name"]: _alert(rule) for rule in rules if rule["health"] != "unknown"}

    def __enter__(self) -> Self:
        self._write_config()
        self._daemon.start(["setpriv", "--pdeathsig", "KILL", *self._command()])
        if not wait_until(self._is_ready, timeout=_START_S):
            log = self._daemon.log_tail()
            self._daemon.stop(signal.SIGKILL)
            raise TimeoutError(f"Prometheus is not ready after {_START_S:.0f} s\n{log}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._daemon.stop(signal.SIGKILL)

    def _command(self) -> list[str]:
        return [
            str(PROMETHEUS.path),
            f"--config.file={self._config}",
            f"--storage.tsdb.path={self._directory / 'data'}",
            f"--web.listen-address=127.0.0.1:{self._port}",
            "--web.enable-lifecycle",
        ]

    def _write_config(self) -> None:
        targets = [
            {"targets": [f"127.0.0.1:{port}"], "labels": {"namespace": "paimon-system", "pod": pod}}
            for pod, port in self._targets.items()
        ]
        scrape = f"{SCRAPE_MS}ms"
        document = {
            "global": {"scrape_interval": scrape, "scrape_timeout": scrape, "evaluation_interval": _STEP},
            "rule_files": [str(self._rules)],
            "scrape_configs": [{"job_name": "paimon-operator", "honor_labels": True, "static_configs": targets}],
        }
        self._config.write_text(yaml.safe_dump(document), encoding="utf-8")

    def _is_ready(self) -> bool:
        self._daemon.check_alive()
        try:
            return bool(self._request("/-/ready"))
        except OSError:  # it does not listen yet, or answers 503
            return False

    def _get(self, path: str, **query: str) -> Any:
        return json.loads(self._request(f"{path}?{urllib.parse.urlencode(query)}"))["data"]

    def _request(self, path: str, *, method: str = "GET") -> str:
        request = urllib.request.Request(f"http://127.0.0.1:{self._port}{path}", method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - a loopback address
            text: str = answer.read().decode()
        return text


def _alert(rule: Mapping[str, Any]) -> Alert:
    firing = [{key: each[key] for key in ("labels", "annotations")} for each in rule["alerts"] if _fires(each)]
    return Alert(state=rule["state"], error=rule.get("lastError", ""), firing=firing)


def _fires(alert: Mapping[str, Any]) -> bool:
    return bool(alert["state"] == "firing")


def _value(pair: list[Any]) -> tuple[float, float]:
    return float(pair[0]), float(pair[1])
