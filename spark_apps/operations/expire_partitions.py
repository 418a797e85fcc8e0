"""Drops partitions whose time is longer ago than the job's retention, until none is left or the bound is reached.

Paimon's procedure of the same name drops at most 100 per call, without a commit user, and it finds another partition by
a value with a comma. The partitions are chosen here and dropped by Paimon's Java interface, which all engines have.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from paimon_contract.job import Job
from paimon_contract.parameters.expire_partitions import UPDATE_TIME, VALUES_TIME, ExpirePartitionsParameters
from paimon_contract.result import Outcome, PartitionExpiry, ResultMeasure
from paimon_engines.engine import Engine
from spark_apps.catalog.bucket_layout import refuse_while_rescaling
from spark_apps.catalog.due_partitions import report_if_none_is_due
from spark_apps.catalog.measure import measure_table
from spark_apps.catalog.partition_times import PartitionTime, partition_time
from spark_apps.catalog.partitions import Partition, PartitionNames, PartitionReader, PartitionSpec, drop_partitions
from spark_apps.catalog.plain_partitions import MAX_EXAMPLE, moment_of, plain_partitions
from spark_apps.catalog.session import Session
from spark_apps.catalog.snapshots import latest_snapshot
from spark_apps.failures.errors import spec_failure
from spark_apps.metadata.base import MetadataFiles
from spark_apps.progress import log_step

PARAMETERS = ExpirePartitionsParameters

FIELD: Final = "spec.retention.partitions"
PER_COMMIT: Final = 100
"""Partitions per commit: all their files are in memory at once."""
MOST: Final = 10_000
"""Partitions per run. What is left is reported, and the next run continues."""


def run(job: Job, session: Session) -> Outcome:
    """Drops the partitions that are due. The files go when the snapshots that have them expire."""
    expire = job.parameters_as(PARAMETERS)
    table = session.table_at_start()
    refuse_while_rescaling(job, table, "its partitions are compared with those before it")
    _refuse_unsupported(job, expire, table)
    limit = now() - 1000 * expire.expiration_seconds
    before = latest_snapshot(table)
    expiry = Expiry(PartitionNames(session, table), partition_time(session, expire), limit)
    reader = PartitionReader(session, table)
    found = list(reader.read())
    total, measure = len(found), _measure(found, before)
    while specs := expiry.next_specs(found):
        drop_partitions(session, table, specs)
        log_step(f"{expiry.expired} partitions expired")
        found = list(reader.read())
    after = measure_table(session, session.existing_table())
    return Outcome(table=after.table, before=measure, after=after.measure, partitions=expiry.summary(total))


def without_jvm(job: Job, engine: Engine, files: MetadataFiles) -> Outcome | None:  # noqa: ARG001
    """Ends where no partition is due; None where one is, where only Java can tell, and for what a JVM refuses."""
    expire = job.parameters_as(PARAMETERS)
    is_known = expire.strategy in (VALUES_TIME, UPDATE_TIME) and expire.expiration_seconds > 0
    partitions = plain_partitions(job, files) if is_known else None
    if partitions is None:
        return None
    found = report_if_none_is_due(expire, partitions, moment_of(now() - 1000 * expire.expiration_seconds))
    return None if found is None else partitions.unchanged(partitions=found)


def now() -> int:
    """The current time in ms."""
    return time.time_ns() // 1_000_000


@dataclass
class Expiry:
    """What one run drops, and what it cannot decide."""

    names: PartitionNames
    time_of: PartitionTime
    limit: int
    """Partitions whose time is before this moment, in ms, are due."""
    dropped: set[bytes] = field(default_factory=set)
    """Partitions are dropped once: rows that another writer loads into one later wait for the next run."""
    remaining: int = 0
    unreadable: list[Partition] = field(default_factory=list)

    @property
    def expired(self) -> int:
        """Partitions that were dropped."""
        return len(self.dropped)

    def next_specs(self, found: Iterable[Partition]) -> list[PartitionSpec]:
        """The partitions to drop in the next commit; empty at the end."""
        self.unreadable = []
        due = list(self._due(each for each in found if each.identity not in self.dropped))
        chosen = due[: min(PER_COMMIT, MOST - self.expired)]
        self.dropped.update(partition.identity for partition, _ in chosen)
        self.remaining = len(due) - len(chosen)
        return [spec for _, spec in chosen]

    def _due(self, found: Iterable[Partition]) -> Iterator[tuple[Partition, PartitionSpec]]:
        for partition in found:
            moment = self.time_of(partition)
            if moment is not None and moment >= self.limit:
                continue
            spec = None if moment is None else self.names.spec_of(partition)
            if spec is None:
                self.unreadable.append(partition)
            else:
                yield partition, spec

    def summary(self, total: int) -> PartitionExpiry:
        """What was done, of `total` partitions before the run."""
        example = str(self.unreadable[0])[:MAX_EXAMPLE] if self.unreadable else None
        return PartitionExpiry(
            expired=self.expired,
            total=total,
            remaining=self.remaining,
            unreadable=len(self.unreadable),
            example=example,
        )


def _measure(found: Iterable[Partition], snapshot: int) -> ResultMeasure:
    found = list(found)
    return ResultMeasure(
        files=sum(each.files for each in found),
        bytes=sum(each.size_bytes for each in found),
        rows=sum(each.rows for each in found),
        snapshot_id=snapshot or None,
    )


def _refuse_unsupported(job: Job, expire: ExpirePartitionsParameters, table: Any) -> None:
    if expire.expiration_seconds < 1:
        raise spec_failure(
            "InvalidSpec", "expirationTime is below 1s", "set it to 1s or more", field=f"{FIELD}.expirationTime"
        )
    if expire.strategy not in (VALUES_TIME, UPDATE_TIME):
        raise spec_failure(
            "InvalidSpec",
            f"this image does not know the strategy {expire.strategy}",
            "use the image of the operator's release",
            field=f"{FIELD}.strategy",
        )
    if not list(table.partitionKeys()):
        raise spec_failure(
            "InvalidSpec", f"the table {job.table} has no partitions", "remove retention.partitions", field=FIELD
        )
    if table.coreOptions().partitionedTableInMetastore():
        raise spec_failure(
            "InvalidSpec",
            f"the table {job.table} has its partitions in the metastore, and there they would stay",
            "remove retention.partitions, or the option metastore.partitioned-table from the table",
            field=FIELD,
        )
