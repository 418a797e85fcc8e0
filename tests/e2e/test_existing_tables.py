"""What already stands is never overwritten: it is compared, and the difference or the owner is spelled out."""

from __future__ import annotations

from tests.e2e.lab import Lab, committed, once
from tests.support.kubectl import condition

COLUMNS = {"id": "BIGINT", "amount": "DECIMAL(10,2)"}


def test_an_edit_that_the_table_cannot_follow_is_spelled_out_and_maintenance_goes_on(lab: Lab) -> None:
    lab.land("in/1.json", [{"id": 1, "amount": 1.5}])
    table = lab.table("t", COLUMNS, keys=["id"], writes=[once("import", "in/1.json")])
    lab.kubectl.apply(table)
    lab.ready("t")
    lab.kubectl.until("paimontable", "t", committed, what="loaded")

    table["spec"]["schema"]["columns"][1]["type"] = "DECIMAL(12,2)"
    table["spec"]["compaction"] = {"mode": "Inline"}
    table["spec"]["retention"] = {"snapshots": {"timeRetained": "1h", "schedule": "* * * * *"}}
    lab.kubectl.apply(table)

    stalled = lab.kubectl.until_condition("t", "Stalled", "True")
    assert stalled["reason"] == "TableDiffers"
    assert "amount" in stalled["message"]
    assert "DECIMAL(10, 2)" in stalled["message"].replace("DECIMAL(10,2)", "DECIMAL(10, 2)")
    lab.kubectl.until(
        "paimontable",
        "t",
        lambda o: o and (o["status"].get("retention") or {}).get("lastRun"),
        what="expired on schedule",
    )
    assert [str(row["amount"]) for row in lab.rows("t")] == ["1.50"]


def test_a_second_object_for_the_same_table_is_stalled_and_the_first_goes_on(lab: Lab) -> None:
    lab.kubectl.apply(lab.table("first", COLUMNS, keys=["id"], table="orders"))
    lab.ready("first")
    lab.kubectl.apply(lab.table("second", COLUMNS, keys=["id"], table="orders"))

    stalled = lab.kubectl.until_condition("second", "Stalled", "True")
    assert stalled["reason"] == "TableClaimed"
    assert f"{lab.namespace}/first" in stalled["message"]
    assert condition(lab.kubectl.get("paimontable", "first"), "Ready")["status"] == "True"
    assert lab.runs("second") == []

    lab.kubectl.delete("paimontable", "first", wait=True)
    lab.kubectl.until(
        "paimontable",
        "second",
        lambda o: condition(o, "Stalled").get("reason") != "TableClaimed",
        what="free of the claim of the deleted one",
    )


def test_a_foreign_table_that_differs_is_left_alone_and_an_equal_one_is_adopted(lab: Lab) -> None:
    lab.land("in/1.json", [{"id": 7, "amount": 2.5}])
    lab.kubectl.apply(lab.table("maker", COLUMNS, keys=["id"], table="shared", writes=[once("import", "in/1.json")]))
    lab.ready("maker")
    lab.kubectl.until("paimontable", "maker", committed, what="loaded")
    lab.kubectl.delete("paimontable", "maker", wait=True)

    # The same namespace and name may take its table up again; with other columns it may not touch it.
    lab.kubectl.apply(lab.table("maker", {"id": "BIGINT", "other": "STRING"}, keys=["id"], table="shared"))
    stalled = lab.kubectl.until_condition("maker", "Stalled", "True")
    assert stalled["reason"] == "TableDiffers"
    assert "other" in stalled["message"]
    assert [row["id"] for row in lab.rows("shared")] == [7]

    lab.kubectl.apply(lab.table("maker", COLUMNS, keys=["id"], table="shared"))
    lab.ready("maker")
    assert [row["id"] for row in lab.rows("shared")] == [7]

    # Another object's mark on the table is a claim, also after that object is gone.
    lab.kubectl.delete("paimontable", "maker", wait=True)
    lab.kubectl.apply(lab.table("stranger", COLUMNS, keys=["id"], table="shared"))
    conflict = lab.kubectl.until_condition("stranger", "Stalled", "True")
    assert conflict["reason"] == "Conflict"
    assert f"{lab.namespace}/maker" in conflict["message"]
