"""`python -m tests.support.engine_coverage REPORT ENGINE...`: fails when an engine was not tested.

Checks the named engines and those with a jar in PAIMON_OPERATOR_JARS_DIR, so that an unusable jar (a wrong checksum, a
failed image) fails the run too.

Reads the JUnit report of the whole run. An engine counts as tested when a test of each module that differs by engine,
and one of `tests/e2e`, passed with the engine's name among its parameters. Tests that do not differ by engine run on
the newest engine alone (engine_matrix).
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
    *("expire_partitions", "record_expiry", "retained_changelogs", "tags", "orphan_files", "verified_maintenance"),
    *("exactly_once", "two_drivers", "unwitnessed", "s3_access", "wrong_endpoint", "hdfs", "executors"),
    *("engine_data", "widening", "generated_manifests", "settings_read_back", "key_types"),
    *("foreign_tables", "observed_tables", "mark_partitions_done"),
)
"""Modules of tests/spark whose results differ by engine."""
OF_METASTORES = {"Hive": ("hive_metastore", "hive_storages"), "Jdbc": ("jdbc_metastore",)}
"""Such modules for engines that support the metastore."""


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


def engines_with_jars(directory: Path | None) -> list[str]:
    """Engines with a jar in `directory`, usable or not."""
    if directory is None:
        return []
    return [
        name
        for name, engine in supported_engines().items()
        if any((directory / j.file_name).exists() for j in engine.jars)
    ]


def main(report: str, *tested: str) -> None:
    named = os.environ.get(JARS_DIR_VARIABLE)
    engines = sorted({*tested, *engines_with_jars(Path(named) if named else None)})
    if not engines:
        sys.exit("no engine was available: nothing was tested")
    missing = untested(passed_tests(Path(report)), engines)
    if missing:
        sys.exit("engines on this machine were not tested: " + ", ".join(missing))
    sys.stdout.write(f"engines tested: {', '.join(engines)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
