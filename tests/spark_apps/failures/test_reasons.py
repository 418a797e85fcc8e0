"""Spark speaks the operator's words: a reason that the API does not know would reach users as a plain DriverFailed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from paimon_operator.api.reasons import Reason

SPARK_APPS = Path(__file__).resolve().parents[3] / "spark_apps"
# function -> which of its positional arguments is the reason
RAISERS = {"RunError": 1, "sign": 2, "_of_metastore": 2, "spec_failure": 0, "input_failure": 0}


def reported() -> Iterator[tuple[str, str]]:
    """(file, reason) of every failure that spark_apps can report with a word written in its source."""
    for path in SPARK_APPS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            if name in RAISERS and isinstance(node, ast.Call) and len(node.args) > RAISERS[name]:
                word = node.args[RAISERS[name]]
                if isinstance(word, ast.Constant):
                    yield path.name, str(word.value)


def test_every_reason_that_spark_reports_is_a_reason_of_the_api() -> None:
    found = list(reported())

    assert len(found) > 15, "the search has gone blind"
    assert [(file, word) for file, word in found if word not in set(Reason)] == []
