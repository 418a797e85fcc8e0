"""An edit by which the levels of a table become fewer is refused, and what would come of it."""

# ruff: noqa: S608 - the only values in SQL are those of the tests

from __future__ import annotations

from typing import Any

import pytest

from tests.spark.lake import Lake

TRIGGER = "num-sorted-run.compaction-trigger"
EDITS = [{TRIGGER: "4"}, {"num-levels": "5"}]
COLUMNS = {"id": "BIGINT", "a": "INT", "b": "INT"}
VECTORS = {"bucket": "1", "merge-engine": "partial-update", "deletion-vectors.enabled": "true"}
KEPT = [{"id": 1, "a": 1, "b": 2}, {"id": 2, "a": 1, "b": 3}]
LOST = [{"id": 1, "a": None, "b": 2}, {"id": 2, "a": 1, "b": 3}]


def compacted(lake: Lake) -> Lake:
    """A table whose rows are in the highest of its six levels."""
    lake.provision(COLUMNS, keys=["id"], options=VECTORS).ok()
    lake.outside("INSERT INTO outside.shop.orders VALUES (1, 1, 3), (2, 1, 3)")
    lake.compact().ok()
    return lake


def rows_after_an_update(lake: Lake) -> list[dict[str, Any]]:
    """The rows after writes of one column, and of other keys, by a writer that compacts."""
    lake.outside("INSERT INTO outside.shop.orders VALUES (1, NULL, 2)")
    lake.outside(*[f"INSERT INTO outside.shop.orders VALUES ({number}, 1, 1)" for number in range(10, 14)])
    return [row for row in lake.rows() if row["id"] < 10]


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: next(iter(edit)))
def test_an_edit_with_fewer_levels_is_refused_and_the_rows_stay(lake: Lake, edit: dict[str, str]) -> None:
    refused = compacted(lake).provision(COLUMNS, keys=["id"], options=VECTORS | edit)
    assert (refused.error["reason"], refused.error["field"]) == ("TableDiffers", f"spec.options[{next(iter(edit))}]")
    assert refused.error["remedy"] == 'Set spec.options[num-levels] to "6" or more.'
    assert rows_after_an_update(lake) == KEPT


def test_the_same_trigger_with_as_many_levels_keeps_the_rows(lake: Lake) -> None:
    compacted(lake).provision(COLUMNS, keys=["id"], options=VECTORS | {TRIGGER: "4", "num-levels": "6"}).ok()
    assert rows_after_an_update(lake) == KEPT


def test_a_program_that_makes_the_edit_all_the_same_loses_a_value(lake: Lake) -> None:
    """The reason for the refusal. Where a release of Paimon keeps it, the refusal can go."""
    compacted(lake).outside(f"ALTER TABLE outside.shop.orders SET TBLPROPERTIES ('{TRIGGER}'='4')")
    assert rows_after_an_update(lake) == LOST
