"""Row kinds by a column: deletes reach the table, and what each merge engine does with them."""

from __future__ import annotations

import pytest

from tests.spark.lake import Lake
from tests.support import builders

COLUMNS = {"id": "BIGINT", "v": "INT", "op": "STRING"}
KINDS = {"bucket": "1", "rowkind.field": "op"}
DELETE = "id,v,op\n1,9,-D\n"


def create(lake: Lake, options: dict[str, str], *, keys: tuple[str, ...] = ("id",)) -> None:
    """Creates the table and writes two rows."""
    lake.provision(COLUMNS, keys=list(keys), options=KINDS | options).ok()
    lake.land("orders/1.csv", "id,v,op\n1,1,+I\n2,2,+U\n")
    lake.write().ok()


def delete(lake: Lake) -> str:
    """Deletes one row and compacts. Returns what failed."""
    lake.land("orders/2.csv", DELETE)
    for ended in (lake.write(), lake.compact()):
        if ended.code:
            return str(ended.error["message"])
    return ""


def ids(lake: Lake) -> list[int]:
    return [row["id"] for row in lake.rows()]


@pytest.mark.parametrize(
    "options", [{}, {"bucket": "-1"}, {"changelog-producer": "lookup"}, {"deletion-vectors.enabled": "true"}], ids=str
)
def test_a_row_of_the_kind_delete_removes_its_key(lake: Lake, options: dict[str, str]) -> None:
    create(lake, options)
    assert delete(lake) == ""
    assert ids(lake) == [2]


@pytest.mark.engines_in_turn("merge_engine")
@pytest.mark.parametrize("merge_engine", ["deduplicate", "first-row", "aggregation"])
def test_ignored_deletes_change_nothing(lake: Lake, merge_engine: str) -> None:
    create(lake, {"merge-engine": merge_engine, "ignore-delete": "true"})
    assert delete(lake) == ""
    assert ids(lake) == [1, 2]


MAXIMUM = {"merge-engine": "aggregation", "fields.v.aggregate-function": "max"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"merge-engine": "partial-update"}, "Partial update can not accept delete records"),
        ({"merge-engine": "first-row"}, "First row merge engine can not accept DELETE"),
        (MAXIMUM, "'max' does not support retraction"),
    ],
    ids=str,
)
def test_a_merge_engine_fails_at_a_delete(lake: Lake, options: dict[str, str], message: str) -> None:
    create(lake, options)
    assert message in delete(lake)


RETRACTING = [
    {"merge-engine": "partial-update", "ignore-delete": "true"},
    {"merge-engine": "partial-update", "partial-update.remove-record-on-delete": "true"},
    {"merge-engine": "partial-update", "fields.v.sequence-group": "op"},
    MAXIMUM | {"fields.v.ignore-retract": "true"},
    MAXIMUM | {"ignore-delete": "true"},
    {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"},
    {"merge-engine": "aggregation"},
]


@pytest.mark.some_rows(2)
@pytest.mark.parametrize("options", RETRACTING, ids=str)
def test_settings_with_which_a_delete_passes(lake: Lake, options: dict[str, str]) -> None:
    """pypaimon reads none of these, so Spark counts the rows: a delete never adds one."""
    create(lake, options)
    assert delete(lake) == ""
    lake.outside("SELECT assert_true(count(*) <= 2) FROM outside.shop.orders")


@pytest.mark.parametrize("merge_engine", ["aggregation", "partial-update"])
def test_a_delete_removes_the_row_if_it_is_to(lake: Lake, merge_engine: str) -> None:
    option = f"{merge_engine}.remove-record-on-delete"
    if option not in builders.engines()[lake.engine.id].options:
        return
    create(lake, {"merge-engine": merge_engine, option: "true"})
    assert delete(lake) == ""
    lake.outside("SELECT assert_true(count(*) = 1 AND max(id) = 2) FROM outside.shop.orders")


def test_a_delete_does_not_find_its_row_if_its_kind_is_part_of_the_key(lake: Lake) -> None:
    create(lake, {}, keys=("id", "op"))
    assert delete(lake) == ""
    assert ids(lake) == [1, 2]


def test_a_kind_that_is_no_text_or_null_fails_the_write(lake: Lake) -> None:
    lake.provision(COLUMNS, keys=["id"], options=KINDS | {"rowkind.field": "v"}).ok()
    lake.land("orders/1.csv", DELETE)
    assert "only support string type" in lake.write().error["message"]


def test_aggregates_that_ignore_retracts_exclude_the_removal_of_rows(lake: Lake) -> None:
    option = "aggregation.remove-record-on-delete"
    if option not in builders.engines()[lake.engine.id].options:
        return
    options = MAXIMUM | {"bucket": "1", option: "true", "fields.v.ignore-retract": "true"}
    lake.provision(COLUMNS, keys=["id"], options=options).ok()
    lake.land("orders/1.csv", "id,v\n1,1\n")
    assert "conflicting behavior" in lake.write().error["message"]
