"""The buckets of which a verification compares the rows, and SQL for these rows.

Most of the sample are buckets that the commits have rewritten. A few others show whether a commit has lost what it did
not touch: it may have merged the manifests of the whole table.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from paimon_contract.job import Job
from paimon_schema.table_schema import TableSchema
from spark_apps.catalog.decoded_partitions import keys_of
from spark_apps.catalog.own_commits import Stretch
from spark_apps.failures.errors import RunError
from spark_apps.metadata.base import MetadataFiles, UnreadableError
from spark_apps.metadata.manifests import ManifestFiles
from spark_apps.metadata.snapshots import Snapshot, SnapshotFiles
from spark_apps.metadata.table_files import location_of
from spark_apps.progress import log_step
from spark_apps.sql.identifiers import quote
from spark_apps.sql.partition_values import condition_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Bucket = tuple[bytes, int]
"""Partition (a serialized BinaryRow) and number."""
REWRITTEN: Final = 8
OTHERS: Final = 2
BUCKET_COLUMN: Final = "__paimon_bucket"
"""Metadata column of Paimon's Spark tables."""


@dataclass(frozen=True)
class Sample:
    """Rows that are compared. `condition` is SQL for them; None: all rows. `buckets`: their number; None: all."""

    condition: str | None = None
    buckets: int | None = None


def can_number(rows: DataFrame) -> bool:
    """Whether the engine tells the bucket of a row without primary key: 0.9 does not.

    For rows with one, 1.4 fails with a ClassCastException as soon as it has to merge files.
    """
    from pyspark.errors import AnalysisException  # noqa: PLC0415

    try:
        rows.select(quote(BUCKET_COLUMN))
    except AnalysisException:
        return False
    return True


def sample_of(job: Job, files: MetadataFiles, schema: TableSchema, stretch: Stretch, *, numbered: bool) -> Sample:
    """The sample for a stretch of commits: the same in every attempt of the run.

    `numbered`: a partition has several buckets, whose numbers name rows; otherwise whole partitions are compared. All
    rows where only Paimon can read the metadata, or where SQL cannot name a partition.
    """
    try:
        rewritten, all_of_them = _buckets(job, files, stretch)
        chosen = choose(rewritten, all_of_them, job.commit_user)
        if not chosen or (not numbered and not schema.partition_keys):
            return Sample()
        conditions = sorted({_condition(each, schema, numbered=numbered) for each in chosen})
    except (RunError, UnreadableError) as error:
        log_step(f"all rows are compared: {error}")
        return Sample()
    return Sample(" OR ".join(conditions), len(chosen))


def choose(rewritten: Iterable[Bucket], all_of_them: Iterable[Bucket], seed: str) -> list[Bucket]:
    """Buckets in an order that the seed decides: up to REWRITTEN of those, and up to OTHERS of the others."""
    changed = set(rewritten)
    others = set(all_of_them) - changed
    return [*_in_order(changed, seed)[:REWRITTEN], *_in_order(others, seed)[:OTHERS]]


def _in_order(buckets: set[Bucket], seed: str) -> list[Bucket]:
    return sorted(buckets, key=lambda each: hashlib.sha256(b"%b\0%d\0%b" % (seed.encode(), each[1], each[0])).digest())


def _condition(bucket: Bucket, schema: TableSchema, *, numbered: bool) -> str:
    """SQL for the rows of a bucket. Raises RunError or UnreadableError for a partition that SQL cannot name."""
    partition, number = bucket
    named = condition_of(keys_of(partition, schema)) if schema.partition_keys else ""
    parts = [named, f"{quote(BUCKET_COLUMN)} = {number}" if numbered else ""]
    return f"({' AND '.join(each for each in parts if each)})"


def _buckets(job: Job, files: MetadataFiles, stretch: Stretch) -> tuple[set[Bucket], set[Bucket]]:
    """The buckets that the commits have changed, and all buckets before them. Raises UnreadableError."""
    location = location_of(job)
    snapshots, manifests = SnapshotFiles(files, location), ManifestFiles(files, location)
    changed: set[Bucket] = set()
    for number in range(stretch.before + 1, stretch.after + 1):
        changed |= set(_of(manifests, _existing(snapshots, number), delta=True))
    return changed, set(_of(manifests, _existing(snapshots, stretch.before), delta=False))


def _of(manifests: ManifestFiles, snapshot: Snapshot, *, delta: bool) -> Iterator[Bucket]:
    found = manifests.of_delta(snapshot) if delta else manifests.of_snapshot(snapshot)
    for (partition, number, _), sums in manifests.sums(found.values(), 0).items():
        if delta or sums.files:
            yield partition, number


def _existing(snapshots: SnapshotFiles, number: int) -> Snapshot:
    found = snapshots.snapshot(number)
    if found is None:
        raise UnreadableError(f"snapshot {number} has expired")
    return found
