"""Existing tables are never overwritten. Their differences or their owner are reported."""

from __future__ import annotations

import pytest

from tests.e2e.lab import Lab, once
from tests.e2e.lifecycle import YEARLY
from tests.support.kubectl import condition

COLUMNS = {"id": "BIGINT", "amount": "DECIMAL(10,2)"}


@pytest.mark.long
class TestImpossibleEdit:
    """An edit that cannot be applied to the table is reported, and maintenance continues."""

    @pytest.fixture(scope="class")
    @classmethod
    def loaded(cls, class_lab: Lab) -> Lab:
        class_lab.land("in/1.json", [{"id": 1, "amount": 1.5}])
        class_lab.kubectl.apply(class_lab.table("t", COLUMNS, keys=["id"], writes=[once("import", "in/1.json")]))
        class_lab.settled("t")
        return class_lab

    def test_the_edit_is_reported(self, loaded: Lab) -> None:
        columns = {**COLUMNS, "amount": "DECIMAL(8,2)"}
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

    def test_maintenance_continues(self, loaded: Lab) -> None:
        loaded.kubectl.apply(loaded.run("t", "expire", type="ExpireSnapshots"))
        loaded.kubectl.until_condition("expire", "Succeeded", "True", kind="paimonrun")
        assert [str(row["amount"]) for row in loaded.rows("t")] == ["1.50"]


def test_a_second_object_for_the_same_table_is_stalled_and_the_first_stays_ready(lab: Lab) -> None:
    lab.kubectl.apply(lab.table("first", COLUMNS, keys=["id"], table="orders"))
    lab.ready("first")
    lab.kubectl.apply(lab.table("second", COLUMNS, keys=["id"], table="orders"))

    stalled = lab.kubectl.until_condition("second", "Stalled", "True")
    assert stalled["reason"] == "TableClaimed"
    assert "PaimonTable first manages the same table" in stalled["message"]
    assert condition(lab.kubectl.get("paimontable", "first"), "Ready")["status"] == "True"
    assert lab.runs("second") == []

    lab.kubectl.delete("paimontable", "first", wait=True)
    lab.kubectl.until(
        "paimontable",
        "second",
        lambda o: condition(o, "Stalled").get("reason") != "TableClaimed",
        what="without the table claim of the deleted object",
    )


class TestTableOfAnother:
    """An existing table is not changed if it differs, and adopted if it is equal and has no other owner."""

    @pytest.fixture(scope="class")
    @classmethod
    def left(cls, class_lab: Lab) -> Lab:
        """Creates a table and deletes its object."""
        class_lab.land("in/1.json", [{"id": 7, "amount": 2.5}])
        writes = [once("import", "in/1.json")]
        class_lab.kubectl.apply(class_lab.table("maker", COLUMNS, keys=["id"], table="shared", writes=writes))
        class_lab.settled("maker")
        class_lab.kubectl.delete("paimontable", "maker", wait=True)
        return class_lab

    def test_a_different_table_is_not_changed(self, left: Lab) -> None:
        """An object of the same namespace and name can adopt the table, but not with a column of another type."""
        left.kubectl.apply(left.table("maker", COLUMNS | {"amount": "DATE"}, keys=["id"], table="shared"))
        stalled = left.kubectl.until_condition("maker", "Stalled", "True")
        assert stalled["reason"] == "TableDiffers"
        assert "amount" in stalled["message"]
        assert [row["id"] for row in left.rows("shared")] == [7]

    def test_an_equal_table_is_adopted(self, left: Lab) -> None:
        left.kubectl.apply(left.table("maker", COLUMNS, keys=["id"], table="shared"))
        left.ready("maker")
        assert [row["id"] for row in left.rows("shared")] == [7]

    def test_the_owner_of_a_table_is_kept_after_the_deletion_of_its_object(self, left: Lab) -> None:
        left.kubectl.delete("paimontable", "maker", wait=True)
        left.kubectl.apply(left.table("stranger", COLUMNS, keys=["id"], table="shared"))
        conflict = left.kubectl.until_condition("stranger", "Stalled", "True")
        assert conflict["reason"] == "Conflict"
        assert "PaimonTable maker" in conflict["message"]

    def test_adopt_takes_the_table_with_its_rows(self, left: Lab) -> None:
        left.kubectl.apply(left.table("stranger", COLUMNS, keys=["id"], table="shared", adoptionPolicy="Adopt"))
        left.ready("stranger")
        assert [row["id"] for row in left.rows("shared")] == [7]
