"""Every operation works in a database whose name has dashes, like many namespaces."""

from __future__ import annotations

from tests.spark.lake import Lake


def test_the_life_cycle_of_a_table_in_a_database_with_dashes(lake: Lake) -> None:
    lake.database = "web-shop-2"
    lake.provision(
        {"id": "BIGINT", "select": "STRING"}, keys=["id"], options={"bucket": "1", "write-only": "true"}
    ).ok()
    for batch in range(2):
        lake.land(f"orders/{batch}.csv", f"id,select\n1,{batch}\n")
        lake.write().ok()

    assert lake.compact().ok()["after"]["sortedRunsMax"] == 1
    lake.expire(numRetainedMin=1, numRetainedMax=1).ok()
    assert lake.rows() == [{"id": 1, "select": "1"}]
    assert lake.drop().ok()["dropped"] is True
    assert not lake.table_directory.exists()
