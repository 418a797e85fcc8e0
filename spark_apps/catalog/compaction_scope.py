"""What a compaction by its schedule covers: the partitions that need it, in batches of one call each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from paimon_contract.job import Job
from paimon_contract.parameters.compact import CompactThresholds
from paimon_schema.table_schema import TableSchema
from spark_apps.catalog.decoded_partitions import keys_of
from spark_apps.failures.errors import RunError
from spark_apps.metadata.base import MetadataFiles, UnreadableError
from spark_apps.metadata.compaction_need import partitions_in_need
from spark_apps.metadata.expired_records import partitions_with_expired
from spark_apps.metadata.health import small_files_of
from spark_apps.metadata.observation import Contents, Observer
from spark_apps.metadata.table_files import location_of
from spark_apps.sql.partition_values import condition_of

PER_CALL: Final = 50
"""Partitions of one call, whose commit holds the files of all of them."""


@dataclass(frozen=True)
class Batch:
    """Partitions of one call. `small_files` is the number that each of them has, where batches are made by it."""

    condition: str | None
    """SQL for their rows. None: all rows."""
    small_files: int | None = None


@dataclass(frozen=True)
class Scope:
    """Partitions that need a compaction, most in need first; `contents` is None for a table without a snapshot."""

    schema: TableSchema
    contents: Contents | None
    partitions: tuple[bytes, ...]
    only_for_records: int | None = None
    """Those of them that reach no threshold. None: records do not expire."""

    def batches(self, *, by_small_files: bool) -> list[Batch]:
        """The calls. One for all rows where SQL cannot name the partitions."""
        small = {} if self.contents is None else small_files_of(self.contents.sums)
        groups: dict[int | None, list[bytes]] = {}
        for partition in self.partitions:
            groups.setdefault(small[partition] if by_small_files else None, []).append(partition)
        try:
            return [each for count, group in groups.items() for each in self._calls(group, count)]
        except (RunError, UnreadableError):  # (a type, or a value, that is not decoded)
            return [Batch(None, min((each for each in groups if each is not None), default=None))]

    def _calls(self, partitions: Sequence[bytes], small_files: int | None) -> Iterator[Batch]:
        """Raises RunError for a partition that SQL cannot name."""
        if not self.schema.partition_keys:
            yield Batch(None, small_files)
            return
        each = [f"({condition_of(keys_of(partition, self.schema))})" for partition in partitions]
        for at in range(0, len(each), PER_CALL):
            yield Batch(" OR ".join(each[at : at + PER_CALL]), small_files)


def scope_of(
    job: Job, files: MetadataFiles, schema: TableSchema, thresholds: CompactThresholds, idle_since: datetime | None
) -> Scope:
    """What the latest snapshot shows, without partitions that received a file since `idle_since`.

    Raises UnreadableError where only Paimon could read it.
    """
    observer = Observer(files, location_of(job), schema)
    contents = observer.observe().contents
    chosen = () if contents is None else partitions_in_need(contents, schema, thresholds)
    if contents is None or thresholds.records is None:
        return Scope(schema, contents, idle_partitions(observer, contents, chosen, idle_since))
    expired = partitions_with_expired(observer, contents, thresholds.records, datetime.now(UTC)).difference(chosen)
    taken = idle_partitions(observer, contents, (*chosen, *sorted(expired)), idle_since)
    return Scope(schema, contents, taken, only_for_records=sum(each in expired for each in taken))


def idle_partitions(
    observer: Observer, contents: Contents | None, chosen: tuple[bytes, ...], idle_since: datetime | None
) -> tuple[bytes, ...]:
    """Those of `chosen` that received no file since; all where that does not matter."""
    if contents is None or not chosen or idle_since is None:
        return chosen
    newest = observer.manifests.newest_files(contents.manifests.values())
    return tuple(each for each in chosen if each not in newest or newest[each] < idle_since)
