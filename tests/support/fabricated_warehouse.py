"""A catalog of fabricated tables on a volume, and what its observer asks for."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from paimon_contract.job import JobCatalog
from paimon_contract.looks import TableToLook
from spark_apps.observer.budget import MAX_ENTRIES, Budget
from spark_apps.observer.passes import Watched
from tests.support.fabricated_avro import data_file
from tests.support.fabricated_table import START_MS, FabricatedTable
from tests.support.recorded_files import Recorded

SCHEMA: dict[str, Any] = {
    "version": 3,
    "id": 0,
    "fields": [
        {"id": 0, "name": "day", "type": "STRING NOT NULL"},
        {"id": 1, "name": "id", "type": "BIGINT NOT NULL"},
    ],
    "highestFieldId": 1,
    "partitionKeys": ["day"],
    "primaryKeys": ["day", "id"],
    "options": {"bucket": "4", "target-file-size": "100 b"},
    "comment": "",
    "timeMillis": START_MS,
}


class FabricatedWarehouse:
    """Tables `shop.t0`, `shop.t1`, ... with one snapshot each, and an observer of them. `t0` has the UID `uid-0`."""

    def __init__(
        self, root: Path, count: int, most_kept: int = MAX_ENTRIES, *, written_ago: timedelta = timedelta()
    ) -> None:
        """`written_ago`: the time since the snapshot of each table."""
        self.root, self.files = root, Recorded()
        start_ms = int((datetime.now(UTC) - written_ago).timestamp() * 1000)
        self.tables = [FabricatedTable(root / "shop.db" / f"t{n}", start_ms=start_ms) for n in range(count)]
        for table in self.tables:
            self.put_schema(table)
            table.commit([data_file("a", level=5), data_file("b")])
        self.watched = Watched(JobCatalog(f"file://{root}", "filesystem"), self.files, budget=Budget(most_kept))
        self.watched.follow(self.wanted())

    def wanted(self, **members: Any) -> list[TableToLook]:
        """The tables as the operator names them."""
        return [TableToLook(uid=f"uid-{n}", database="shop", name=f"t{n}", **members) for n in range(len(self.tables))]

    @staticmethod
    def put_schema(table: FabricatedTable, **members: Any) -> None:
        """Writes a schema file of the table."""
        schema = SCHEMA | members
        path = table.root / "schema" / f"schema-{schema['id']}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(schema))

    def asked(self) -> Counter[str]:
        """Makes a pass. Returns how often it has asked for each kind of file."""
        self.files.asked.clear()
        self.watched.look()
        return Counter(name.rstrip("0123456789") for name in self.files.asked)
