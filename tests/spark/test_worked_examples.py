"""The worked examples of Paimon's documentation, written by Write and read by pypaimon."""

from __future__ import annotations

from tests.spark.lake import Lake


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
