"""The report of `make test-long`: a line per part and a page, for parts that passed, failed or were aborted."""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path

import pytest

from tests.support import long_report

ROOT = Path(__file__).resolve().parents[2]

PASSED = '<testcase classname="tests.e2e.test_faults" name="test_a[x|y]" time="80.04"/>'
OF_CLASS = '<testcase classname="tests.e2e.test_faults.TestStory" name="test_b" time="10"/>'
FAILED = '<testcase classname="tests.spark.test_c" name="test_c" time="5"><failure message="m">t</failure></testcase>'
TEARDOWN = '<testcase classname="tests.spark.test_c" name="test_d" time="5"><error message="m">t</error></testcase>'


def junit(directory: Path, name: str, *cases: str) -> str:
    file = directory / name
    file.write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
    return str(file)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    return str(tmp_path / "lines.jsonl"), str(tmp_path / "page.md")


def lines(files: tuple[str, str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in Path(files[0]).read_text().splitlines()]


def test_a_passed_part_adds_a_line_with_commit_time_and_tests(
    tmp_path: Path, files: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_800_000_600.0)
    report = junit(tmp_path, "junit-node.xml", PASSED, OF_CLASS)
    assert long_report.main(*files, "abc1234-dirty", "1800000000", report) == 0
    (line,) = lines(files)
    assert line == {
        "date": "2027-01-15",
        "commit": "abc1234-dirty",
        "parts": ["node"],
        "minutes": 10.0,
        "tests": 2,
        "failed": [],
        "files": {"tests.e2e.test_faults": [2, 90.0]},
        "slowest": [["tests.e2e.test_faults::test_a[x|y]", 80.0], ["tests.e2e.test_faults.TestStory::test_b", 10.0]],
    }


@pytest.mark.parametrize(("case", "name"), [(FAILED, "test_c"), (TEARDOWN, "test_d")])
def test_a_part_with_a_failed_test_is_recorded_and_fails(
    tmp_path: Path, files: tuple[str, str], case: str, name: str
) -> None:
    assert long_report.main(*files, "abc", "0", junit(tmp_path, "one.xml", PASSED, case)) == 1
    assert lines(files)[0]["failed"] == [f"tests.spark.test_c::{name}"]
    assert f"* `tests.spark.test_c::{name}`" in Path(files[1]).read_text()


@pytest.mark.parametrize("is_there", [True, False])
def test_a_part_without_a_test_fails(tmp_path: Path, files: tuple[str, str], *, is_there: bool) -> None:
    report = junit(tmp_path, "junit-node.xml") if is_there else str(tmp_path / "junit-node.xml")
    assert long_report.main(*files, "abc", "0", report) == 1
    assert lines(files)[0]["failed"] == ["no test in junit-node.xml"]


def test_the_page_lists_every_line_and_the_tests_of_the_last_line_of_each_part(
    tmp_path: Path, files: tuple[str, str]
) -> None:
    long_report.main(*files, "first", "0", junit(tmp_path, "junit-node.xml", FAILED, FAILED))
    early = lines(files)[0] | {"parts": ["node", "matrix"]}
    Path(files[0]).write_text(json.dumps(early) + "\n")
    long_name = f'<testcase classname="tests.e2e.test_m" name="{"t" * 200}" time="1"/>'
    long_report.main(*files, "second", "0", junit(tmp_path, "junit-node.xml", PASSED, long_name))
    text = Path(files[1]).read_text()
    assert "| 1970-01-01 | first | node and matrix | 2 failed | 2 |" in text
    assert "| 1970-01-01 | second | node | passed | 2 |" in text
    assert text.index("## What ran: node on second") < text.index("## What ran: node and matrix on first")
    assert "| tests.e2e.test_faults::test_a[x/y] | 80 |" in text
    assert "test_c" in text
    assert max(map(len, text.splitlines())) <= 120

    long_report.main(*files, "third", "0", junit(tmp_path, "junit-matrix.xml", PASSED))
    text = Path(files[1]).read_text()
    assert "## What ran: node on second" in text
    assert "test_c" not in text, "no part of the first line is a last one"


def test_the_page_without_a_line_reports_that_none_is_recorded() -> None:
    assert "No call has been recorded." in long_report.page([])


def test_the_parts_of_the_engine_matrix_together_run_every_spark_test_on_every_engine() -> None:
    parts = ("matrix", "manifests", "rescales", "histories")
    command = ["make", "--dry-run", "--no-print-directory", *(f"long-{part}" for part in parts)]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    calls = [each.split() for each in printed.replace("\\\n", " ").splitlines() if "--whole-matrix" in each]
    matrix, *others = ([word for word in call if "tests/spark" in word] for call in calls)
    elsewhere = [each for part in others for each in part]
    assert matrix == [*(f"--ignore={each}" for each in elsewhere), "tests/spark"]
    assert all(others), "a part without files would run every test"
    assert len(others) == len(parts) - 1
    (default,) = re.findall(r"^PARTS \?= (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert {*parts} <= {*default.split()}
    assert all((ROOT / each).is_file() for each in elsewhere)
    assert len({*elsewhere}) == len(elsewhere), "a test runs in two parts"


def test_the_committed_page_matches_the_committed_lines() -> None:
    docs = ROOT / "docs"
    file = docs / "test-long.jsonl"
    every = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    assert (docs / "test-long.md").read_text() == long_report.page(every)


def test_only_the_slowest_tests_are_listed(tmp_path: Path, files: tuple[str, str]) -> None:
    many = [f'<testcase classname="tests.e2e.test_m" name="t{n}" time="{n}"/>' for n in range(40)]
    long_report.main(*files, "abc", "0", junit(tmp_path, "one.xml", *many))
    slowest = lines(files)[0]["slowest"]
    assert slowest == [[f"tests.e2e.test_m::t{n}", float(n)] for n in range(39, 14, -1)]
