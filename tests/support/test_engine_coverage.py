"""CI may not be green while an engine that the machine holds went untested."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import engine_coverage

CASE = '<testcase classname="{0}" name="{1}">{2}</testcase>'
BOTH = [("tests.spark.test_write", "test_a[paimon-1.4]", ""), ("tests.e2e.test_happy_path", "test_b[paimon-1.4]", "")]


def report(directory: Path, cases: list[tuple[str, str, str]]) -> str:
    file = directory / "junit.xml"
    file.write_text(
        "<testsuites><testsuite>" + "".join(CASE.format(*case) for case in cases) + "</testsuite></testsuites>"
    )
    return str(file)


@pytest.fixture(autouse=True)
def no_jars_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(engine_coverage.JARS_DIR_VARIABLE, raising=False)


def test_an_engine_that_passed_in_both_suites_was_tested(tmp_path: Path) -> None:
    engine_coverage.main(report(tmp_path, BOTH), "paimon-1.4")


@pytest.mark.parametrize("outcome", ["<failure/>", "<error/>", "<skipped/>"])
def test_a_test_that_did_not_pass_shows_nothing(tmp_path: Path, outcome: str) -> None:
    cases = [BOTH[0], (*BOTH[1][:2], outcome)]
    with pytest.raises(SystemExit, match=r"paimon-1\.4 in tests\.e2e"):
        engine_coverage.main(report(tmp_path, cases), "paimon-1.4")


def test_an_engine_whose_jar_is_there_but_was_not_used_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "paimon-spark-3.5_2.12-1.4.2.jar").touch()
    monkeypatch.setenv(engine_coverage.JARS_DIR_VARIABLE, str(tmp_path))
    others = [(module, "test_a[paimon-0.9]", "") for module, _, _ in BOTH]
    with pytest.raises(SystemExit, match=r"paimon-1\.4 in tests\.spark, paimon-1\.4 in tests\.e2e"):
        engine_coverage.main(report(tmp_path, others), "paimon-0.9")


def test_no_engine_at_all_is_no_success(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="nothing was proven"):
        engine_coverage.main(report(tmp_path, []))
