"""What a sort compaction covers: the partitions with unsorted files, or with files in an earlier order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from paimon_contract.job import Job
from paimon_schema.table_schema import TableSchema
from spark_apps.catalog.compaction_scope import Scope, idle_partitions
from spark_apps.metadata.base import MetadataFiles
from spark_apps.metadata.observation import Contents, Observer
from spark_apps.metadata.sorted_files import PartitionOrder, orders_of
from spark_apps.metadata.table_files import location_of

INCREMENTAL: Final = "minor"
WHOLE: Final = "full"


@dataclass(frozen=True)
class SortBatch:
    """One call: partitions, and how the engine picks their files."""

    condition: str | None
    """SQL for their rows. None: all rows."""
    strategy: str
    """INCREMENTAL: the unsorted files, and as many sorted ones as keeps their number low. WHOLE: all files."""
    adds_level: bool = False
    """The result is to lie above the level where whole partitions lie: the engine takes these for sorted."""


@dataclass(frozen=True)
class SortScope:
    """Partitions to sort, those with most unsorted files first; `contents` is None for a table without a snapshot."""

    schema: TableSchema
    contents: Contents | None
    partitions: tuple[bytes, ...]
    orders: Mapping[bytes, PartitionOrder]

    def batches(self, levels: int) -> Iterator[SortBatch]:
        """The calls. `levels` is the number of levels of the table."""
        groups: dict[tuple[str, bool], list[bytes]] = {}
        for partition in self.partitions:
            order = self.orders[partition]
            # An incremental pick takes two sorted runs at least, and no run again that is sorted.
            whole = order.is_outdated or order.sorted_runs == 1
            at_top = whole and order.sorted_runs == 1 and order.top_level == levels - 1
            groups.setdefault((WHOLE if whole else INCREMENTAL, at_top), []).append(partition)
        for (strategy, adds_level), group in groups.items():
            scope = Scope(self.schema, self.contents, tuple(group))
            for each in scope.batches(by_small_files=False):
                yield SortBatch(each.condition, strategy, adds_level)


def sort_scope_of(
    job: Job, files: MetadataFiles, schema: TableSchema, least: int, idle_since: datetime | None
) -> SortScope:
    """The partitions with at least this many unsorted files, or an outdated order, and no file since `idle_since`.

    Raises UnreadableError where only Paimon could read it.
    """
    observer = Observer(files, location_of(job), schema)
    contents = observer.observe().contents
    orders = {} if contents is None else orders_of(observer, contents)
    due = [each for each, order in orders.items() if order.is_outdated or order.unsorted_files >= least]
    by_need = sorted(due, key=lambda each: (-orders[each].unsorted_files, each))
    chosen = idle_partitions(observer, contents, tuple(by_need), idle_since)
    return SortScope(schema, contents, chosen, orders)
