"""Prometheus metrics of the process. `run_metrics` has those of runs, `object_metrics` those of objects.

Counters are present at 0 from the start where the values of their labels are a closed list: a query for an increase
misses the first event of a series that did not exist before. Only the series of single tables, which a setting bounds
and turns off, name a table.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Final

from prometheus_client import ProcessCollector, generate_latest

from paimon_operator.core.ports import Kind
from paimon_operator.runtime.described_metrics import DescribedMetrics, Description
from paimon_operator.runtime.object_metrics import ObjectMetrics
from paimon_operator.runtime.run_metrics import PrometheusRunMetrics

_SECONDS: Final = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
RECONCILED: Final = (Kind.CATALOG, Kind.TABLE, Kind.RUN, Kind.POD)
RESULTS: Final = ("ok", "retry", "error")


class Metrics:
    """All metrics of one operator, in a registry of their own."""

    def __init__(self, *, version: str) -> None:
        self._all = made = DescribedMetrics()
        ProcessCollector(registry=made.registry)
        made.info("build", "Version of the operator.", version=version)
        self.runs = PrometheusRunMetrics(made)
        self._leader = made.gauge("leader", "1 while this process leads, otherwise 0.")
        self._depth = made.gauge("queue_depth", "Objects that wait for a worker.")
        waiting = "New tables that wait for their turn: a namespace has some per second."
        self._new_tables = made.gauge("new_tables_waiting", waiting)
        self._age = made.gauge("queue_oldest_seconds", "Seconds that the longest waiting object has waited.")
        awaited = "Seconds since the oldest heartbeat that no watch has delivered yet."
        self._awaited = made.gauge("watch_canary_awaited_seconds", awaited)
        self._heartbeats = made.counter("watch_canaries_seen", "Heartbeats that watches delivered, one per 15 s.")
        self._shared = made.counter("shared_pod_runs", "Runs for which a shared driver Pod was created.")
        self._shared_pods = made.counter("shared_pods", "Shared driver Pods that were created.")
        turns = "Turns that drivers of shared Pods asked for, by whether they began (true, false)."
        self._turns = made.counter("turns", turns, "began")
        self._add_reconciles_and_requests(made)
        self._start_at_zero()

    def _add_reconciles_and_requests(self, made: DescribedMetrics) -> None:
        reconciles = "Seconds of reconciles of one object, by kind and result (ok, retry, error)."
        self._reconciles = made.histogram("reconcile_seconds", reconciles, "kind", "result", buckets=_SECONDS)
        self._bugs = made.counter("reconcile_bugs", "Reconciles that a bug in the operator stopped, by kind.", "kind")
        requests = "Seconds of requests to the API server by verb, kind and HTTP status; 0 is no answer."
        self._requests = made.histogram("api_request_seconds", requests, "verb", "kind", "code", buckets=_SECONDS)
        paced = "Seconds that requests to the API server waited for the operator's own rate limit."
        self._paced = made.histogram("api_rate_limit_wait_seconds", paced, buckets=_SECONDS)

    def _start_at_zero(self) -> None:
        for kind, result in product(RECONCILED, RESULTS):
            self._reconciles.labels(kind, result)
            self._bugs.labels(kind)
        for began in ("true", "false"):
            self._turns.labels(began)

    @property
    def described(self) -> list[Description]:
        """The metrics that exist from the start of the process."""
        return self._all.described

    def objects(self, metrics: ObjectMetrics) -> None:
        """Adds the metrics of objects, which are computed when they are read."""
        self._all.registry.register(metrics)

    def queue(self, *, depth: Callable[[], float], oldest_age: Callable[[], float]) -> None:
        """Sets the sources of the figures of the queue."""
        self._depth.set_function(depth)
        self._age.set_function(oldest_age)

    def new_tables(self, *, waiting: Callable[[], float]) -> None:
        """Sets the source of the number of new tables that wait."""
        self._new_tables.set_function(waiting)

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
        return generate_latest(self._all.registry)
