"""Reasons that the Spark side reports. The operator shows an unknown reason as DriverFailed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from paimon_operator.api.reasons import Reason

SPARK_APPS = Path(__file__).resolve().parents[3] / "spark_apps"
# function -> index of the positional argument with the reason
RAISERS = {"RunError": 1, "sign": 2, "_of_metastore": 2, "spec_failure": 0, "input_failure": 0}


def reported_reasons() -> Iterator[tuple[str, str]]:
    """File and reason of every failure whose reason is a literal in spark_apps."""
    for path in SPARK_APPS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            if name in RAISERS and isinstance(node, ast.Call) and len(node.args) > RAISERS[name]:
                word = node.args[RAISERS[name]]
                if isinstance(word, ast.Constant):
                    yield path.name, str(word.value)


def test_every_reason_that_spark_reports_is_a_reason_of_the_api() -> None:
    found = list(reported_reasons())

    assert len(found) > 15, "the search misses the reasons"
    assert [(file, word) for file, word in found if word not in set(Reason)] == []
