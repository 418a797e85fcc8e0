"""An edit of the schema on a real node: the plan first, then the table as declared, with its rows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.lab import Lab, once
from tests.support.kubectl import Object

COLUMNS = {"id": "BIGINT", "amount": "INT", "colour": "STRING"}
EDITED: dict[str, Any] = {
    "id": "BIGINT",
    "total": {"type": "BIGINT", "renamedFrom": "amount"},
    "price": {"type": "DOUBLE"},
}


def table(lab: Lab, columns: dict[str, Any], *, dropped: tuple[str, ...] = (), **spec: Any) -> Object:
    found = lab.table("orders", columns, keys=["id"], writes=[once("import", "in/1.json")], **spec)
    if dropped:
        found["spec"]["schema"]["droppedColumns"] = list(dropped)
    return found


def test_an_edit_is_planned_approved_and_applied_and_the_rows_stay(lab: Lab) -> None:
    lab.land("in/1.json", [{"id": 1, "amount": 7, "colour": "red"}])
    lab.kubectl.apply(lab.catalog(evolutionPolicy="Approve"), table(lab, COLUMNS))
    lab.settled("orders")

    lab.kubectl.apply(table(lab, EDITED, dropped=("colour",), suspend=True))
    shown = lab.kubectl.until_condition("orders", "Suspended", "True")
    plan = lab.kubectl.until("paimontable", "orders", lambda o: o and o["status"].get("plan"), what="planned")
    assert plan is not None
    steps = plan["status"]["plan"]["steps"]
    assert next((each["change"], each["cost"]) for each in steps) == ("DropColumn", "LosesData")
    assert {each["change"] for each in steps} == {"DropColumn", "RenameColumn", "AddColumn", "WidenType"}
    assert shown["reason"] == "Suspended"

    lab.kubectl.apply(table(lab, EDITED, dropped=("colour",)))
    waiting = lab.kubectl.until_condition("orders", "Stalled", "True")
    assert waiting["reason"] == "AwaitingApproval"
    assert len(lab.runs("orders", "Provision")) == 1

    approval = f"paimon-operator.dev/approve={plan['status']['plan']['hash']}"
    lab.kubectl.run("annotate", "paimontable", "orders", approval)
    lab.ready("orders")
    assert lab.rows("orders") == [{"id": 1, "total": 7, "price": None}]
    assert len(lab.runs("orders", "Provision")) == 2
    assert len(lab.runs("orders", "Write")) == 1, "the write has loaded before the edit"


@pytest.mark.long
def test_an_illegal_edit_leaves_the_table_as_it_is(lab: Lab) -> None:
    lab.land("in/1.json", [{"id": 1, "amount": 7, "colour": "red"}])
    lab.kubectl.apply(table(lab, COLUMNS))
    lab.settled("orders")

    lab.kubectl.apply(table(lab, COLUMNS | {"amount": "SMALLINT"}))
    stalled = lab.kubectl.until_condition("orders", "Stalled", "True")

    assert stalled["reason"] == "TableDiffers"
    assert "spec.schema.columns[amount].type: " in stalled["message"]
    assert "column amount: SMALLINT does not hold" in stalled["message"]
    assert len(lab.runs("orders", "Provision")) == 2, "one run has read the table, which decides"
    assert lab.rows("orders") == [{"id": 1, "amount": 7, "colour": "red"}]
