"""CI may not be green while an engine that the machine holds went untested."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support import engine_coverage
from tools.engines.fetch import JARS_DIR_VARIABLE

CASE = '<testcase classname="{0}" name="{1}">{2}</testcase>'
IN_SPARK = [
    (module, "test_a[paimon-1.4]", "")
    for module in sorted(engine_coverage.modules_of("paimon-1.4"))
    if module.startswith("tests.spark.")
]
WHOLE = [*IN_SPARK, ("tests.e2e.test_happy_path", "test_b[paimon-1.4]", "")]


def report(directory: Path, cases: list[tuple[str, str, str]]) -> str:
    file = directory / "junit.xml"
    file.write_text(
        "<testsuites><testsuite>" + "".join(CASE.format(*case) for case in cases) + "</testsuite></testsuites>"
    )
    return str(file)


@pytest.fixture(autouse=True)
def no_jars_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(JARS_DIR_VARIABLE, raising=False)


def test_an_engine_that_passed_wherever_engines_differ_was_tested(tmp_path: Path) -> None:
    engine_coverage.main(report(tmp_path, WHOLE), "paimon-1.4")


@pytest.mark.parametrize("outcome", ["<failure/>", "<error/>", "<skipped/>"])
def test_a_test_that_did_not_pass_shows_nothing(tmp_path: Path, outcome: str) -> None:
    cases = [*IN_SPARK, (*WHOLE[-1][:2], outcome)]
    with pytest.raises(SystemExit, match=r"paimon-1\.4 in tests\.e2e"):
        engine_coverage.main(report(tmp_path, cases), "paimon-1.4")


def test_an_engine_whose_jar_is_there_but_was_not_used_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "paimon-spark-3.5_2.12-1.4.2.jar").touch()
    monkeypatch.setenv(JARS_DIR_VARIABLE, str(tmp_path))
    others = [(module, "test_a[paimon-0.9]", "") for module, _, _ in WHOLE]
    with pytest.raises(SystemExit, match=r"paimon-1\.4 in tests\.spark\.test_provision, .*paimon-1\.4 in tests\.e2e"):
        engine_coverage.main(report(tmp_path, others), "paimon-0.9")


@pytest.mark.parametrize(("module", "_name", "_"), IN_SPARK)
def test_no_module_about_what_differs_by_engine_may_be_missing(tmp_path: Path, module: str, _name: str, _: str) -> None:
    cases = [case for case in WHOLE if case[0] != module]
    with pytest.raises(SystemExit, match=rf"paimon-1\.4 in {re.escape(module)}$"):
        engine_coverage.main(report(tmp_path, cases), "paimon-1.4")


@pytest.mark.parametrize("module", [module for module, _, _ in IN_SPARK])
def test_modules_about_what_differs_by_engine_are_there(module: str) -> None:
    assert find_spec(module) is not None


def test_no_engine_at_all_is_no_success(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="nothing was proven"):
        engine_coverage.main(report(tmp_path, []))
