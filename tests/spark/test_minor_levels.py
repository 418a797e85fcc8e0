"""A minor compaction after a full one merges rows with those that the full one has put into the highest level."""

from __future__ import annotations

import pytest

from tests.spark.lake import Lake

NEEDED_CAPABILITY = "has_minor_compaction"

FIRST_ROW = {"merge-engine": "first-row"}
VECTORS = {"deletion-vectors.enabled": "true"}
PARTIAL = {"merge-engine": "partial-update", **VECTORS}
LATE = {"sequence.field": "b", **VECTORS}
"""The second row of the key comes late."""
TABLE = {"bucket": "1", "write-only": "true"}
SCHEDULED = {"sortedRuns": 5, "level0Files": 1}
"""Thresholds of a minor compaction: those of the default, and that of a table that hides level 0."""


@pytest.mark.parametrize(
    ("options", "merged"),
    [(FIRST_ROW, (1, 3)), (PARTIAL, (1, 2)), (LATE, (1, 3))],
    ids=["FirstRow", "PartialUpdate", "a late row"],
)
def test_a_row_in_the_highest_level_is_merged(lake: Lake, options: dict[str, str], merged: tuple[int, int]) -> None:
    lake.provision({"id": "BIGINT", "a": "INT", "b": "INT"}, keys=["id"], options=TABLE | options).ok()
    lake.outside("INSERT INTO outside.shop.orders VALUES (1, 1, 3), (2, 1, 3)")
    lake.compact().ok()
    lake.outside("INSERT INTO outside.shop.orders VALUES (1, NULL, 2)")

    lake.compact(strategy="Minor", thresholds=SCHEDULED).ok()

    assert lake.rows() == [{"id": 1, "a": merged[0], "b": merged[1]}, {"id": 2, "a": 1, "b": 3}]


@pytest.mark.parametrize("thresholds", [SCHEDULED, None], ids=["by a threshold", "of a user"])
def test_a_table_whose_levels_another_program_has_made_fewer_is_compacted_by_those_of_its_files(
    lake: Lake, thresholds: dict[str, int] | None
) -> None:
    lake.provision({"id": "BIGINT", "a": "INT"}, keys=["id"], options=TABLE | FIRST_ROW).ok()
    lake.outside("INSERT INTO outside.shop.orders VALUES (1, 1)")
    lake.compact().ok()
    lake.outside("ALTER TABLE outside.shop.orders SET TBLPROPERTIES ('num-levels'='5')")
    lake.outside("INSERT INTO outside.shop.orders VALUES (1, 2)")

    lake.compact(strategy="Minor", **({"thresholds": thresholds} if thresholds else {})).ok()

    assert lake.rows() == [{"id": 1, "a": 1}]
