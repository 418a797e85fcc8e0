"""Benchmarks that check a goal find what misses it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tools.benchmarks.batching import APPLY_GOAL, EXPIRY_GOAL, LIMITS
from tools.benchmarks.batching import missed as missed_by_sharing
from tools.benchmarks.fleet.__main__ import Line, growth, more_than_linear, too_slow
from tools.benchmarks.fleet.__main__ import missed as missed_requests
from tools.benchmarks.fleet.history import missed_with_history
from tools.benchmarks.fleet.long_life import Reading, grown
from tools.benchmarks.fleet.neighbour import FEWEST, RATE, Beside, Measured, Waits, report, together, unsettled
from tools.benchmarks.fleet.neighbour import missed as missed_beside
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


def fleet(tables: int, *, restart_s: float = 60, runs_s: float = 60) -> list[Line]:
    """A restart, and 300 runs."""
    return [*restarted(tables, restart_s), Line("runs", runs_s, Figures(9, 300 * 14, 300), 300)]


@pytest.mark.parametrize(
    ("sentence", "tables", "lines", "peak", "found"),
    [
        ("at the goals", 10_000, fleet(10_000), 300, []),
        ("runs", 10_000, fleet(10_000, runs_s=61), 300, ["runs: 295 a minute, goal 300"]),
        ("restart", 1000, fleet(1000, restart_s=61), 300, ["restart: 61 s, goal 60 s"]),
        ("memory", 1000, fleet(1000), 301, ["memory: 301 MiB, goal 300 MiB"]),
        ("more tables than the goals are for", 20_000, fleet(20_000, restart_s=99), 500, []),
        ("too few to be measured", 100, fleet(100, restart_s=99, runs_s=99), 500, []),
    ],
)
def test_a_fleet_that_is_slower_or_larger_than_it_may_be_is_named(
    sentence: str, tables: int, lines: list[Line], peak: float, found: list[str]
) -> None:
    assert too_slow(tables, lines, peak) == found, sentence


@pytest.mark.parametrize(
    ("what", "requests", "objects", "found"),
    [
        ("create", 310, 100, []),
        ("create", 311, 100, ["create: 311 requests, goal 310"]),
        ("restart", 12, 100, []),
        ("restart", 13, 100, ["restart: 13 requests, goal 12"]),
        ("idle", 12, 60, []),
        ("idle", 13, 60, ["idle: 13 requests, goal 12"]),
        ("runs", 180, 10, []),
        ("runs", 181, 10, ["runs: 181 requests, goal 180"]),
        ("watch", 999, 100, []),
    ],
)
def test_a_count_of_requests_that_misses_its_goal_is_named(
    what: str, requests: float, objects: float, found: list[str]
) -> None:
    assert missed_requests([Line(what, 1, Figures(1, requests, 0), objects)]) == found


@pytest.mark.parametrize(
    ("seconds", "reads", "others", "most"),
    [
        (4.9, 20, 160, 180),
        (5, 40, 170, 210),
        (5, 50, 160, 210),
        (15, 50, 170, 220),
    ],
    ids=["no time for a look", "as many looks as there was time for", "more", "fewer"],
)
def test_runs_that_take_long_may_be_looked_at_again_and_again(
    seconds: float, reads: float, others: float, most: float
) -> None:
    def found(more: float) -> list[str]:
        return missed_requests([Line("runs", seconds, Figures(1, reads + others + more, 0, reads), 10)])

    assert (found(0), found(1)) == ([], [f"runs: {most + 1:.0f} requests, goal {most:.0f}"])


@pytest.mark.parametrize(
    ("requests", "seconds", "peak", "found"),
    [
        (90, 60, 300, []),
        (91, 60, 300, ["restart: 91 requests, goal 90"]),
        (90, 61, 300, ["restart: 61 s, goal 60 s"]),
        (90, 60, 301, ["memory: 301 MiB, goal 300 MiB"]),
    ],
    ids=["at the goals", "a request beside the pages", "time", "memory"],
)
def test_a_restart_with_three_past_runs_of_each_table_may_list_them_and_no_more(
    requests: int, seconds: float, peak: float, found: list[str]
) -> None:
    restart = Line("restart", seconds, Figures(9, requests, 1000), 1000)
    assert missed_with_history(1000, [restart], peak) == found


SLOW = "20 a second: 5.00 times as long, goal 2"


@pytest.mark.parametrize(
    ("sentence", "rate", "operators", "plain", "found"),
    [
        ("at the goal", 20, 0.12, 0.03, []),
        ("with the API server", 20, 0.3, 0.15, [SLOW]),
        ("at the lower rate", 10, 0.3, 0.15, ["10 a second: 5.00 times as long, goal 2"]),
        ("by itself", 20, 0.3, 0.03, [SLOW, "20 a second: grows 5.00 times as much as a client's, goal 2"]),
        ("with the API server, which one after the other are too much for", 0, 0.3, 0.15, []),
        (
            "by itself, beside tables one after the other",
            0,
            0.3,
            0.03,
            ["one after the other: grows 5.00 times as much as a client's, goal 2"],
        ),
    ],
)
def test_a_wait_beside_other_tables_that_grows_too_much_is_named(
    sentence: str, rate: int, operators: float, plain: float, found: list[str]
) -> None:
    beside, alone = Waits([operators] * 9, [plain] * 9), Waits([0.06] * 9, [0.03] * 9)
    assert missed_beside(rate, beside, alone) == found, sentence


def waits(count: int, seconds: float = 0.06) -> Waits:
    """Waits of which each takes twice as long as a client's."""
    return Waits([seconds] * count, [seconds / 2] * count)


@pytest.mark.parametrize(
    ("creating", "after", "found"),
    [
        (waits(FEWEST), waits(0), []),
        (waits(FEWEST - 1), waits(FEWEST), [f"steady: fewer than {FEWEST} waits"]),
        (waits(FEWEST), waits(FEWEST, 0.3), [SLOW]),
        (waits(FEWEST), waits(FEWEST - 1, 0.3), []),
    ],
    ids=["enough waits", "too few while they are created", "slow after that", "too few after that for a figure"],
)
def test_both_periods_of_a_neighbour_have_the_goal_and_the_first_one_must_be_measured(
    creating: Waits, after: Waits, found: list[str]
) -> None:
    assert report([Measured("steady", waits(FEWEST), Beside(creating, after, 240, 0))]) == found


@pytest.mark.parametrize(("slow", "found"), [(3, []), (8, [SLOW])])
def test_a_rate_is_judged_by_its_waits_on_all_api_servers(slow: int, found: list[str]) -> None:
    usual, with_slow_ones = waits(200), together([waits(200 - slow), waits(slow, 0.3)])
    first = Measured("steady", usual, Beside(with_slow_ones, waits(0), 240, 0))
    assert report([first, Measured("steady-again", usual, Beside(usual, waits(0), 240, 0))]) == found


def test_the_waits_alone_are_those_on_all_api_servers() -> None:
    fast, slow = waits(200), waits(200, 0.15)
    both = [
        Measured("calm", fast, Beside(waits(200, 0.2), waits(0), 0, 0)),
        Measured("steady", slow, Beside(fast, fast, 1, 0)),
    ]
    assert report(both) == []


@pytest.mark.parametrize(
    ("done", "found"),
    [(100, []), (40, []), (39, ["steady: 1 tables are not reconciled in time"])],
    ids=["all", "as many as the rate allows", "one less"],
)
def test_other_tables_that_the_operator_has_not_reconciled_at_its_rate_are_counted(done: int, found: list[str]) -> None:
    settled = {"status": {"conditions": [{"type": "Ready"}]}}
    behind = unsettled([settled] * done + [{}] * (100 - done), 40 / RATE)
    assert report([Measured("steady", waits(FEWEST), Beside(waits(FEWEST), waits(0), 240, behind))]) == found


@pytest.mark.parametrize("at_a_time", LIMITS)
def test_shared_pods_must_meet_the_goal_with_any_number_of_pods_at_a_time(at_a_time: str) -> None:
    met = dict.fromkeys(LIMITS, EXPIRY_GOAL)
    assert missed_by_sharing(met, APPLY_GOAL) == []
    assert missed_by_sharing({**met, at_a_time: 0.053}, APPLY_GOAL) == [f"expiries, {at_a_time}: 0.053"]


def test_a_fleet_that_is_ready_too_late_is_named() -> None:
    assert missed_by_sharing({}, 0.2) == ["applied tables: 0.200"]
