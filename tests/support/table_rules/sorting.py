"""Rules about sort compaction."""

# ruff: noqa: E501  (a table: one rule in few lines)

from __future__ import annotations

from typing import Any

from tests.support.manifests import Manifest, append_table
from tests.support.table_rules.rule import TableRule
from tests.support.wrong_manifest import WrongManifest, later

_SORT = "spec.compaction.sort"
_COLUMNS = f"{_SORT}.columns"
_RUNS = "tests/spark/test_sort_compaction.py"
_BY_TYPE = f"{_RUNS}: test_columns_of_each_type"
_HOURLY = "0 * * * *"


def sorted_table(order: str = "ZOrder", *columns: str, type_: str = "STRING", **edits: Any) -> Manifest:
    """A table with the columns `at`, `page` of this type and `visits`, sorted by these columns or by `page`."""
    visits = {"name": "visits", "type": "BIGINT"}
    sort = {"order": order, "columns": list(columns or ("page",)), "schedule": _HOURLY}
    usual = {
        "spec__schema__columns__1__type": type_,
        "spec__schema__columns__2": visits,
        "spec__compaction": {"mode": "Dedicated", "sort": sort},
    }
    return append_table(**(usual | edits))


SORT = [
    TableRule("sort-dedicated", "Only the operator sorts.", "ours: writers do not sort", sorted_table(),
        WrongManifest("a sort by nobody", sorted_table(spec__compaction__mode="External"), _SORT, "unless mode is Dedicated")),
    TableRule("sort-alone", "Sort replaces minor and full.", "CompactProcedure: with incremental clustering each of them sorts", sorted_table(),
        WrongManifest("sort beside full", sorted_table(spec__compaction__full={"schedule": _HOURLY}), _SORT, "beside minor or full")),
    TableRule("sort-without-keys", "A table with a primary key is sorted by it.", "SchemaValidation.validateIncrementalClustering", sorted_table(),
        WrongManifest("a sort of a keyed table", sorted_table(spec__schema__primaryKeys=["visits"]), _SORT, "with primaryKeys")),
    TableRule("sort-unaware", "Only tables without buckets are sorted.", "CompactProcedure.clusterIncrementalUnAwareBucketTable", sorted_table(spec__bucket={"type": "Unaware"}),
        WrongManifest("a sort of fixed buckets", sorted_table(spec__bucket={"type": "Fixed", "fixed": {"count": 2, "keys": ["page"]}}), _SORT, "with bucket.type Fixed")),
    TableRule("sort-without-writers", "Nothing is sorted beside other writers.", "ours: both rewrite the same files, and one of them fails", sorted_table(spec__externalWriters="Paused"),
        WrongManifest("a sort beside other writers", sorted_table(spec__externalWriters="Active"), _SORT, "with externalWriters Active")),
    TableRule("sort-column", "It is sorted by columns.", "TableSorter.checkColNames", sorted_table("Order", "visits", "page"),
        WrongManifest("a sort by no column", sorted_table("Order", "missing"), _COLUMNS, "one of the columns")),
    TableRule("sort-partition-key", "No column is a partition key.", "CompactProcedure.call", sorted_table("Order", "page", spec__schema__partitionKeys=["visits"]),
        WrongManifest("a sort by a partition key", sorted_table("Order", "page", "visits", spec__schema__partitionKeys=["visits"]), _COLUMNS, "partition keys")),
    TableRule("sort-hilbert-columns", "A Hilbert curve has two columns at least.", "HilbertIndexer: a curve has two dimensions", sorted_table("Hilbert", "page", "visits"),
        WrongManifest("a Hilbert curve of one column", sorted_table("Hilbert", "page"), _COLUMNS, "at least two columns")),
    TableRule("sort-engine", "The engine must have incremental clustering.", "CompactProcedure of 0.9.0: it overwrites, and rows that are committed meanwhile are lost", sorted_table(),
        later("a sort that the engine lacks", sorted_table(), _SORT, "paimon-0.9", "UnsupportedByEngine", engine="paimon-0.9")),
    TableRule("sort-nested", "No column is nested.", _BY_TYPE, sorted_table("Order"),
        later("a sort by a list", sorted_table("Order", type_="ARRAY<INT>"), f"{_COLUMNS}[0]", "column to sort by", "InvalidSpec")),
    TableRule("sort-curve-types", "A curve orders numbers, texts, bytes and TIMESTAMP_LTZ.", _BY_TYPE, sorted_table("Order", type_="DATE"),
        later("a curve of dates", sorted_table("ZOrder", type_="DATE"), f"{_COLUMNS}[0]", "cannot sort", "InvalidSpec")),
    TableRule("sort-z-order-types", "ZOrder also orders BOOLEAN, but not DECIMAL.", _BY_TYPE, sorted_table("ZOrder", type_="BOOLEAN"),
        later("a Z-order of decimals", sorted_table("ZOrder", type_="DECIMAL(9, 2)"), f"{_COLUMNS}[0]", "cannot sort", "InvalidSpec")),
    TableRule("sort-hilbert-types", "Hilbert also orders DECIMAL, but not BOOLEAN.", _BY_TYPE, sorted_table("Hilbert", "page", "visits", type_="DECIMAL(9, 2)"),
        later("a Hilbert curve of booleans", sorted_table("Hilbert", "page", "visits", type_="BOOLEAN"), f"{_COLUMNS}[0]", "cannot sort", "InvalidSpec")),
    TableRule("sort-curve-name", "No column has the name of the engine's own column.", f"{_RUNS}: test_the_engines_own_column_replaces_one_of_its_name", sorted_table(spec__schema__columns__2__name="hvalue"),
        later("a column that the engine replaces", sorted_table(spec__schema__columns__2={"name": "ZValue", "type": "BIGINT"}), f"{_SORT}.order", "its own column", "InvalidSpec")),
    TableRule("sort-delay", "maxDelay has 24000 days at most.", "ours: times stay far from the last year of the calendar", sorted_table(spec__compaction__sort__when={"maxDelay": "24000d"}),
        WrongManifest("a sort that waits for more than 65 years", sorted_table(spec__compaction__sort__when={"maxDelay": "24001d"}), f"{_SORT}.when.maxDelay", "at most 24000d")),
]  # fmt: skip
