"""Which files of a partition a sort compaction has made, and in which order.

Clustering puts its files above level 0, where no other commit to a table without primary key puts any. The schema with
which a file was written names the order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from paimon_contract.parameters.compact import RowOrder
from paimon_schema.table_schema import TableSchema
from spark_apps.metadata.file_sums import Sums
from spark_apps.metadata.health import buckets_of
from spark_apps.metadata.observation import Contents, Observer
from spark_apps.metadata.table_files import TableFiles

CLUSTERS: Final = "clustering.incremental"
COLUMNS: Final = "clustering.columns"
STRATEGY: Final = "clustering.strategy"


@dataclass(frozen=True)
class PartitionOrder:
    """Files of one partition."""

    unsorted_files: int
    sorted_runs: int
    """Each unsorted file is one, and so is every level above 0."""
    top_level: int
    is_outdated: bool
    """Whether a file was sorted in an earlier order."""


def orders_of(observer: Observer, contents: Contents) -> dict[bytes, PartitionOrder]:
    """The partitions (serialized BinaryRows) of a snapshot. Raises UnreadableError."""
    live = observer.manifests.schemas_above_level0(contents.manifests.values())
    known = TableFiles(observer.files, observer.location)
    outdated = _outdated({each for schemas in live.values() for each in schemas}, observer.schema, known)
    return _orders(contents.sums, {partition for partition, schemas in live.items() if outdated & schemas.keys()})


def sorts_by(schema: TableSchema, order: RowOrder | None) -> bool:
    """Whether compactions of the table sort, in this order if one is given."""
    is_on = schema.options.get(CLUSTERS, "").strip().lower() == "true"
    return is_on and (order is None or _order(schema) == (order.columns, order.strategy))


def _outdated(schemas: Iterable[int], latest: TableSchema, known: TableFiles) -> set[int]:
    """Ids of schemas with another order than the latest; one that does not exist any more counts as such."""
    others = {each: known.schema(each) for each in schemas if each != latest.id}
    return {each for each, schema in others.items() if schema is None or _order(schema) != _order(latest)}


def _order(schema: TableSchema) -> tuple[str | None, str | None]:
    return schema.options.get(COLUMNS), schema.options.get(STRATEGY)


def _orders(sums: Sums, outdated: set[bytes]) -> dict[bytes, PartitionOrder]:
    """All files of a table without buckets are in bucket 0 of their partition."""
    return {
        partition: PartitionOrder(each.level0_files, each.sorted_runs, each.top_level, partition in outdated)
        for (partition, _), each in buckets_of(sums).items()
    }
