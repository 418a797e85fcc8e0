"""Makes and alters Paimon tables with pypaimon, which shares no code with Spark, the operator or its drivers."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.support.lake_reader import python

PROGRAM = Path(__file__).with_name("pypaimon_tables_program.py")


def create_tables(warehouse: str, database: str, tables: Iterable[Mapping[str, Any]]) -> None:
    """Creates the tables: `name`, `fields` as in a schema file, keys, `options`, `comment` and `rows` of each."""
    named = [{**each, "name": f"{database}.{each['name']}"} for each in tables]
    _perform(warehouse, database, tables=named)


def make_not_null(warehouse: str, database: str, columns: Mapping[str, str]) -> None:
    """Makes a column of each table NOT NULL: table -> column."""
    _perform(warehouse, database, notNull=[(f"{database}.{table}", column) for table, column in columns.items()])


def _perform(warehouse: str, database: str, **work: Any) -> None:
    request = {"warehouse": warehouse, "database": database, "tables": [], "notNull": []} | work
    done = subprocess.run(
        [str(python()), str(PROGRAM)], input=json.dumps(request), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"pypaimon cannot do it: {done.stderr[-3000:]}"
