"""What already stands is never overwritten: it is compared, and the difference or the owner is spelled out."""

from __future__ import annotations

import pytest

from tests.e2e.lab import Lab, once
from tests.e2e.lifecycle import YEARLY
from tests.support.kubectl import condition

COLUMNS = {"id": "BIGINT", "amount": "DECIMAL(10,2)"}


class TestImpossibleEdit:
    """An edit that the table cannot follow is spelled out, and maintenance goes on."""

    @pytest.fixture(scope="class")
    @classmethod
    def loaded(cls, class_lab: Lab) -> Lab:
        class_lab.land("in/1.json", [{"id": 1, "amount": 1.5}])
        class_lab.kubectl.apply(class_lab.table("t", COLUMNS, keys=["id"], writes=[once("import", "in/1.json")]))
        class_lab.settled("t")
        return class_lab

    def test_it_is_spelled_out(self, loaded: Lab) -> None:
        columns = {**COLUMNS, "amount": "DECIMAL(12,2)"}
        spec = {
            "writes": [once("import", "in/1.json")],
            "compaction": {"mode": "Inline"},
            "retention": {"snapshots": {"timeRetained": "1h", "schedule": YEARLY}},
        }
        loaded.kubectl.apply(loaded.table("t", columns, keys=["id"], **spec))

        stalled = loaded.kubectl.until_condition("t", "Stalled", "True")
        assert stalled["reason"] == "TableDiffers"
        assert "amount" in stalled["message"]
        assert "DECIMAL(10, 2)" in stalled["message"].replace("DECIMAL(10,2)", "DECIMAL(10, 2)")

    def test_maintenance_goes_on(self, loaded: Lab) -> None:
        loaded.kubectl.apply(loaded.run("t", "expire", type="ExpireSnapshots"))
        loaded.kubectl.until_condition("expire", "Succeeded", "True", kind="paimonrun")
        assert [str(row["amount"]) for row in loaded.rows("t")] == ["1.50"]


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


class TestTableOfAnother:
    """A table that stands already: left alone when it differs, adopted when it is equal, unless it has an owner."""

    @pytest.fixture(scope="class")
    @classmethod
    def left(cls, class_lab: Lab) -> Lab:
        """The table of an object that is gone."""
        class_lab.land("in/1.json", [{"id": 7, "amount": 2.5}])
        writes = [once("import", "in/1.json")]
        class_lab.kubectl.apply(class_lab.table("maker", COLUMNS, keys=["id"], table="shared", writes=writes))
        class_lab.settled("maker")
        class_lab.kubectl.delete("paimontable", "maker", wait=True)
        return class_lab

    def test_one_that_differs_is_left_alone(self, left: Lab) -> None:
        """The same namespace and name may take its table up again; with other columns it may not touch it."""
        left.kubectl.apply(left.table("maker", {"id": "BIGINT", "other": "STRING"}, keys=["id"], table="shared"))
        stalled = left.kubectl.until_condition("maker", "Stalled", "True")
        assert stalled["reason"] == "TableDiffers"
        assert "other" in stalled["message"]
        assert [row["id"] for row in left.rows("shared")] == [7]

    def test_an_equal_one_is_adopted(self, left: Lab) -> None:
        left.kubectl.apply(left.table("maker", COLUMNS, keys=["id"], table="shared"))
        left.ready("maker")
        assert [row["id"] for row in left.rows("shared")] == [7]

    def test_another_object_s_mark_on_it_is_a_claim_also_after_that_object_is_gone(self, left: Lab) -> None:
        left.kubectl.delete("paimontable", "maker", wait=True)
        left.kubectl.apply(left.table("stranger", COLUMNS, keys=["id"], table="shared"))
        conflict = left.kubectl.until_condition("stranger", "Stalled", "True")
        assert conflict["reason"] == "Conflict"
        assert f"{left.namespace}/maker" in conflict["message"]
