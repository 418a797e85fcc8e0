"""Reads Paimon tables on HDFS: Hadoop's own shell copies the table's directory, pypaimon reads the copy.

pypaimon reads HDFS only through libhdfs, which no package here contains.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.cluster.hdfs.servers import Hdfs
from tests.support import lake_reader


def read_rows(hdfs: Hdfs, warehouse: str, database: str, table: str) -> list[dict[str, Any]]:
    """All rows of a table, or of a system table (`orders$snapshots`), ordered by the first column."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch, f"{database}.db")
        copy.mkdir()
        hdfs.shell("-get", f"{warehouse}/{copy.name}/{table.partition('$')[0]}", str(copy))
        return lake_reader.read_rows(Path(scratch).as_uri(), database, table)
