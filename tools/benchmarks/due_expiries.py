"""Tables whose expiry of snapshots is due, for the benchmarks of shared drivers. pypaimon makes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.support import pypaimon_tables

COMMITS: Final = 4
DUE: Final = COMMITS - 1
"""Snapshots of each table that its expiry removes."""
RETENTION: Final = {"numRetainedMin": 1, "numRetainedMax": 1}
_FIELDS: Final = [{"id": 0, "name": "id", "type": "BIGINT NOT NULL"}, {"id": 1, "name": "v", "type": "STRING"}]


def make_tables(
    warehouse: str, database: str, options: Mapping[str, Mapping[str, str]], *, env: Mapping[str, str]
) -> None:
    """Makes a table of one bucket with so many snapshots for each name in `options`, which has more of its options."""
    keyed = {"fields": _FIELDS, "partitionKeys": [], "primaryKeys": ["id"], "comment": None, "rows": []}
    made = [{**keyed, "name": name, "options": {"bucket": "1", **own}} for name, own in options.items()]
    pypaimon_tables.create_tables(warehouse, database, made, env=env)
    commits = [(name, [{"id": number, "v": "v"}]) for name in options for number in range(COMMITS)]
    pypaimon_tables.write_commits(warehouse, database, commits, env=env)
