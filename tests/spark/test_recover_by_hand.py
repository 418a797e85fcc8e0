"""docs/howto-recover.md: a table goes back to a snapshot by the statements of the page; the files load as it says."""

from __future__ import annotations

import pytest

from paimon_engines.engine import Engine
from tests.spark.lake import Lake
from tests.support.docs_commands import blocks_below, replaced

COLUMNS = {"id": "BIGINT", "v": "STRING"}


def statements(snapshot: int) -> list[str]:
    """The statements of the page, about the table and the catalog of another writer here."""
    (block,) = blocks_below("docs/howto-recover.md", "## Go back to a snapshot", "sql")
    text = replaced(block, {"lake.": "outside.", "'41'": f"'{snapshot}'"})
    return [line.partition("; ")[0].strip().rstrip(";") for line in text.splitlines()]


@pytest.fixture
def loaded(lake: Lake) -> Lake:
    """Three loads: a good file, a wrong one, and another good one."""
    lake.provision(COLUMNS, keys=["id"], options={"bucket": "1"}).ok()
    for number, text in enumerate(("1,good\n", "2,wrong\n", "3,later\n"), start=1):
        lake.land(f"orders/{number}.csv", f"id,v\n{text}")
        lake.write().ok()
    return lake


def test_after_a_rollback_the_replaced_and_the_renamed_file_are_loaded_and_no_other(
    loaded: Lake, engine: Engine
) -> None:
    find, go_back = statements(1)
    shown = loaded.select(find)
    assert [each["snapshot_id"] for each in shown] == [1, 2, 3], engine.id
    assert all(each["commit_user"].partition("_")[0] for each in shown)

    loaded.outside(go_back)

    assert loaded.rows() == [{"id": 1, "v": "good"}]
    loaded.write().ok()
    assert loaded.rows() == [{"id": 1, "v": "good"}], "files whose commit is gone count as loaded"

    loaded.land("orders/2.csv", "id,v\n2,right\n")
    loaded.land("orders/3-again.csv", "id,v\n3,later\n")
    assert loaded.write().ok()["write"]["rows"] == 2
    assert loaded.rows() == [{"id": 1, "v": "good"}, {"id": 2, "v": "right"}, {"id": 3, "v": "later"}]
