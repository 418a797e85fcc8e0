"""Metrics of runs, by type and reason. No label names a run or a table."""

from __future__ import annotations

from collections.abc import Set
from itertools import product
from typing import Final

from paimon_operator.api.reasons import Reason, environment, failures
from paimon_operator.core.operations import registry as operations
from paimon_operator.core.run.completion import ENDED
from paimon_operator.runtime.described_metrics import DescribedMetrics

_RUN_SECONDS: Final = (5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 43200)
_PENDING_SECONDS: Final = (1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800)
_LATE_SECONDS: Final = (1, 5, 15, 60, 300, 900, 3600, 14400, 43200, 86400)
_FAILURES: Final = sorted({*failures.EXPLANATIONS, *environment.EXPLANATIONS})
ATTEMPT_REASONS: Final = (Reason.RUN_SUCCEEDED, *(Reason(word) for word in _FAILURES))
"""Reasons with which attempts usually end. Their counters are present at 0 from the start, for every type."""
_EXECUTORS: Final = "Executors count as long as their driver."


class PrometheusRunMetrics:
    """The `RunMetrics` of one registry."""

    def __init__(self, made: DescribedMetrics) -> None:
        by_reason = "type", "reason"
        self._finished = made.counter("runs_finished", "Runs that ended, by type and phase.", "type", "phase")
        lengths = "Seconds from the first reconcile of a run to its end, by type and reason of the condition Succeeded."
        self._seconds = made.histogram("run_duration_seconds", lengths, *by_reason, buckets=_RUN_SECONDS)
        ended = "Attempts that ended, by type of the run and reason. RunSucceeded: the attempt succeeded."
        self._attempts = made.counter("run_attempts", ended, *by_reason)
        used = "Seconds that containers of ended attempts ran, by type of the run and reason. " + _EXECUTORS
        self._pod_seconds = made.counter("run_pod_seconds", used, *by_reason)
        pending = "Seconds from the decision of an attempt to the start of its container, by type and reason to wait."
        self._pending = made.histogram("run_pending_seconds", pending, *by_reason, buckets=_PENDING_SECONDS)
        late = "Seconds from the tick of a schedule to the start of its run's first container, by type."
        self._late = made.histogram("schedule_late_seconds", late, "type", buckets=_LATE_SECONDS)
        self._add_counters_of_namespaces(made)
        self._start_at_zero()

    def _add_counters_of_namespaces(self, made: DescribedMetrics) -> None:
        """They begin at 0 when a namespace has its first run (of a type). Alerts on them name who is responsible."""
        used = "Seconds that containers of ended attempts ran, by namespace of the run. " + _EXECUTORS
        self._used = made.counter("used_pod_seconds", used, "namespace")
        ended = "Runs that ended, by namespace, type and phase."
        self._finished_of = made.counter("namespace_runs_finished", ended, "namespace", "type", "phase")
        killed = "Attempts that ran out of memory, by namespace and type of the run."
        self._out_of_memory = made.counter("namespace_attempts_out_of_memory", killed, "namespace", "type")
        self._namespaces: set[str] = set()
        self._leaving: set[str] = set()
        """Without an object at the last call of `keep_namespaces`."""

    def _start_at_zero(self) -> None:
        types = operations.OPERATIONS.types
        for type_, phase in product(types, sorted(ENDED)):
            self._finished.labels(type_, phase)
        for type_ in types:
            self._seconds.labels(type_, Reason.RUN_SUCCEEDED)
        for type_, reason in product(types, ATTEMPT_REASONS):
            self._attempts.labels(type_, reason)
            self._pod_seconds.labels(type_, reason)
        for operation in operations.OPERATIONS.recurring:
            self._late.labels(operation.type)

    def pod_started(self, type_: str, reason: Reason, pending_seconds: float) -> None:
        self._pending.labels(type_, reason).observe(pending_seconds)

    def schedule_answered(self, type_: str, late_seconds: float) -> None:
        self._late.labels(type_).observe(late_seconds)

    def keep_namespaces(self, live: Set[str]) -> None:
        """Removes the counters of namespaces that twice in turn are not `live`: a scrape has had their last values."""
        absent = self._namespaces - live
        for gone in absent & self._leaving:
            for counter in (self._used, self._finished_of, self._out_of_memory):
                counter.remove_by_labels({"namespace": gone})
        self._namespaces -= absent & self._leaving
        self._leaving = absent & self._namespaces

    def run_known(self, namespace: str, type_: str) -> None:
        self._namespaces.add(namespace)
        self._used.labels(namespace)
        self._out_of_memory.labels(namespace, type_)
        for phase in ENDED:
            self._finished_of.labels(namespace, type_, phase)

    def attempt_ended(self, namespace: str, type_: str, reason: Reason, pod_seconds: float) -> None:
        self._attempts.labels(type_, reason).inc()
        self._pod_seconds.labels(type_, reason).inc(pod_seconds)
        self._used.labels(namespace).inc(pod_seconds)
        if reason is Reason.OUT_OF_MEMORY:
            self._out_of_memory.labels(namespace, type_).inc()

    def run_ended(self, namespace: str, type_: str, phase: str, reason: Reason, seconds: float) -> None:
        self._finished.labels(type_, phase).inc()
        self._finished_of.labels(namespace, type_, phase).inc()
        self._seconds.labels(type_, reason).observe(seconds)
