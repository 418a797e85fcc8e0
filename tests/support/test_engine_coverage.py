"""The check that every engine on the machine was tested."""

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


def test_an_engine_with_a_passed_test_in_every_module_that_differs_by_engine_was_tested(tmp_path: Path) -> None:
    engine_coverage.main(report(tmp_path, WHOLE), "paimon-1.4")


@pytest.mark.parametrize("outcome", ["<failure/>", "<error/>", "<skipped/>"])
def test_a_test_that_did_not_pass_does_not_count(tmp_path: Path, outcome: str) -> None:
    cases = [*IN_SPARK, (*WHOLE[-1][:2], outcome)]
    with pytest.raises(SystemExit, match=r"paimon-1\.4 in tests\.e2e"):
        engine_coverage.main(report(tmp_path, cases), "paimon-1.4")


def test_an_engine_with_an_unused_jar_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "paimon-spark-3.5_2.12-1.4.2.jar").touch()
    monkeypatch.setenv(JARS_DIR_VARIABLE, str(tmp_path))
    others = [(module, "test_a[paimon-0.9]", "") for module, _, _ in WHOLE]
    with pytest.raises(SystemExit, match=r"paimon-1\.4 in tests\.spark\.test_provision, .*paimon-1\.4 in tests\.e2e"):
        engine_coverage.main(report(tmp_path, others), "paimon-0.9")


@pytest.mark.parametrize(("module", "_name", "_"), IN_SPARK)
def test_a_module_that_differs_by_engine_without_a_passed_test_is_reported(
    tmp_path: Path, module: str, _name: str, _: str
) -> None:
    cases = [case for case in WHOLE if case[0] != module]
    with pytest.raises(SystemExit, match=rf"paimon-1\.4 in {re.escape(module)}$"):
        engine_coverage.main(report(tmp_path, cases), "paimon-1.4")


@pytest.mark.parametrize("module", [module for module, _, _ in IN_SPARK])
def test_every_listed_module_exists(module: str) -> None:
    assert find_spec(module) is not None


def test_a_run_without_an_engine_fails(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="nothing was tested"):
        engine_coverage.main(report(tmp_path, []))
