"""Four hours of the simulated day on 20 tables: what the operator starts, and what fixed cron does instead."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tools.benchmarks.maintenance_day.by_cron import fixed_cron, plain_threshold
from tools.benchmarks.maintenance_day.by_need import by_need, schema_of
from tools.benchmarks.maintenance_day.figures import avoided_percent, costs_of, most_at_once
from tools.benchmarks.maintenance_day.fleet import MIDNIGHT, DayOfTable, fleet_of
from tools.benchmarks.maintenance_day.runs import RunOfDay, TableDay
from tools.benchmarks.maintenance_day.table_files import TableFiles

SEED, TABLES, LENGTH = 1, 20, timedelta(hours=4)
FLEET = fleet_of(TABLES, SEED, LENGTH)
TRICKLE = next(table for table in FLEET if table.kind.name == "trickle")


@pytest.fixture(scope="module")
def operator() -> list[TableDay]:
    return [by_need(table, LENGTH) for table in FLEET]


@pytest.fixture(scope="module")
def cron() -> list[TableDay]:
    return [fixed_cron(table, schema_of(table), LENGTH) for table in FLEET]


def test_the_fleet_has_tables_of_every_kind_and_the_same_writes_for_the_same_seed() -> None:
    assert len({table.kind.name for table in FLEET}) == 6
    assert fleet_of(TABLES, SEED, LENGTH) == FLEET
    assert fleet_of(TABLES, SEED + 1, LENGTH) != FLEET


def test_nine_tenths_of_the_no_ops_of_fixed_cron_are_avoided(operator: list[TableDay], cron: list[TableDay]) -> None:
    ours, fixed = costs_of(operator), costs_of(cron)
    assert fixed.spark_runs == TABLES * (15 + 1 + 4), "every tick of three schedules"
    assert fixed.no_ops > fixed.spark_runs / 2
    assert avoided_percent(ours, fixed) >= 90
    assert ours.pod_seconds < fixed.pod_seconds / 2


def test_no_table_is_worse_than_its_threshold_and_one_interval(operator: list[TableDay]) -> None:
    assert [(day.table.name, day.worst, day.bound) for day in operator if day.beyond] == []
    assert sum(day.worst > day.table.threshold for day in operator) > 2, "or the day is too quiet to show anything"


def test_each_run_was_needed_and_says_why(operator: list[TableDay]) -> None:
    runs = [run for day in operator for run in day.runs]
    assert {run.action for run in runs} == {"Minor", "Full", "ExpireSnapshots"}
    assert [run for run in runs if not run.changed or "(threshold " not in run.reason] == []


def test_the_operator_does_all_that_cron_does(operator: list[TableDay], cron: list[TableDay]) -> None:
    """A policy that does nothing avoids every no-op, too."""
    worst = [(ours.table.name, ours.worst, theirs.worst) for ours, theirs in zip(operator, cron, strict=True)]
    assert [each for each in worst if each[1] > each[2]] == []


def test_without_an_observer_ticks_beside_other_writers_start_drivers_but_no_jvm() -> None:
    day = by_need(TRICKLE, LENGTH, observed=False)
    looks = [run for run in day.runs if not run.has_jvm]
    assert len(looks) > 2
    assert all(run.action == "Minor" and not run.changed for run in looks)
    assert day.beyond == 0


def test_a_plain_threshold_starts_a_jvm_at_every_tick() -> None:
    fixed, plain = (policy(TRICKLE, schema_of(TRICKLE), LENGTH) for policy in (fixed_cron, plain_threshold))
    assert len(plain.runs) == len(fixed.runs)
    assert all(run.has_jvm for run in plain.runs)


def test_a_table_that_nothing_compacts_is_beyond_its_bound() -> None:
    files = TableFiles(TRICKLE, schema_of(TRICKLE))
    files.advance(MIDNIGHT + LENGTH)
    assert TableDay(table=TRICKLE, runs=(), worst=files.worst).beyond > 0


def test_the_growth_of_an_interval_is_that_of_the_worst_bucket() -> None:
    busy = DayOfTable(
        "busy", TRICKLE.kind, 5, tuple(each for each in TRICKLE.writes if each.at < MIDNIGHT + LENGTH / 2)
    )
    most = max(
        sum(first.at <= each.at <= first.at + timedelta(minutes=15) and place in each.places for each in busy.writes)
        for first in busy.writes
        for place in first.places
    )
    assert busy.growth == most > 1


def test_pods_at_once_are_those_that_overlap() -> None:
    def run(minute: float, seconds: float) -> RunOfDay:
        return RunOfDay(action="Minor", at=MIDNIGHT + timedelta(minutes=minute), seconds=seconds, changed=True)

    assert most_at_once([]) == 0
    assert most_at_once([run(0, 60), run(1, 60)]) == 1
    assert most_at_once([run(0, 61), run(1, 60), run(1, 30), run(5, 1)]) == 3
