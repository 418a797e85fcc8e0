"""What somebody alters by hand is reported with old and new value, and taken back where that is legal."""

from __future__ import annotations

from typing import Any

import pytest

from tests.spark.drift_reports import Change, compare_with_files, found_by, recorded
from tests.spark.lake import Ended, Lake

COLUMNS = {"id": "BIGINT", "amount": "INT", "note": "STRING", "address": "ROW<street STRING, zip INT>"}
MANIFEST: dict[str, Any] = {
    "keys": ["id"],
    "options": {"bucket": "2", "snapshot.num-retained.min": "3"},
    "comments": {"note": "free text"},
    "comment": "all orders",
}
TABLE = "outside.shop.orders"
ROW = f"INSERT INTO {TABLE} VALUES (1, 7, 'first', named_struct('street', 'Hill', 'zip', 1))"  # noqa: S608


def orders(lake: Lake, **more: Any) -> Ended:
    return lake.provision(COLUMNS, **MANIFEST | more)


def observe(lake: Lake, drift: dict[str, Any] | None = None, **more: Any) -> Ended:
    """Observes with a JVM, and compares with what is found without one."""
    table = lake.provision_job(COLUMNS, **MANIFEST | more)["provision"]
    job = lake.job("Observe", observe={"table": table} | ({} if drift is None else {"drift": drift}))
    ended = lake.perform(job)
    compare_with_files(lake, job, ended.result)
    return ended


# ruff: noqa: E501  (a table: one statement per line)
CORRECTED = [
    ("ALTER TABLE {} SET TBLPROPERTIES ('snapshot.num-retained.min'='5')", ("OptionChanged", "snapshot.num-retained.min", "3", "5")),
    ("ALTER TABLE {} UNSET TBLPROPERTIES ('snapshot.num-retained.min')", ("OptionChanged", "snapshot.num-retained.min", "3", None)),
    ("ALTER TABLE {} SET TBLPROPERTIES ('snapshot.time-retained'='5 h')", ("OptionChanged", "snapshot.time-retained", None, "5 h")),
    ("ALTER TABLE {} ALTER COLUMN note COMMENT 'theirs'", ("ColumnCommentChanged", "note", "free text", "theirs")),
    ("ALTER TABLE {} ALTER COLUMN amount COMMENT 'theirs'", ("ColumnCommentChanged", "amount", None, "theirs")),
    ("ALTER TABLE {} SET TBLPROPERTIES ('comment'='theirs')", ("TableCommentChanged", "", "all orders", "theirs")),
    ("ALTER TABLE {} RENAME COLUMN amount TO total", ("ColumnRenamed", "amount", "amount", "total")),
    ("ALTER TABLE {} ALTER COLUMN note FIRST", ("ColumnsReordered", "", "id, amount, note, address", "note, id, amount, address")),
]  # fmt: skip
REPORTED = [
    ("ALTER TABLE {} ADD COLUMN extra DATE", ("ColumnAdded", "extra", None, "DATE"), None),
    ("ALTER TABLE {} ALTER COLUMN amount TYPE BIGINT", ("TypeChanged", "amount", "INT", "BIGINT"), "TableDiffers"),
]  # fmt: skip


@pytest.mark.some_rows(4)
@pytest.mark.parametrize(("statement", "change"), CORRECTED)
def test_a_change_by_hand_is_reported_and_taken_back_in_one_schema_commit(
    lake: Lake, statement: str, change: Change
) -> None:
    known = recorded(orders(lake).ok())
    lake.outside(ROW, statement.format(TABLE))
    seen = observe(lake, known).ok()
    assert found_by(seen) == [change]
    assert seen["drift"]["count"] == 1
    assert seen["drift"]["schemaId"] == 1
    assert seen["drift"]["schemaTime"] > "2020"
    assert seen["drift"]["changes"][0]["correctable"] is True
    assert lake.schemas() == 2, "to look changes nothing"

    corrected = orders(lake, drift=known, corrects=True).ok()
    assert found_by(corrected, "takenBack") == [change]
    assert found_by(corrected) == []
    assert lake.schemas() == 3
    assert lake.rows()[0] | {"address": None} == {"id": 1, "amount": 7, "note": "first", "address": None}

    assert found_by(observe(lake, known).ok()) == [], "it is as before"
    again = orders(lake, drift=recorded(corrected), corrects=True).ok()
    assert found_by(again, "takenBack") == []
    assert lake.schemas() == 3, "a table that is as declared is not altered"


@pytest.mark.parametrize(("statement", "change", "refused"), REPORTED)
def test_what_cannot_be_taken_back_is_reported_and_stays(
    lake: Lake, statement: str, change: Change, refused: str | None
) -> None:
    known = recorded(orders(lake).ok())
    lake.outside(ROW, statement.format(TABLE))
    seen = observe(lake, known).ok()
    assert found_by(seen) == [change]
    assert "correctable" not in seen["drift"]["changes"][0]
    assert ("refused" in seen["drift"]) is (refused is not None)
    if refused is None:
        verified = orders(lake, drift=known, corrects=True).ok()
        assert found_by(verified) == [change], "it is still reported after the table was verified"
        assert found_by(observe(lake, recorded(verified)).ok()) == [change]
        lake.outside(f"ALTER TABLE {TABLE} DROP COLUMN extra")
        assert found_by(observe(lake, recorded(verified)).ok()) == [], "reverted by hand"
    else:
        ended = orders(lake, drift=known, corrects=True)
        ended.refused(refused)
        assert found_by(ended.result) == [change]
        assert lake.schemas() == 2, "nothing was altered"
    assert lake.rows()[0]["amount"] == 7


def test_an_extra_option_is_left_alone_without_the_policy_and_reported_until_it_is_declared(lake: Lake) -> None:
    known = recorded(orders(lake).ok())
    lake.outside(f"ALTER TABLE {TABLE} SET TBLPROPERTIES ('snapshot.time-retained'='5 h')")
    change = ("OptionChanged", "snapshot.time-retained", None, "5 h")
    verified = orders(lake, drift=known).ok()
    assert found_by(verified) == [change]
    assert lake.schemas() == 2
    declares = {"options": MANIFEST["options"] | {"snapshot.time-retained": "5 h"}}
    assert found_by(orders(lake, drift=recorded(verified), **declares).ok()) == []


def test_an_alter_before_an_edit_is_reported_by_the_run_of_the_edit(lake: Lake) -> None:
    known = recorded(orders(lake).ok())
    lake.outside(f"ALTER TABLE {TABLE} SET TBLPROPERTIES ('snapshot.num-retained.min'='5')")
    edited = orders(lake, drift=known, comment="all the orders").ok()
    assert found_by(edited, "takenBack") == [("OptionChanged", "snapshot.num-retained.min", "3", "5")]
    assert edited["differences"] == [
        "comment of the table",
        "option snapshot.num-retained.min: 5 -> 3",
    ]


def test_another_table_under_the_name_and_a_lost_owner_mark_put_the_table_in_doubt(lake: Lake) -> None:
    known = recorded(orders(lake).ok())
    lake.outside(f"ALTER TABLE {TABLE} UNSET TBLPROPERTIES ('paimon-operator.owner')")
    seen = observe(lake, known).ok()
    assert [each[0] for each in found_by(seen)] == ["OwnerChanged"]
    assert seen["drift"]["refused"] == "the mark of its owner has changed"
    lake.outside(f"DROP TABLE {TABLE}", f"CREATE TABLE {TABLE} (id BIGINT)")
    seen = observe(lake, known).ok()
    assert found_by(seen) == [("TableReplaced", "", "schema 0", "schema 0")]
    assert seen["drift"]["refused"] == "the table is another one than the operator has left"


def test_the_first_look_records_the_schema_and_a_lost_result_is_no_change_of_somebody_else(lake: Lake) -> None:
    orders(lake).ok()
    first = observe(lake).ok()
    measured = orders(lake).ok()["table"]
    assert (measured["schemaId"], measured["schemaDigest"]) == (0, first["drift"]["schemaDigest"])
    assert first["drift"]["count"] == 0
    assert "baselineId" not in first["drift"]
    edited = {"options": {"bucket": "2", "snapshot.num-retained.min": "4"}}
    orders(lake, drift=recorded(first), **edited).ok()  # the operator never reads this result
    repeated = orders(lake, drift=recorded(first), **edited).ok()
    assert found_by(repeated) == found_by(repeated, "takenBack") == []
    assert lake.schemas() == 2
