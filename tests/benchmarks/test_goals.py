"""Benchmarks that check a goal find what misses it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tools.benchmarks.fleet.__main__ import Line, growth, more_than_linear
from tools.benchmarks.fleet.long_life import Reading, grown
from tools.benchmarks.fleet.operator_figures import Figures
from tools.benchmarks.observe_fleet import Cost, missed

USUAL = Reading(memory_mib=100, tasks=50, queue=0, files=20)


@pytest.mark.parametrize(
    ("last", "found"),
    [
        (USUAL, []),
        (replace(USUAL, memory_mib=104, tasks=54, files=21), []),
        (replace(USUAL, memory_mib=106), ["memory_mib: 106, before 100"]),
        (replace(USUAL, tasks=56), ["tasks: 56, before 50"]),
        (replace(USUAL, queue=1), ["queue: 1, before 0"]),
        (replace(USUAL, files=23), ["files: 23, before 20"]),
    ],
    ids=["the same", "within the leeway", "memory", "tasks", "queue", "open files"],
)
def test_what_is_larger_in_the_last_hour_is_named(last: Reading, found: list[str]) -> None:
    spike = replace(last, memory_mib=500)
    assert grown([USUAL] * 3, [last, last, spike]) == found, "one reading of a busy moment is no growth"


@pytest.mark.parametrize(
    ("cost", "found"),
    [
        (Cost(1010, 1.0, 9), []),
        (Cost(1011, 0.5, 9), ["1011 requests, goal 1010"]),
        (Cost(600, 1.01, 9), ["1.01 s of CPU, goal 1.00"]),
    ],
    ids=["at the goal", "requests", "CPU"],
)
def test_a_pass_that_takes_more_than_it_may_is_named_but_not_the_first_one(cost: Cost, found: list[str]) -> None:
    first = Cost(11_000, 9.0, 30)
    assert missed([first, cost], tables=1000, changed=10) == found


def restarted(tables: int, seconds: float) -> list[Line]:
    """A restart whose CPU time is half of its seconds."""
    return [Line("restart", seconds, Figures(seconds / 2, 0, tables), tables)]


@pytest.mark.parametrize(
    ("seconds", "found"),
    [(25.0, []), (25.1, ["restart: 2.5 s grew to 25.1 s, which is more than linear"])],
    ids=["ten times as long", "longer"],
)
def test_a_restart_of_ten_times_the_tables_takes_at_most_ten_times_as_long(seconds: float, found: list[str]) -> None:
    assert more_than_linear(restarted(1000, 2.5), restarted(10_000, seconds)) == found


def test_the_growth_is_that_of_the_cpu_time_of_one_table() -> None:
    assert growth(restarted(1000, 2.0), restarted(10_000, 30.0)) == ["| restart | 1.50 |"]
