"""The numbers of buckets that a table's files were written with, by partition, and the mark of an unfinished rescale.

The bucket option is the number for new files. Each manifest entry has the number that its file was written with. While
the two differ, a write could put a key into a second bucket, and Paimon 1.4 does not always refuse it. So an option
marks the table from the ALTER of the number until all partitions are rewritten and verified.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from paimon_contract.job import Job
from paimon_schema.bucket_count import RESCALE_OPTION
from spark_apps.catalog.session import Session
from spark_apps.failures.errors import RunError
from spark_apps.metadata.settings import FIXED
from spark_apps.sql.partition_values import PartitionKey

TAG_PREFIX: Final = "paimon-operator-rescale-"
BUCKET_MODES: Final = {
    "HASH_FIXED": FIXED,
    "HASH_DYNAMIC": "Dynamic",
    "KEY_DYNAMIC": "Dynamic",
    "CROSS_PARTITION": "Dynamic",
    "BUCKET_UNAWARE": "Unaware",
    "POSTPONE_MODE": "Postpone",
}
"""Paimon's bucket modes -> the words of spec.bucket.type."""


@dataclass(frozen=True)
class PartitionLayout:
    """A partition that has files. `counts` are the numbers of buckets that these were written with."""

    keys: tuple[PartitionKey, ...]
    counts: frozenset[int]
    size_bytes: int = 0


def tag_of(table: Any) -> str | None:
    """The tag of the snapshot before an unfinished rescale of `table` (Java); None if there is none."""
    tag: str | None = table.schema().options().get(RESCALE_OPTION)
    return tag


def refuse_mixing_buckets(job: Job, table: Any) -> None:
    """Raises RunError where a commit could store a key in two buckets.

    That is while `table` (Java) has partitions with different numbers of buckets, or unverified ones. It is also after
    somebody else has altered the number since the operator verified the table.
    """
    refuse_while_rescaling(job, table, "a commit now could store a key in two buckets")
    verified, found = job.bucket_count, int(table.coreOptions().bucket())
    if verified not in (None, found):
        raise _refused(
            "TableAltered",
            f"somebody altered the option bucket of the table {job.table} from {verified} to {found}, and a commit "
            "now could store a key in two buckets",
            f"alter the option back to {verified}, or declare the other number with onCountChange Rescale: "
            "docs/drift.md",
        )


def refuse_while_rescaling(job: Job, table: Any, consequence: str) -> None:
    """Raises RunError from the start of a rescale until it is verified. `consequence` is that of a commit, a clause."""
    if tag_of(table) is not None:
        raise _refused(
            "Rescaling",
            f"the table {job.table} is being rescaled, and {consequence}",
            "wait until the rescale is complete; the table's condition WritesPaused shows its progress",
        )


def _refused(reason: str, message: str, remedy: str) -> RunError:
    return RunError("Environment", reason, message, remedy, field="spec.bucket.fixed.count")


def read_layout(session: Session, table: Any) -> list[PartitionLayout]:
    """The layout of the latest snapshot of `table` (Java), in a fixed order."""
    latest = table.snapshotManager().latestSnapshot()
    if latest is None:
        return []
    counts: dict[bytes, set[int]] = {}
    sizes: Counter[bytes] = Counter()
    partitions: dict[bytes, tuple[PartitionKey, ...]] = {}
    read_keys = key_reader(session, table)
    added = session.jvm.org.apache.paimon.manifest.FileKind.ADD
    for entry in table.store().newScan().withSnapshot(latest).plan().files(added):
        row = entry.partition()
        identity = bytes(row.toBytes())
        if identity not in partitions:
            partitions[identity] = tuple(read_keys(row))
        counts.setdefault(identity, set()).add(int(entry.totalBuckets()))
        sizes[identity] += int(entry.file().fileSize())
    return [PartitionLayout(partitions[each], frozenset(counts[each]), sizes[each]) for each in sorted(partitions)]


def other_counts(layout: Iterable[PartitionLayout], count: int) -> list[PartitionLayout]:
    """The partitions that are not completely in `count` buckets."""
    return [each for each in layout if each.counts != {count}]


def rescale_tags(table: Any) -> list[str]:
    """The tags of all rescales of `table` (Java)."""
    return sorted(name for name in map(str, table.tagManager().allTagNames()) if name.startswith(TAG_PREFIX))


def key_reader(session: Session, table: Any) -> Any:
    """A function from a partition (Java BinaryRow) of `table` (Java) to its keys."""
    row_type = table.schema().logicalPartitionType()
    getter = session.jvm.org.apache.paimon.data.InternalRow.createFieldGetter
    types = [row_type.getTypeAt(index) for index in range(row_type.getFieldCount())]
    names = [str(name) for name in row_type.getFieldNames()]
    getters = [getter(type_, index) for index, type_ in enumerate(types)]
    roots = [str(type_.getTypeRoot().toString()) for type_ in types]

    def read_keys(row: Any) -> Iterator[PartitionKey]:
        for name, root, each in zip(names, roots, getters, strict=True):
            value = each.getFieldOrNull(row)
            yield PartitionKey(name, root, value if value is None or isinstance(value, int) else str(value.toString()))

    return read_keys
