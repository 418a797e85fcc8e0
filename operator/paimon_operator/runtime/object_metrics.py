"""Metrics of all objects, computed from the cache when they are read, and not again within some seconds.

The cost is linear in the number of objects, and no request is sent. A follower has no objects, so only the leader has
these series.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from paimon_operator.core.ports import Kind
from paimon_operator.runtime.cache import KEPT, Cache
from paimon_operator.runtime.decided_until import DecidedUntil
from paimon_operator.runtime.deferred_ticks import DeferredTicks
from paimon_operator.runtime.described_metrics import PREFIX, Description
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.object_facts import RECURRING, Conditions, TableFigures

OBJECTS: Final = Description(
    "gauge",
    f"{PREFIX}_objects",
    "Objects by kind and namespace that have a condition with this status and reason.",
    ("kind", "namespace", "condition", "status", "reason"),
)
SORTED_RUNS: Final = Description(
    "gauge", f"{PREFIX}_sorted_runs_max", "Largest number of sorted runs in a bucket of a table.", ("namespace",)
)
OVERDUE: Final = Description(
    "gauge",
    f"{PREFIX}_schedule_overdue_seconds",
    "Seconds since the first tick of a schedule that no run has answered, of the table that is latest. Runs that wait "
    "for a maintenance window or a budget are not overdue, nor are those of a suspended or stalled table.",
    ("namespace",),
)
POD_SECONDS: Final = Description(
    "gauge",
    f"{PREFIX}_namespace_pod_seconds",
    "Seconds that the containers of all runs of the namespace's tables ran, as in their status.usage. It decreases "
    "when a table is deleted.",
    ("namespace",),
)
LAST_SUCCESS: Final = Description(
    "gauge",
    f"{PREFIX}_table_last_success_timestamp_seconds",
    "Time of the last success of an operation on a table, in seconds since 1970, by type. Its age is time() less this.",
    ("namespace", "table", "type"),
)
LEFT_OUT: Final = Description(
    "gauge",
    f"{PREFIX}_tables_without_series",
    "Tables without series of their own: metrics.perTable limits or turns off these series.",
)
DESCRIBED: Final = (OBJECTS, SORTED_RUNS, OVERDUE, POD_SECONDS, LAST_SUCCESS, LEFT_OUT)
KEPT_SECONDS: Final = 5.0
"""Reads within so many seconds get the same values."""
Families = list[Metric]


class ObjectMetrics(Collector):
    """Gauges of objects by namespace, and, up to a limit, of single tables.

    `table_limit` is the number of tables with series of their own, 0 for none. `now` is in seconds since 1970.
    No tick is late that this process has skipped, by `deferred`, or the one before, by `decided`.
    """

    def __init__(
        self,
        cache: Cache,
        *,
        table_limit: int,
        now: Callable[[], float],
        decided: DecidedUntil,
        deferred: DeferredTicks,
    ) -> None:
        self._cache, self._limit, self._now = cache, table_limit, now
        self._decided, self._deferred = decided, deferred
        self._computed: tuple[float, Families] | None = None

    def describe(self) -> Iterable[Metric]:
        """The metrics without values."""
        return [_gauge(each) for each in DESCRIBED]

    def collect(self) -> Iterator[Metric]:
        """The metrics as of now, or of a moment ago."""
        now = self._now()
        if self._computed is None or not 0 <= now - self._computed[0] < KEPT_SECONDS:
            self._computed = now, self._compute(now)
        yield from self._computed[1]

    def _compute(self, now: float) -> Families:
        tables = [(key, facts.table) for key, facts in self._cache.facts(Kind.TABLE) if facts.table is not None]
        objects, *by_namespace = (_gauge(each) for each in (OBJECTS, SORTED_RUNS, OVERDUE, POD_SECONDS))
        for labels, count in sorted(self._conditions().items()):
            objects.add_metric(labels, count)
        for family, values in zip(by_namespace, _by_namespace(tables, partial(self._late_by, now=now)), strict=True):
            for namespace, value in sorted(values.items()):
                family.add_metric([namespace], value)
        return [objects, *by_namespace, *self._of_tables(tables)]

    def _late_by(self, key: Key, figures: TableFigures, *, now: float) -> float:
        """Seconds since the first tick of a table that is late."""
        ticks = [] if figures.overdue_since is None else [figures.overdue_since]
        if figures.skipped_since is not None:
            left, known = self._decided.left, self._deferred.first_next(key)
            decided = -math.inf if left is None else left.timestamp()
            ticks.append(max(figures.skipped_since, decided, -math.inf if known is None else known))
        return max(0.0, now - min(ticks, default=now))

    def _conditions(self) -> Counter[tuple[str, str, str, str, str]]:
        """Objects by the labels of each condition. Objects in the same state are counted before their conditions."""
        states: Counter[tuple[Kind, str, Conditions]] = Counter(
            (kind, key.namespace, facts.conditions) for kind in KEPT for key, facts in self._cache.facts(kind)
        )
        found: Counter[tuple[str, str, str, str, str]] = Counter()
        for (kind, namespace, conditions), count in states.items():
            for type_, status, reason in conditions.all:
                found[str(kind), namespace, type_, status, reason] += count
        return found

    def _of_tables(self, tables: list[tuple[Key, TableFigures]]) -> Families:
        successes, left_out = _gauge(LAST_SUCCESS), _gauge(LEFT_OUT)
        shown = sorted(tables, key=lambda each: each[0])[: self._limit]
        for key, figures in shown:
            for operation, time in zip(RECURRING, figures.last_successes, strict=True):
                if not math.isnan(time):
                    successes.add_metric([key.namespace, key.name, operation.type], time)
        left_out.add_metric([], len(tables) - len(shown))
        return [successes, left_out]


def _gauge(described: Description) -> GaugeMetricFamily:
    return GaugeMetricFamily(described.name, described.text, labels=described.labels)


def _by_namespace(
    tables: Iterable[tuple[Key, TableFigures]], late_by: Callable[[Key, TableFigures], float]
) -> list[dict[str, float]]:
    """Worst sorted runs, worst delay, and sum of Pod seconds of each namespace."""
    sorted_runs: dict[str, float] = {}
    overdue: dict[str, float] = {}
    used: dict[str, float] = defaultdict(float)
    for key, figures in tables:
        namespace = key.namespace
        used[namespace] += figures.pod_seconds
        if figures.sorted_runs is not None:
            sorted_runs[namespace] = max(sorted_runs.get(namespace, 0), figures.sorted_runs)
        overdue[namespace] = max(overdue.get(namespace, 0.0), late_by(key, figures))
    return [sorted_runs, overdue, used]
