"""Compacts the table by Paimon's procedure, and measures before and after, since the procedure reports nothing.

The commit of a compaction would also expire snapshots, even when there is nothing to compact. The session prevents it
(session.py), because expiry is a run of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paimon_contract.job import Job
from paimon_contract.parameters.compact import CompactParameters
from paimon_contract.result import Outcome
from spark_apps.catalog.bucket_layout import refuse_mixing_buckets
from spark_apps.catalog.measure import measure_table
from spark_apps.catalog.postponed_buckets import POSTPONE_MODE, partitions_by_buckets
from spark_apps.catalog.session import Session
from spark_apps.failures.errors import spec_failure
from spark_apps.sql.identifiers import SqlValue, call, qualified
from spark_apps.sql.partitions import partition_filter

PARAMETERS = CompactParameters

Arguments = dict[str, SqlValue | None]

OPTIONS = "compaction.min.file-num=2"
"""Without it, a call never merges fewer than five small files of an append table."""


def run(job: Job, session: Session) -> Outcome:
    """Compacts. Succeeds without a snapshot when there is nothing to compact."""
    compact = job.parameters_as(PARAMETERS)
    table = session.table()
    refuse_mixing_buckets(job, table)
    arguments = _arguments(job, compact, table, session)
    _refuse_cross_partition(job, table)
    before = measure_table(session, table, pins=False)
    if before.table.snapshot_id is None:
        return Outcome(table=before.table, before=before.measure, after=before.measure)
    for each in _calls(arguments, table, session):
        session.spark.sql(call("compact", each)).collect()
    after = measure_table(session, session.table())
    return Outcome(table=after.table, before=before.measure, after=after.measure)


def _arguments(job: Job, compact: CompactParameters, table: Any, session: Session) -> Arguments:
    """Arguments of the procedure. Full is its default, so only Minor needs an engine with a strategy argument."""
    has_strategy = session.engine.has_minor_compaction
    if compact.strategy == "Minor" and not has_strategy:
        raise spec_failure(
            "UnsupportedByEngine",
            f"engine {session.engine.id} has no minor compaction",
            "use full compaction, or an engine that has it",
            field="spec.compaction.minor",
        )
    return {
        "table": qualified(job.table.database, job.table.name),
        "compact_strategy": compact.strategy.lower() if has_strategy else None,
        "where": partition_filter(table, compact.partitions) if compact.partitions else None,
        "partition_idle_time": compact.partition_idle_time,
        "options": OPTIONS,
    }


def _calls(arguments: Arguments, table: Any, session: Session) -> Iterator[Arguments]:
    """The arguments of each call: one, or one for each number of buckets that partitions with postponed buckets have.

    Without a number of buckets, a call compacts only rows that have no bucket yet, which our writes never make.
    """
    if str(table.bucketMode().toString()) != POSTPONE_MODE:
        yield arguments
        return
    groups = partitions_by_buckets(session, table)
    for number, partitions in groups.items():
        chosen = [arguments["where"], partition_filter(table, partitions) if len(groups) > 1 else None]
        where = " AND ".join(f"({each})" for each in chosen if each) or None
        yield arguments | {"where": where, "options": f"{OPTIONS},bucket={number}"}


def _refuse_cross_partition(job: Job, table: Any) -> None:
    if str(table.bucketMode().toString()) in ("KEY_DYNAMIC", "CROSS_PARTITION"):
        raise spec_failure(
            "InvalidSpec",
            f"Paimon cannot compact {job.table}: its primary key lacks a partition key and its bucket is Dynamic",
            "set compaction.mode to Inline, or recreate the table with a Fixed bucket",
            field="spec.compaction.mode",
        )
