"""docs/maintenance-day.md, from the lines of docs/maintenance-day.jsonl."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tools.benchmarks.maintenance_day import costs
from tools.benchmarks.maintenance_day.figures import (
    CRON,
    OPERATOR,
    POLICIES,
    THRESHOLD,
    UNOBSERVED,
    Costs,
    avoided_percent,
)
from tools.benchmarks.maintenance_day.played import section

Line = dict[str, Any]
_HEAD: Final = """\
# A day of maintenance

Made by `python -m tools.benchmarks.maintenance_day --record` from `maintenance-day.jsonl`, which has a line for each
policy and seed. `make bench` plays the first seed again. `tests/spark/test_maintenance_day.py`, of the `long` tests,
plays the first hours of ten of the tables with real commits and drivers. There each commit touches all buckets, and
`--record` takes over what they became.

Synthetic writes of one day go to tables of six kinds. Each policy gets the same writes, from the same seed:

"""
_RULES: Final = """\
All have the same schedules: minor compactions every 15 minutes, a full one at 03:00, expiry of snapshots every hour.
A table's threshold of the minor one is 5, 8 or 10 sorted runs, or small files without a key. Full ones use the default.
"""
_AT_A_TICK: Final = {
    OPERATOR: "its pure core decides by `when`, with the last observation of the catalog's observer",
    UNOBSERVED: "the same without an observer: a driver reads the metadata first, without a JVM",
    CRON: "a Spark run, which compacts or expires whatever there is",
    THRESHOLD: "a Spark run, which measures by SQL, and compacts where the worst bucket reaches the threshold",
}
_MODEL: Final = """\
## How it is modelled

* The decisions are those of `paimon_operator.core` on a virtual clock, with the status carried from step to step.
  The measurements and the choice of partitions are made by the code of observer and driver.
* Other programs write, and do not compact (`externalWriters: Active`). Each commit adds a file to some buckets.
* Compactions merge by Paimon's rules (universal compaction). No row is dropped as an older version of a key.
* What is written during a compaction stays in front of its result. Compactions of a table never overlap.
* No limit of runs, budget or maintenance window holds for any policy.
* The observer observes each table once a minute, at a second of its own.

A run takes these seconds, from figures of [benchmarks.md](benchmarks.md) (`costs.py` names each source):

| run | seconds |
|---|---|
"""
_BOUND: Final = """\
A no-op merges and expires nothing. "Beyond" counts the tables that had more sorted runs (or small files) than their
threshold and what one bucket receives within one interval. "At once" is the largest number of driver Pods at one time.
Pod-seconds are those of driver Pods, which request 1 CPU. The observer is one more Pod for each catalog, of 20m CPU,
which runs all day: 86,400 pod-seconds, in which it requests 1,728 CPU-seconds.
"""


def page(lines: Iterable[Line], played: Sequence[Line] = ()) -> str:
    """The page of all lines, and of those of the tables that were `played` on real Spark."""
    by_seed: dict[int, dict[str, Line]] = {}
    for line in lines:
        by_seed.setdefault(line["seed"], {})[line["policy"]] = line
    simulated = {policy for each in by_seed.values() for policy in each}
    policies = _table(["policy", "what happens at a tick"], [row for row in _AT_A_TICK.items() if row[0] in simulated])
    parts = [
        _HEAD + policies,
        _RULES,
        "## Figures\n",
        _BOUND,
        *(part for each in by_seed.values() for part in _of_seed(each)),
    ]
    compared = next((each for each in by_seed.values() if {OPERATOR, CRON} <= each.keys()), None)
    parts += [] if compared is None else ["## By kind of table\n", _kinds(compared)]
    return "\n".join([*parts, *section(played), _MODEL + _seconds()])


def _of_seed(policies: Mapping[str, Line]) -> list[str]:
    any_line = next(iter(policies.values()))
    of = f"Seed {any_line['seed']}, {any_line['total']['tables']} tables, {any_line['hours']} hours"
    rows = [_row(policies[name]) for name in POLICIES if name in policies]
    head = ["policy", "Pods", "Spark runs", "no-ops", "pod-seconds", "sorted runs", "small files", "beyond", "at once"]
    return [f"{of} (commit {any_line['commit']}, {any_line['date']}):\n", _table(head, rows), *_avoided(policies)]


def _avoided(policies: Mapping[str, Line]) -> list[str]:
    if not {OPERATOR, CRON} <= policies.keys():
        return []
    percent = avoided_percent(Costs(**policies[OPERATOR]["total"]), Costs(**policies[CRON]["total"]))
    return [f"The operator avoids {percent:.1f} % of the no-ops of fixed cron.\n"]


def _row(line: Line) -> list[str]:
    total = line["total"]
    numbers = (total["pods"], total["spark_runs"], total["no_ops"], total["pod_seconds"])
    worst = (line["worst_sorted_runs"], line["worst_small_files"], len(line["beyond"]), line["most_at_once"])
    return [line["policy"], *(f"{each:,}" for each in numbers + worst)]


def _kinds(policies: Mapping[str, Line]) -> str:
    """Runs of the operator and of fixed cron, by kind."""
    operator, cron = policies[OPERATOR], policies[CRON]
    rows = [
        [kind, str(ours["tables"])] + [f"{each['kinds'][kind][key]:,}" for key in _SHOWN for each in (operator, cron)]
        for kind, ours in operator["kinds"].items()
    ]
    head = ["kind", "tables", "Pods", "by cron", "no-ops", "by cron", "pod-seconds", "by cron"]
    return f"Seed {operator['seed']}:\n\n" + _table(head, rows)


_SHOWN: Final = ("pods", "no_ops", "pod_seconds")


def _seconds() -> str:
    million = 1_000_000
    rows = (
        ("compaction of 1,000,000 rows", costs.compaction_seconds(million)),
        ("each million of rows more", costs.compaction_seconds(2 * million) - costs.compaction_seconds(million)),
        ("compaction that merges nothing", costs.compaction_seconds(0)),
        ("expiry of snapshots", costs.expiry_seconds()),
        ("a driver without a JVM (1 s of it is an assumption)", costs.look_seconds()),
    )
    return "".join(f"| {name} | {seconds:.1f} |\n" for name, seconds in rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
