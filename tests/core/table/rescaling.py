"""A table with Fixed buckets: edits of their number, and what its runs report of a rescale."""

from __future__ import annotations

from typing import Any

from paimon_operator.api.table.outside_writers import OutsideWriters
from tests.core.table.edited_table import seen_by_run
from tests.support import builders
from tests.support.table_world import MEASURE, TableWorld

TWO = MEASURE | {"bucketMode": "Fixed", "bucketCount": 2, "partitions": 40}
EIGHT = TWO | {"bucketCount": 8}


def buckets(count: int, policy: str | None = "Rescale") -> dict[str, Any]:
    chosen = {} if policy is None else {"onCountChange": policy}
    return {"type": "Fixed", "fixed": {"count": count, **chosen}}


def ready(**spec: Any) -> TableWorld:
    """A Ready table with 2 buckets, a write and a compaction."""
    compaction = {"mode": "Dedicated", "full": {"schedule": "*/5 * * * *"}}
    usual = {"bucket": buckets(2), "writes": [builders.write(schedule="*/5 * * * *")], "compaction": compaction}
    seen = TableWorld(table=builders.table(**(usual | spec)))
    seen.settle()
    seen.finish("Provision", after=TWO, **seen_by_run(seen))
    seen.settle()
    while seen.table.status.active_run:
        seen.finish(after=TWO)
        seen.settle()
    seen.created.clear()
    return seen


def rescaling(done: int = 12) -> TableWorld:
    """A table of which one run has rescaled some partitions."""
    seen = ready()
    seen.edit(bucket=buckets(8))
    seen.settle()
    seen.finish("Rescale", after=EIGHT | {"rescaling": True}, rescale=progress(done))
    return seen


def progress(done: int, *, finished: bool = False) -> dict[str, Any]:
    return {"done": done, "total": 40, "finished": finished}


def types(seen: TableWorld) -> list[str]:
    return [type_ for type_, _ in seen.started]


def committed_by_flink(seen: TableWorld) -> None:
    """Another writer has committed, which the manifest does not declare."""
    commit = {"snapshotId": 7, "commitUser": "flink", "kind": "APPEND", "time": seen.now}
    found = OutsideWriters.model_validate({"stated": "None", "commit": commit, "seenSnapshot": 7})
    seen.catalog = builders.catalog(commitPolicy="AllowUnsafe")
    status = seen.table.status.model_copy(update={"outside_writers": found})
    seen.table = seen.table.model_copy(update={"status": status})
