"""`python -m tests.support.engine_coverage REPORT ENGINE...`: fails when an engine was not tested.

Those named could be had; those with a jar in PAIMON_OPERATOR_JARS_DIR count as well, so that a jar that is there and
cannot be used (a wrong checksum, a failed image) is no reason to pass.

Reads the JUnit report of the whole run. An engine counts as tested when at least one test of `tests/spark` and one of
`tests/e2e` passed with the engine's name among its parameters.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.etree import ElementTree

from paimon_engines.loader import supported_engines
from tools.engines.fetch import JARS_DIR_VARIABLE

SUITES = ("tests.spark", "tests.e2e")


def passed_tests(report: Path) -> list[tuple[str, str]]:
    """(module, name with parameters) of every test that ran and passed."""
    cases = ElementTree.parse(report).iter("testcase")  # noqa: S314 - our own pytest wrote it
    return [(case.get("classname", ""), case.get("name", "")) for case in cases if _ok(case)]


def _ok(case: ElementTree.Element) -> bool:
    return not {child.tag for child in case} & {"failure", "error", "skipped"}


def untested(passed: Iterable[tuple[str, str]], engines: Sequence[str]) -> list[str]:
    """`engine in suite` for every pair without a passed test."""
    seen = list(passed)
    return [
        f"{engine} in {suite}"
        for engine in engines
        for suite in SUITES
        if not any(module.startswith(suite) and engine in name for module, name in seen)
    ]


def held(directory: Path | None) -> list[str]:
    """Engines with a jar in the directory that PAIMON_OPERATOR_JARS_DIR names, whether or not it could be used."""
    if directory is None:
        return []
    return [
        name
        for name, engine in supported_engines().items()
        if any((directory / j.file_name).exists() for j in engine.jars)
    ]


def main(report: str, *had: str) -> None:
    named = os.environ.get(JARS_DIR_VARIABLE)
    engines = sorted({*had, *held(Path(named) if named else None)})
    if not engines:
        sys.exit("no engine could be had: nothing was proven")
    missing = untested(passed_tests(Path(report)), engines)
    if missing:
        sys.exit("engines that this machine holds went untested: " + ", ".join(missing))
    sys.stdout.write(f"engines tested: {', '.join(engines)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
