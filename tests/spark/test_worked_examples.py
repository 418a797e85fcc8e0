"""The worked examples of Paimon's documentation, written by Write and read by pypaimon."""

from __future__ import annotations

import json
from typing import Final

from paimon_operator.api.reasons import Reason
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.desired_table import desired_table
from paimon_operator.core.validation.table import broken_rules
from tests.spark.lake import Lake
from tests.support import builders

ITEMS: Final = "ARRAY<ROW<sku STRING, n INT, note STRING>>"


def write_in_turn(lake: Lake, header: str, *rows: str) -> None:
    """Writes each row as one file and one commit."""
    for number, row in enumerate(rows):
        lake.land(f"orders/{number}.csv", f"{header}\n{row}\n")
        assert lake.write().ok()["write"]["files"] == 1


def test_deduplicate_keeps_the_last_row(lake: Lake) -> None:
    lake.provision({"id": "BIGINT", "v": "STRING"}, keys=["id"], options={"bucket": "1"}).ok()

    write_in_turn(lake, "id,v", "1,first", "1,second", "2,only", "1,last")

    assert lake.rows() == [{"id": 1, "v": "last"}, {"id": 2, "v": "only"}]


def test_partial_update_keeps_the_last_value_that_is_not_null(lake: Lake) -> None:
    columns = {"k": "INT", "price": "DOUBLE", "amount": "INT", "note": "STRING"}
    options = {"bucket": "1", "merge-engine": "partial-update"}
    lake.provision(columns, keys=["k"], options=options).ok()

    write_in_turn(lake, "k,price,amount,note", "1,23.0,10,", "1,,,This is a book", "1,25.2,,")

    assert lake.rows() == [{"k": 1, "price": 25.2, "amount": 10, "note": "This is a book"}]


def test_aggregation_merges_each_column_by_its_function(lake: Lake) -> None:
    options = {
        "bucket": "1",
        "merge-engine": "aggregation",
        "fields.price.aggregate-function": "max",
        "fields.sales.aggregate-function": "sum",
    }
    lake.provision({"k": "INT", "price": "DOUBLE", "sales": "BIGINT"}, keys=["k"], options=options).ok()

    write_in_turn(lake, "k,price,sales", "1,23.0,15", "1,30.2,20")

    assert lake.rows() == [{"k": 1, "price": 30.2, "sales": 35}]


def test_nested_rows_of_the_same_key_are_completed_field_by_field(lake: Lake) -> None:
    """Paimon's example of nested_partial_update, by the options that a manifest makes."""
    orders = manifest_with_nested_rows(lake)
    if "nested_partial_update" not in orders.engine.aggregate_functions:
        assert [error.reason for error in broken_rules(orders)] == [Reason.UNSUPPORTED_BY_ENGINE]
        return
    assert broken_rules(orders) == ()
    options = desired_table(orders.spec, orders.effective).options
    lake.provision({"id": "BIGINT", "items": ITEMS}, keys=["id"], options=options | {"bucket": "1"}).ok()

    for number, items in enumerate(
        ([{"sku": "a", "n": 1, "note": None}], [{"sku": "a", "n": None, "note": "x"}, {"sku": "b", "n": 2}])
    ):
        lake.land(f"orders/{number}.json", json.dumps({"id": 1, "items": items}))
        assert lake.write(format="json").ok()["write"]["files"] == 1
    lake.compact().ok()

    (row,) = lake.rows()
    merged = sorted(row["items"], key=lambda item: str(item["sku"]))
    assert merged == [{"sku": "a", "n": 1, "note": "x"}, {"sku": "b", "n": 2, "note": None}]


def manifest_with_nested_rows(lake: Lake) -> TableContext:
    aggregate = {"function": "nested_partial_update", "nestedKey": ["sku"]}
    columns = [{"name": "id", "type": "BIGINT"}, {"name": "items", "type": ITEMS, "aggregate": aggregate}]
    table = builders.table(schema={"columns": columns, "primaryKeys": ["id"]}, mergeEngine={"type": "Aggregation"})
    return builders.context(table, builders.catalog(engine=lake.engine.id))
