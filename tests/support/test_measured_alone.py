"""Which tests run again alone after they took more than the limit beside others, and what becomes of the record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import measured_alone
from tests.support.measured_alone import DOUBTFUL_S, RECORD, ROOT, main, new_record, selection, slower_by, to_measure
from tests.support.time_limit import LIMIT_S

OVER = LIMIT_S + 1


TWICE = {"t.py::known": 80.0, "t.py::known as well@group": 40.0}
"""Two tests of RECORD on a machine, and among others, where a test takes twice as long as alone."""
KNOWN = {"t.py::known": 40.0, "t.py::known as well": 20.0}


@pytest.mark.parametrize(
    ("beside_others", "record", "measured"),
    [
        pytest.param({"t.py::a": LIMIT_S}, {}, set(), id="within the limit"),
        pytest.param({"t.py::a": OVER}, {}, {"t.py::a"}, id="over the limit and new"),
        pytest.param({"t.py::a@group": OVER}, {}, {"t.py::a"}, id="its group is not part of its id"),
        pytest.param(TWICE | {"t.py::a": 2 * LIMIT_S}, KNOWN, set(), id="slow machine, short by its speed"),
        pytest.param(TWICE | {"t.py::a": 2 * OVER}, KNOWN, {"t.py::a"}, id="slow machine, long by its speed"),
        pytest.param({"t.py::a@group": OVER}, {"t.py::a": LIMIT_S}, set(), id="known as short when alone"),
        pytest.param({"t.py::a": DOUBTFUL_S + 1}, {"t.py::a": OVER * 3}, {"t.py::a"}, id="known, and far too long now"),
    ],
)
def test_a_test_that_may_be_over_the_limit_when_alone_runs_again(
    beside_others: dict[str, float], record: dict[str, float], measured: set[str]
) -> None:
    assert to_measure(beside_others, record) == measured


@pytest.mark.parametrize(
    ("beside_others", "record", "times"),
    [
        pytest.param({"t.py::a": 90.0}, {}, 1.0, id="nothing is known"),
        pytest.param({"t.py::a": 10.0}, {"t.py::a": 20.0}, 1.0, id="a fast machine"),
        pytest.param(
            {"t.py::a@g": 80.0, "t.py::b": 20.0, "t.py::c": 900.0, "t.py::d": 1.0},
            {"t.py::a": 20.0, "t.py::b": 10.0, "t.py::c": 9.0, "t.py::gone": 9.0},
            4.0,
            id="the median, and only of tests that have both",
        ),
    ],
)
def test_the_record_says_how_slow_the_machine_is(
    beside_others: dict[str, float], record: dict[str, float], times: float
) -> None:
    assert slower_by(beside_others, record) == times


def test_a_step_of_a_story_runs_with_its_class() -> None:
    steps = ["e2e/t.py::TestLife::test_b[x]", "e2e/t.py::TestLife::test_a", "t.py::test_c[x]"]
    assert selection(steps) == ["e2e/t.py::TestLife", "t.py::test_c[x]"]


def test_the_record_holds_the_tests_asked_for_and_forgets_those_that_are_gone() -> None:
    seconds = {"t.py::TestLife::test_a": 1.0, "t.py::TestLife::test_b": 31.26}
    assert new_record(seconds, ["t.py::TestLife::test_b", "t.py::gone"]) == {"t.py::TestLife::test_b": 31.3}


def test_no_test_of_the_record_is_over_the_limit() -> None:
    assert max(json.loads(RECORD.read_text()).values()) <= LIMIT_S


def test_a_test_that_is_slow_alone_fails_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of the second measurement is the real one, so its pytest is replaced by one that answers."""
    asked: list[list[str]] = []

    def run(selected: list[str]) -> int:
        asked.append(selected)
        return 1

    monkeypatch.setattr(measured_alone, "_run", run)
    seconds = tmp_path / "seconds.json"
    seconds.write_text(json.dumps({"t.py::new@group": OVER}))
    assert main([str(seconds)]) == 1
    assert asked == [["t.py::new"]]


def test_the_tests_of_several_runs_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(measured_alone, "_run", asked.extend)
    files = [tmp_path / name for name in ("unit.json", "node.json")]
    for file in files:
        file.write_text(json.dumps({f"{file.stem}.py::new": OVER}))
    main([str(file) for file in files])
    assert asked == ["node.py::new", "unit.py::new"]


def test_a_run_without_slow_tests_measures_nothing(tmp_path: Path) -> None:
    seconds = tmp_path / "seconds.json"
    seconds.write_text("{}")
    assert main([str(seconds)]) == 0


def test_the_tests_of_the_record_exist() -> None:
    """A renamed test would be measured again in every run."""
    code = "".join(file.read_text() for file in sorted((ROOT / "tests").rglob("*.py")))
    recorded = {test.partition("[")[0].rpartition("::")[2] for test in json.loads(RECORD.read_text())}
    assert [name for name in sorted(recorded) if f"def {name}(" not in code] == []
