"""`python -m tests.support.engine_coverage REPORT ENGINE...`: fails when an engine was not tested.

Those named could be had; those with a jar in PAIMON_OPERATOR_JARS_DIR count as well, so that a jar that is there and
cannot be used (a wrong checksum, a failed image) is no reason to pass.

Reads the JUnit report of the whole run. An engine counts as tested when a test of each module that shows what differs
by engine, and one of `tests/e2e`, passed with the engine's name among its parameters. What is Spark's own or ours is
shown on the newest engine alone (engine_matrix).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.etree import ElementTree

from paimon_engines.loader import supported_engines
from tools.engines.fetch import JARS_DIR_VARIABLE

DIFFERING = (
    *("provision", "types", "compact", "expire_snapshots", "drop", "foreign_commits", "worked_examples"),
    *("exactly_once", "two_drivers", "unwitnessed", "s3_access", "wrong_endpoint", "hdfs", "executors", "engine_data"),
)
"""Modules of tests/spark about what differs by engine."""
OF_METASTORES = {"Hive": ("hive_metastore", "hive_storages"), "Jdbc": ("jdbc_metastore",)}
"""The same of engines that have the metastore."""


def passed_tests(report: Path) -> list[tuple[str, str]]:
    """(module, name with parameters) of every test that ran and passed."""
    cases = ElementTree.parse(report).iter("testcase")  # noqa: S314 - our own pytest wrote it
    return [(case.get("classname", ""), case.get("name", "")) for case in cases if _ok(case)]


def _ok(case: ElementTree.Element) -> bool:
    return not {child.tag for child in case} & {"failure", "error", "skipped"}


def untested(passed: Iterable[tuple[str, str]], engines: Sequence[str]) -> list[str]:
    """`engine in module` for every pair without a passed test."""
    seen = list(passed)
    return [
        f"{engine} in {wanted}"
        for engine in engines
        for wanted in modules_of(engine)
        if not any(f"{module}.".startswith(f"{wanted}.") and engine in name for module, name in seen)
    ]


def modules_of(engine: str) -> list[str]:
    """Modules, and packages, of which a test must have passed on the engine."""
    metastores = supported_engines()[engine].metastores
    listed = (module for metastore in metastores for module in OF_METASTORES.get(metastore, ()))
    return [*(f"tests.spark.test_{module}" for module in (*DIFFERING, *listed)), "tests.e2e"]


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
