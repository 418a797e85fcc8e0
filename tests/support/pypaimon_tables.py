"""Makes and alters Paimon tables with pypaimon, which shares no code with Spark, the operator or its drivers."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.support.lake_reader import catalog_options, python

PROGRAM = Path(__file__).with_name("pypaimon_tables_program.py")


def create_tables(
    warehouse: str, database: str, tables: Iterable[Mapping[str, Any]], *, env: Mapping[str, str] | None = None
) -> None:
    """Creates the tables: `name`, `fields` as in a schema file, keys, `options`, `comment` and `rows` of each."""
    named = [{**each, "name": f"{database}.{each['name']}"} for each in tables]
    perform(warehouse, database, env=env, tables=named)


def make_not_null(warehouse: str, database: str, columns: Mapping[str, str]) -> None:
    """Makes a column of each table NOT NULL: table -> column."""
    perform(warehouse, database, notNull=[(f"{database}.{table}", column) for table, column in columns.items()])


def alter_table(
    warehouse: str,
    database: str,
    table: str,
    *,
    options: Mapping[str, str] | None = None,
    added: Mapping[str, str] | None = None,
    env: Mapping[str, str],
) -> None:
    """Sets options of a table and adds columns (name -> type), each in an ALTER of its own. `env` as in lake_reader."""
    alter = {"table": f"{database}.{table}", "options": dict(options or {}), "added": dict(added or {})}
    perform(warehouse, database, env=env, alter=[alter])


def write_rows(
    warehouse: str, database: str, table: str, rows: Iterable[Mapping[str, Any]], *, env: Mapping[str, str]
) -> None:
    """Commits rows to a table, as a writer that the operator does not know. `env` as in lake_reader."""
    write_commits(warehouse, database, [(table, rows)], env=env)


def write_commits(
    warehouse: str,
    database: str,
    commits: Iterable[tuple[str, Iterable[Mapping[str, Any]]]],
    *,
    env: Mapping[str, str],
) -> None:
    """The same for several commits in one process: each is a table and its rows."""
    written = [{"table": f"{database}.{table}", "rows": list(rows)} for table, rows in commits]
    perform(warehouse, database, env=env, written=written)


def perform(warehouse: str, database: str, *, env: Mapping[str, str] | None = None, **work: Any) -> None:
    """Performs what the program's request names, in its order. Tables are named with their database."""
    parts: dict[str, Any] = {each: [] for each in ("tables", "notNull", "written", "tagged", "branched", "alter")}
    request = {"catalog": catalog_options(warehouse, env or {}), "database": database, **parts, **work}
    done = subprocess.run(
        [str(python()), str(PROGRAM)], input=json.dumps(request), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"pypaimon cannot do it: {done.stderr[-3000:]}"
