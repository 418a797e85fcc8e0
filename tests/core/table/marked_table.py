"""A table whose partitions are marked as done."""

from __future__ import annotations

from typing import Any

from tests.support import builders
from tests.support.table_world import MEASURE, TableWorld

SCHEMA: dict[str, Any] = {
    "columns": [
        {"name": "id", "type": "BIGINT"},
        {"name": "dt", "type": "STRING"},
        {"name": "n", "type": "INT"},
        {"name": "on", "type": "BOOLEAN"},
    ],
    "partitionKeys": ["dt"],
}
DAILY: dict[str, Any] = {"timeInterval": "1d", "idleTime": "1h"}
HALF_HOURLY = {**DAILY, "schedule": "*/30 * * * *"}
MARKED = {"marked": 3, "alreadyMarked": 9, "notYetDone": 0, "remaining": 0, "unreadable": 0}


def marked(snapshot: int = 7, **numbers: int) -> TableWorld:
    """A table half an hour after a run with these numbers, which has measured that snapshot."""
    seen = TableWorld(table=builders.table(schema=SCHEMA, markPartitionsDone=HALF_HOURLY)).ready()
    seen.run_due()
    seen.wait(minutes=30)
    seen.settle()
    after = MEASURE | {"snapshotId": snapshot}
    seen.finish("MarkPartitionsDone", partitionsDone=MARKED | numbers, after=after)
    seen.settle()
    seen.wait(minutes=30)
    return seen
