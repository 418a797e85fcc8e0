"""Prometheus metrics of the process. `run_metrics` has those of runs, `object_metrics` those of objects.

Counters are present at 0 from the start where the values of their labels are a closed list: a query for an increase
misses the first event of a series that did not exist before. Only the series of `table_series`, which a setting bounds
and turns off, name a table.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector, generate_latest
from prometheus_client.registry import Collector

from paimon_operator.core.ports import Kind
from paimon_operator.runtime.run_metrics import PrometheusRunMetrics

PREFIX: Final = "paimon_operator"
_SECONDS: Final = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
RECONCILED: Final = (Kind.CATALOG, Kind.TABLE, Kind.RUN, Kind.POD)
RESULTS: Final = ("ok", "retry", "error")


class Metrics:
    """All metrics of one operator, in a registry of their own."""

    def __init__(self, *, version: str) -> None:
        self.registry = registry = CollectorRegistry()
        gauge = partial(Gauge, namespace=PREFIX, registry=registry)
        counter = partial(Counter, namespace=PREFIX, registry=registry)
        ProcessCollector(registry=registry)
        Info("build", "Version of the operator.", namespace=PREFIX, registry=registry).info({"version": version})
        self.runs = PrometheusRunMetrics(registry, prefix=PREFIX)
        self._leader = gauge("leader", "1 while this process leads.")
        self._depth = gauge("queue_depth", "Objects that wait for a worker.")
        self._awaited = gauge(
            "watch_canary_awaited_seconds", "Seconds since the oldest heartbeat that no watch has delivered yet."
        )
        self._heartbeats = counter("watch_canaries_seen", "Heartbeats that watches delivered, one per 15 s.")
        self._age = gauge("queue_oldest_seconds", "Seconds that the longest waiting object has waited.")
        self._shared = counter("shared_pod_runs", "Runs for which a shared driver Pod was created.")
        self._shared_pods = counter("shared_pods", "Shared driver Pods that were created.")
        self._turns = counter("turns", "Turns that drivers of shared Pods asked for, by whether they began.", ["began"])
        self._add_reconciles_and_requests(counter)
        self._start_at_zero()

    def _add_reconciles_and_requests(self, counter: Callable[..., Counter]) -> None:
        histogram = partial(Histogram, namespace=PREFIX, registry=self.registry, buckets=_SECONDS)
        reconciles = "Seconds of reconciles of one object, by kind and result (ok, retry, error)."
        self._reconciles = histogram("reconcile_seconds", reconciles, ["kind", "result"])
        bugs = "Reconciles that a bug in the operator stopped, by kind."
        self._bugs = counter("reconcile_bugs", bugs, ["kind"])
        requests = "Seconds of requests to the API server by verb, kind and HTTP status; 0 is no answer."
        self._requests = histogram("api_request_seconds", requests, ["verb", "kind", "code"])
        paced = "Seconds that requests to the API server waited for the operator's own rate limit."
        self._paced = histogram("api_rate_limit_wait_seconds", paced)

    def _start_at_zero(self) -> None:
        for kind, result in product(RECONCILED, RESULTS):
            self._reconciles.labels(kind, result)
            self._bugs.labels(kind)
        for began in ("true", "false"):
            self._turns.labels(began)

    def add(self, collector: Collector) -> None:
        """Adds metrics that are computed when they are read."""
        self.registry.register(collector)

    def queue(self, *, depth: Callable[[], float], oldest_age: Callable[[], float]) -> None:
        """Sets the sources of the figures of the queue."""
        self._depth.set_function(depth)
        self._age.set_function(oldest_age)

    def watches(self, *, heartbeat_age: Callable[[], float]) -> None:
        """Sets the source of the age of the heartbeat."""
        self._awaited.set_function(heartbeat_age)

    def count_heartbeat(self) -> None:
        self._heartbeats.inc()

    def leading(self, leads: bool) -> None:
        self._leader.set(1 if leads else 0)

    def reconciled(self, kind: str, result: str, seconds: float) -> None:
        self._reconciles.labels(kind, result).observe(seconds)

    def requested(self, verb: str, kind: str, code: int, seconds: float) -> None:
        self._requests.labels(verb, kind, str(code)).observe(seconds)

    def paced(self, seconds: float) -> None:
        self._paced.observe(seconds)

    def bug_caught(self, kind: Kind) -> None:
        self._bugs.labels(kind).inc()

    def pod_shared(self, runs: int) -> None:
        self._shared_pods.inc()
        self._shared.inc(runs)

    def turn_answered(self, begins: bool) -> None:
        self._turns.labels("true" if begins else "false").inc()

    def text(self) -> bytes:
        """The metrics in Prometheus' text format."""
        return generate_latest(self.registry)
