"""What a policy costs and how bad its tables become, summed over a fleet: one record for each policy and seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from tools.benchmarks.maintenance_day.by_cron import fixed_cron, plain_threshold
from tools.benchmarks.maintenance_day.by_need import by_need, schema_of
from tools.benchmarks.maintenance_day.fleet import DayOfTable, fleet_of
from tools.benchmarks.maintenance_day.runs import RunOfDay, TableDay

Policy = Callable[[DayOfTable, timedelta], TableDay]
OPERATOR, UNOBSERVED, CRON, THRESHOLD = "operator", "operator, no observer", "fixed cron", "plain threshold"
POLICIES: dict[str, Policy] = {
    OPERATOR: by_need,
    UNOBSERVED: lambda table, length: by_need(table, length, observed=False),
    CRON: lambda table, length: fixed_cron(table, schema_of(table), length),
    THRESHOLD: lambda table, length: plain_threshold(table, schema_of(table), length),
}


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Runs of some tables. A no-op merged and expired nothing."""

    tables: int
    pods: int
    """Driver Pods."""
    spark_runs: int
    """Those with a JVM."""
    no_ops: int
    spark_no_ops: int
    pod_seconds: int


@dataclass(frozen=True, kw_only=True)
class Figures:
    """One policy on one fleet."""

    policy: str
    seed: int
    hours: int
    total: Costs
    kinds: dict[str, Costs]
    worst_sorted_runs: int
    worst_small_files: int
    """Of a table without a key."""
    beyond: dict[str, int]
    """Tables that were worse than their threshold and one interval, and by how much."""
    most_at_once: int
    """Driver Pods at one time, without any limit of runs."""


def figures_of(policy: str, count: int, seed: int, hours: int) -> Figures:
    """Plays the day, or its first hours, on a fleet of so many tables."""
    length = timedelta(hours=hours)
    days = [POLICIES[policy](table, length) for table in fleet_of(count, seed, length)]
    kinds = sorted({day.table.kind.name for day in days})
    return Figures(
        policy=policy,
        seed=seed,
        hours=hours,
        total=costs_of(days),
        kinds={kind: costs_of([day for day in days if day.table.kind.name == kind]) for kind in kinds},
        worst_sorted_runs=max((day.worst for day in days if day.table.has_key), default=0),
        worst_small_files=max((day.worst for day in days if not day.table.has_key), default=0),
        beyond={day.table.name: day.beyond for day in days if day.beyond},
        most_at_once=most_at_once(run for day in days for run in day.runs),
    )


def costs_of(days: Sequence[TableDay]) -> Costs:
    """The sums over the tables."""
    runs = [run for day in days for run in day.runs]
    return Costs(
        tables=len(days),
        pods=len(runs),
        spark_runs=sum(run.has_jvm for run in runs),
        no_ops=sum(not run.changed for run in runs),
        spark_no_ops=sum(run.has_jvm and not run.changed for run in runs),
        pod_seconds=round(sum(run.seconds for run in runs)),
    )


def most_at_once(runs: Iterable[RunOfDay]) -> int:
    """The most runs that are active at one time. One that ends when another begins does not count with it."""
    moments = sorted(moment for run in runs for moment in ((run.at, 1), (run.ended, -1)))
    most = active = 0
    for _, change in moments:
        active += change
        most = max(most, active)
    return most


def avoided_percent(policy: Costs, cron: Costs) -> float:
    """Of the no-ops of fixed cron, the share that the policy does not have; rounded down to a tenth."""
    return 100.0 if not cron.no_ops else (1000 * (cron.no_ops - policy.no_ops) // cron.no_ops) / 10
