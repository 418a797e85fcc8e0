"""Rules about sort compaction: tables that the engine clusters, and columns that the order can sort.

Paimon leaves all of it unchecked until the first compaction. Types: SparkZOrderUDF and SparkHilbertUDF of 1.4.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from paimon_operator.api import units
from paimon_operator.api.base import LONGEST_DURATION_D
from paimon_operator.api.compaction import ClusteringOrder, SortCompaction
from paimon_operator.api.policies import ExternalWriters
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.spec import BucketType
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.validation.columns import column_types, keys_of
from paimon_operator.errors import SpecError

PATH: Final = "spec.compaction.sort"
COLUMNS: Final = f"{PATH}.columns"

_ON_A_CURVE: Final = frozenset({
    "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "CHAR", "VARCHAR", "STRING", "BINARY", "VARBINARY",
    "BYTES", "TIMESTAMP_LTZ",
})  # fmt: skip
"""Types that both curves can sort. They fail at DATE and TIMESTAMP, which Spark casts to no number."""
_ALSO: Final = {ClusteringOrder.Z_ORDER: frozenset({"BOOLEAN"}), ClusteringOrder.HILBERT: frozenset({"DECIMAL"})}
"""Z-order fails at DECIMAL; Hilbert fails at a BOOLEAN that is NULL."""
_OWN_COLUMN: Final = {ClusteringOrder.Z_ORDER: "zvalue", ClusteringOrder.HILBERT: "hvalue"}
"""Column in which the engine keeps the place of a row. It replaces a column of this name."""


def sort_of(context: TableContext) -> Iterator[SpecError]:
    """The effective sort compaction."""
    sort = context.compaction.sort
    if sort is None:
        return
    if not context.engine.has_incremental_clustering:
        yield SpecError(
            PATH,
            f"the engine {context.engine.id} cannot sort a table without overwriting it, which loses rows that are "
            "committed meanwhile",
            "Remove sort, or use a catalog with a newer engine.",
            reason=Reason.UNSUPPORTED_BY_ENGINE,
        )
    yield from _table(context)
    yield from _columns(context, sort)
    delay = sort.when.max_delay if sort.when is not None else None
    yield from units.too_long(delay, LONGEST_DURATION_D, field=f"{PATH}.when.maxDelay")


def _table(context: TableContext) -> Iterator[SpecError]:
    spec = context.spec
    if spec.table_schema.primary_keys:
        yield SpecError(PATH, "the table has primary keys, which order the rows of each file", "Remove sort.")
    if spec.bucket is not None and spec.bucket.type is BucketType.FIXED:
        yield SpecError(PATH, "only tables with bucket type Unaware are sorted", "Remove sort or bucket.")
    if spec.external_writers is ExternalWriters.ACTIVE:
        yield SpecError(
            PATH,
            "it rewrites what other writers change, and externalWriters is Active",
            "Remove sort, or set externalWriters to Paused while they are stopped.",
        )


def _columns(context: TableContext, sort: SortCompaction) -> Iterator[SpecError]:
    yield from keys_of(context, sort.columns, COLUMNS, "column to sort by")
    known, partition = column_types(context.spec), context.spec.table_schema.partition_keys
    own = _OWN_COLUMN.get(sort.order)
    for index, name in enumerate(sort.columns):
        if name in partition:
            yield SpecError(
                f"{COLUMNS}[{index}]", f"{name!r} is a partition key, the same in all rows of a partition", "Remove it."
            )
        elif name in known and not known[name].is_nested and not _is_sortable(known[name].name, sort.order):
            yield SpecError(
                f"{COLUMNS}[{index}]",
                f"{name!r} is of type {known[name]}, which {sort.order} cannot sort",
                "Use order Order, or another column.",
            )
    taken = next((each.name for each in context.spec.table_schema.columns if each.name.lower() == own), None)
    if taken is not None:
        yield SpecError(
            f"{PATH}.order",
            f"{sort.order} would replace the column {taken!r} by its own column of this name",
            "Use order Order, or rename the column.",
        )


def _is_sortable(type_: str, order: ClusteringOrder) -> bool:
    return order is ClusteringOrder.ORDER or type_ in _ON_A_CURVE or type_ in _ALSO[order]
