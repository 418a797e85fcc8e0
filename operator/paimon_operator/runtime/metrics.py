"""Prometheus metrics. No label ever names a table: a fleet must not multiply the number of time series."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector, generate_latest

from paimon_operator.core.ports import Kind

_PREFIX: Final = "paimon_operator"
_SECONDS: Final = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """All metrics of one operator, in a registry of their own."""

    def __init__(self, *, version: str) -> None:
        self._registry = registry = CollectorRegistry()
        gauge = partial(Gauge, namespace=_PREFIX, registry=registry)
        counter = partial(Counter, namespace=_PREFIX, registry=registry)
        histogram = partial(Histogram, namespace=_PREFIX, registry=registry, buckets=_SECONDS)
        ProcessCollector(registry=registry)
        Info("build", "Version of the operator.", namespace=_PREFIX, registry=registry).info({"version": version})
        self._leader = gauge("leader", "1 while this process leads.")
        self._depth = gauge("queue_depth", "Objects that wait for a worker.")
        self._awaited = gauge(
            "watch_canary_awaited_seconds", "Seconds since the oldest heartbeat that no watch has delivered yet."
        )
        self._heartbeats = counter("watch_canaries_seen", "Heartbeats that watches delivered, one per 15 s.")
        self._age = gauge("queue_oldest_seconds", "Seconds that the longest waiting object has waited.")
        reconciles = "Reconciles of one object, by kind and result (ok, retry, error)."
        self._reconciles = histogram("reconcile_seconds", reconciles, ["kind", "result"])
        requests = "Requests to the API server by verb, kind and HTTP status; 0 is no answer."
        self._requests = histogram("api_request_seconds", requests, ["verb", "kind", "code"])
        self._runs = counter("runs_finished", "Runs that ended, by type and phase.", ["type", "phase"])
        bugs = "Reconciles that a bug in the operator stopped, by kind."
        self._bugs = counter("reconcile_bugs", bugs, ["kind"])
        self._shared = counter("shared_pod_runs", "Runs for which a shared driver Pod was created.")
        self._shared_pods = counter("shared_pods", "Shared driver Pods that were created.")
        self._turns = counter("turns", "Turns that drivers of shared Pods asked for, by whether they began.", ["began"])

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

    def run_finished(self, type_: str, phase: str) -> None:
        self._runs.labels(type_, phase).inc()

    def bug_caught(self, kind: Kind) -> None:
        self._bugs.labels(kind).inc()

    def pod_shared(self, runs: int) -> None:
        self._shared_pods.inc()
        self._shared.inc(runs)

    def turn_answered(self, begins: bool) -> None:
        self._turns.labels("true" if begins else "false").inc()

    def text(self) -> bytes:
        """The metrics in Prometheus' text format."""
        return generate_latest(self._registry)
