"""Two policies without the operator, which start a Spark run at every tick of the same schedules.

`fixed_cron` compacts and expires at every tick. `plain_threshold` measures the table by SQL first, and compacts it
where it reaches its threshold. Both compact with the same settings as the operator. A tick of a compaction whose last
run is still active is left out (`concurrencyPolicy: Forbid`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from paimon_operator.core import schedule
from paimon_schema.table_schema import TableSchema
from tools.benchmarks.maintenance_day import costs
from tools.benchmarks.maintenance_day.fleet import EXPIRY, FULL, MIDNIGHT, MINOR, DayOfTable
from tools.benchmarks.maintenance_day.runs import RunOfDay, TableDay
from tools.benchmarks.maintenance_day.table_files import Merges, TableFiles

SCHEDULES = (("Full", FULL), ("Minor", MINOR), ("ExpireSnapshots", EXPIRY))
"""A full compaction comes first, as with the operator."""
_FULL_FROM = 2
"""The operator's own threshold of a full compaction."""


def fixed_cron(table: DayOfTable, schema: TableSchema, length: timedelta) -> TableDay:
    """Every tick does its work."""

    def merges(files: TableFiles, action: str) -> Merges:
        return files.full() if action == "Full" else files.minor(table.threshold)

    return _day(TableFiles(table, schema), length, merges)


def plain_threshold(table: DayOfTable, schema: TableSchema, length: timedelta) -> TableDay:
    """Every tick measures, and does its work where the worst bucket reaches the threshold."""

    def merges(files: TableFiles, action: str) -> Merges:
        worst = max(files.pressure_of(place) for place in files.buckets)
        if worst < (_FULL_FROM if action == "Full" else table.threshold):
            return {}
        return files.full() if action == "Full" else files.minor(table.threshold)

    return _day(TableFiles(table, schema), length, merges)


def _day(files: TableFiles, length: timedelta, merges: Callable[[TableFiles, str], Merges]) -> TableDay:
    runs: list[RunOfDay] = []
    free = MIDNIGHT
    for tick, action in _ticks(MIDNIGHT + length):
        if action != "ExpireSnapshots" and _is_active(runs, action, tick):
            continue
        # One run of a table after the other, as the operator does it: two compactions at once would conflict.
        files.advance(max(tick, free))
        run = _expire(files) if action == "ExpireSnapshots" else _compact(files, action, merges(files, action))
        runs.append(run)
        free = run.ended
    files.advance(max(MIDNIGHT + length, files.now))
    return TableDay(table=files.day, runs=tuple(runs), worst=files.worst)


def _is_active(runs: list[RunOfDay], action: str, tick: datetime) -> bool:
    return any(run.action == action and run.ended > tick for run in runs[-len(SCHEDULES) :])


def _compact(files: TableFiles, action: str, merges: Merges) -> RunOfDay:
    at = files.now
    seconds = costs.compaction_seconds(sum(each.rows for each in merges.values()))
    files.advance(at + timedelta(seconds=seconds))
    files.compact(merges)
    return RunOfDay(action=action, at=at, seconds=seconds, changed=bool(merges))


def _expire(files: TableFiles) -> RunOfDay:
    at, seconds = files.now, costs.expiry_seconds()
    files.advance(at + timedelta(seconds=seconds))
    return RunOfDay(action="ExpireSnapshots", at=at, seconds=seconds, changed=files.expire() > 0)


def _ticks(end: datetime) -> Iterator[tuple[datetime, str]]:
    """All ticks of the day in order, without those at midnight and at the end."""
    for tick, _, action in sorted(
        (tick, order, action)
        for order, (action, expression) in enumerate(SCHEDULES)
        for tick in _ticks_of(expression, end)
    ):
        yield tick, action


def _ticks_of(expression: str, end: datetime) -> Iterator[datetime]:
    for tick in schedule.parse(expression, "UTC").ticks_after(MIDNIGHT):
        if tick >= end:
            return
        yield tick
