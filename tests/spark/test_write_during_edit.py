"""A schema that changes while a write is in progress: the write's own schema decides, or it commits nothing.

The operator starts no write beside an edit. Another writer can alter the table at any time.
"""

from __future__ import annotations

import pytest

from tests.spark.lake import Ended, Lake

COLUMNS = {"id": "BIGINT", "amount": "INT", "note": "STRING"}


def write_while(lake: Lake, change: str, run: str | None = None) -> Ended:
    """A write of one row, and the ALTER TABLE that comes after its decision and before its commit."""
    lake.provision(COLUMNS, keys=["id"], options={"bucket": "1"}).ok()
    lake.land("orders/1.csv", "id,amount,note\n1,7,a\n")
    statement = f"ALTER TABLE outside.shop.orders {change}"
    return lake.perform(lake.write_job(run=run), alter=statement, warehouse=lake.warehouse)


@pytest.mark.parametrize(
    ("change", "row"),
    [
        ("ADD COLUMN more INT", {"id": 1, "amount": 7, "note": "a", "more": None}),
        ("ALTER COLUMN amount TYPE BIGINT", {"id": 1, "amount": 7, "note": "a"}),
    ],
)
def test_a_column_that_is_added_or_widened_meanwhile_leaves_the_rows_whole(
    lake: Lake, change: str, row: dict[str, object]
) -> None:
    write_while(lake, change).ok()

    assert lake.rows() == [row]


@pytest.mark.parametrize("change", ["DROP COLUMN note", "RENAME COLUMN note TO remark"])
def test_a_column_that_goes_meanwhile_stops_the_write_before_its_commit(lake: Lake, change: str) -> None:
    ended = write_while(lake, change, run="import")

    assert (ended.code, ended.error["class"]) == (30, "Infrastructure"), "another attempt reads the new schema"
    assert lake.snapshots() == []
    message = lake.perform(lake.write_job(run="import")).blocked("InputSchemaMismatch")
    assert "note" in message
