"""The tables of a warehouse in a local directory, read from their files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from paimon_contract.description import DescribedTable

_SCHEMA_FILE: Final = re.compile(r"schema-(0|[1-9][0-9]{0,17})")


def described_tables(warehouse: Path, databases: Iterable[str]) -> Iterator[DescribedTable]:
    """The tables of the databases. Raises OSError for a directory that cannot be read."""
    warehouse.stat()  # (a database may be missing, the warehouse may not)
    for database in databases:
        directory = warehouse / f"{database}.db"
        if directory.is_dir():
            yield from (
                _described(database, each) for each in sorted(directory.iterdir()) if (each / "schema").is_dir()
            )


def _described(database: str, table: Path) -> DescribedTable:
    numbers = [int(match[1]) for each in (table / "schema").iterdir() if (match := _SCHEMA_FILE.fullmatch(each.name))]
    if not numbers:
        return DescribedTable(database=database, name=table.name, problem="its directory has no schema file")
    text = (table / "schema" / f"schema-{max(numbers)}").read_text(encoding="utf-8")
    return DescribedTable(database=database, name=table.name, schema=text)
