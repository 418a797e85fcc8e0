"""The page of the simulated day, and that the committed one is made of the committed lines."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tools.benchmarks.maintenance_day import played as figures
from tools.benchmarks.maintenance_day.__main__ import LEAST_AVOIDED, read
from tools.benchmarks.maintenance_day.checkout import LINES, PAGE, PLAYED
from tools.benchmarks.maintenance_day.figures import CRON, OPERATOR, Costs, Figures, avoided_percent
from tools.benchmarks.maintenance_day.page import page
from tools.benchmarks.maintenance_day.played import Played, keep, kept

ROOT = Path(__file__).resolve().parents[2]


def costs(no_ops: int) -> Costs:
    return Costs(tables=2, pods=1500, spark_runs=1500, no_ops=no_ops, spark_no_ops=no_ops, pod_seconds=9000)


def line(policy: str, no_ops: int, seed: int = 7) -> dict[str, Any]:
    found = Figures(
        policy=policy,
        seed=seed,
        hours=24,
        total=costs(no_ops),
        kinds={"idle": costs(no_ops)},
        worst_sorted_runs=12,
        worst_small_files=3,
        beyond={"idle-000": 2},
        most_at_once=5,
    )
    return {"date": "2026-11-25", "commit": "abc1234"} | asdict(found)


@pytest.mark.parametrize(
    ("ours", "cron", "expected"), [(0, 10, 100.0), (1, 10, 90.0), (11, 1000, 98.9), (20, 10, -100.0), (0, 0, 100.0)]
)
def test_the_share_of_no_ops_that_is_avoided(ours: int, cron: int, expected: float) -> None:
    assert avoided_percent(costs(ours), costs(cron)) == expected


def test_the_page_has_a_row_for_each_policy_and_the_share_for_each_seed() -> None:
    lines = [line(OPERATOR, 1), line(CRON, 1000), line(OPERATOR, 50, seed=8), line(CRON, 1000, seed=8)]
    text = page(lines)
    assert "| fixed cron | 1,500 | 1,500 | 1,000 | 9,000 | 12 | 3 | 1 | 5 |" in text
    assert "Seed 7, 2 tables, 24 hours (commit abc1234, 2026-11-25):" in text
    assert "avoids 99.9 % of" in text
    assert "avoids 95.0 % of" in text
    assert "| idle | 2 | 1,500 | 1,500 | 1 | 1,000 | 9,000 | 9,000 |" in text


def test_a_policy_alone_is_compared_with_nothing() -> None:
    text = page([line(OPERATOR, 1)])
    assert "avoids" not in text
    assert "By kind" not in text


def played(table: str, runs: int, commit: str = "abc1234") -> Played:
    numbers = {"seed": 7, "hours": 4, "writes": 60, "ticks": 16, "no_ops": 0, "worst": 6, "bound": 8}
    return Played(date="2026-11-28", commit=commit, table=table, engine="paimon-1.4", runs=runs, **numbers)


@pytest.fixture
def _two_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "TABLES", 2)


@pytest.mark.usefixtures("_two_tables")
def test_the_page_compares_the_tables_on_real_spark_with_fixed_cron(tmp_path: Path) -> None:
    for each in (played("trickle-003", 5), played("append-001", 2), played("append-001", 3)):
        keep(each, tmp_path)
    text = page([line(OPERATOR, 1)], [asdict(each) for each in kept(tmp_path)])
    assert "Seed 7, the first 4 hours (commit abc1234, 2026-11-28):" in text
    assert "| append-001 | paimon-1.4 | 60 | 16 | 3 | 0 | 6 | 8 |\n| trickle-003 |" in text
    assert "Fixed cron starts 32 Spark runs for these tables, and the operator 8, of which 0 are no-ops." in text


@pytest.mark.usefixtures("_two_tables")
@pytest.mark.parametrize("others", [[], [played("b", 1, "def5678")], [played("b", 1), played("c", 1)]])
def test_figures_of_other_calls_and_of_a_part_are_not_recorded(tmp_path: Path, others: list[Played]) -> None:
    for each in (played("a", 1), *others):
        keep(each, tmp_path)
    with pytest.raises(ValueError, match="play them again"):
        kept(tmp_path)


def test_the_committed_page_is_that_of_the_committed_lines_which_keep_the_promise() -> None:
    lines = [json.loads(text) for text in (ROOT / LINES).read_text().splitlines()]
    assert (ROOT / PAGE).read_text() == page(lines, read(ROOT / PLAYED))
    operator, cron = ({each["seed"]: each for each in lines if each["policy"] == policy} for policy in (OPERATOR, CRON))
    assert operator
    for seed, ours in operator.items():
        assert avoided_percent(Costs(**ours["total"]), Costs(**cron[seed]["total"])) >= LEAST_AVOIDED
        assert ours["beyond"] == {}
        assert ours["total"]["tables"] == 200
