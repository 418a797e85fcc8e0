"""A table that somebody alters by hand: the status says what, and the policy decides what becomes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.e2e.lab import Lab, once
from tests.support import pypaimon_tables
from tests.support.kubectl import Object, condition

COLUMNS = {"id": "BIGINT", "amount": "INT"}
OPTION = "snapshot.num-retained.min"


def table(lab: Lab, **spec: Any) -> Object:
    return lab.table("orders", COLUMNS, keys=["id"], writes=[once("import", "in/1.json")], **spec)


def latest_schema(lab: Lab) -> dict[str, Any]:
    keys = lab.keys(f"{lab.database}.db/orders/schema/schema-")
    newest = max(keys, key=lambda key: int(key.rpartition("-")[2]))
    found: dict[str, Any] = json.loads(lab.s3.get_object(Bucket="lake", Key=newest)["Body"].read())
    return found


def look(lab: Lab, name: str) -> Object:
    """Has a user ask for a look, and returns the table after it."""
    lab.kubectl.apply(lab.run("orders", name, type="Observe"))
    lab.kubectl.until_condition(name, "Succeeded", "True", kind="paimonrun")
    found = lab.kubectl.until("paimontable", "orders", _is_idle, what="idle after the look")
    assert found is not None
    return found


def _is_idle(found: Object | None) -> bool:
    return found is not None and not found["status"].get("activeRun")


def _is_as_left(found: Object | None) -> bool:
    return condition(found, "Drifted").get("status") == "False"


def _has_one_change(found: Object | None) -> bool:
    return found is not None and _is_idle(found) and found["status"]["drift"].get("count") == 1


@pytest.mark.long
def test_an_alter_by_hand_is_reported_corrected_where_legal_and_accepted(lab: Lab) -> None:
    lab.land("in/1.json", [{"id": 1, "amount": 7}])
    lab.kubectl.apply(table(lab))
    lab.settled("orders")
    assert condition(look(lab, "first"), "Drifted")["status"] == "False"

    warehouse = f"s3://lake/{lab.namespace}"
    pypaimon_tables.alter_table(
        warehouse, lab.database, "orders", options={OPTION: "7"}, added={"extra": "STRING"}, env=lab.env
    )
    drifted = look(lab, "second")
    assert condition(drifted, "Drifted")["status"] == "True"
    assert condition(drifted, "Ready")["status"] == "True"
    assert "extra" in condition(drifted, "Drifted")["message"]
    found = {each["field"]: each for each in drifted["status"]["drift"]["changes"]}
    assert (found[OPTION]["after"], found["extra"]["change"]) == ("7", "ColumnAdded")
    assert drifted["status"]["drift"]["schemaId"] == latest_schema(lab)["id"]

    lab.kubectl.apply(table(lab, driftPolicy="Correct"))
    corrected = lab.kubectl.until(
        "paimontable",
        "orders",
        lambda o: o and o["status"]["drift"].get("count") == 1 and _is_idle(o),
        what="corrected",
    )
    assert corrected is not None
    schema = latest_schema(lab)
    assert OPTION not in schema["options"]
    assert [each["name"] for each in schema["fields"]] == ["id", "amount", "extra"], "a column is never dropped"

    accepted = f"paimon-operator.dev/accept-drift={corrected['status']['drift']['schemaId']}"
    lab.kubectl.run("annotate", "paimontable", "orders", accepted)
    lab.kubectl.until("paimontable", "orders", _is_as_left, what="not drifted any more")
    assert lab.rows("orders") == [{"id": 1, "amount": 7, "extra": None}]
