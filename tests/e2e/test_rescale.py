"""A rescale on a real node: writes wait and the status shows it, then each key is there once and writes resume."""

from __future__ import annotations

from typing import Any

from tests.e2e.lab import Lab, committed, once
from tests.support.kubectl import Object, condition

COLUMNS = {"day": "STRING", "id": "BIGINT", "v": "STRING"}
DAYS = ("mon", "tue", "wed")


def table(lab: Lab, count: int, *writes: Object) -> Object:
    """The table with this number of buckets and these writes."""
    found = lab.table("orders", COLUMNS, keys=["day", "id"], writes=list(writes))
    found["spec"]["schema"]["partitionKeys"] = ["day"]
    found["spec"]["runPolicy"] = {"successfulRunsHistoryLimit": 20}
    found["spec"]["bucket"] = {"type": "Fixed", "fixed": {"count": count, "onCountChange": "Rescale"}}
    return found


def test_an_edited_count_rescales_the_table_and_a_write_of_the_same_edit_waits_for_it(lab: Lab) -> None:
    first, late = once("first", "in/1.json"), once("late", "in/2.json")
    rows = {(day, id_): "first" for day in DAYS for id_ in range(20)}
    lab.land("in/1.json", _lines(rows))
    lab.kubectl.apply(lab.catalog(), table(lab, 2, first))
    lab.settled("orders")

    upserts = {(day, id_): "late" for day in DAYS for id_ in range(0, 30, 5)}
    lab.land("in/2.json", _lines(upserts))
    lab.kubectl.apply(table(lab, 4, first, late))
    paused = lab.kubectl.until_condition("orders", "WritesPaused", "True")
    assert paused["reason"] == "Rescaling"
    assert "0 of 3 partitions have the new number of buckets, 3 are left" in paused["message"]
    assert len(lab.runs("orders", "Write")) == 1

    lab.ready("orders")
    done = lab.kubectl.until("paimontable", "orders", _has_loaded_both, what="loaded after the rescale")
    assert done is not None
    assert not condition(done, "WritesPaused")
    assert (done["status"]["table"]["bucketCount"], done["status"]["rescale"]["done"]) == (4, 3)
    assert len(lab.runs("orders", "Rescale")) == 1
    found = sorted(((row["day"], row["id"]), row["v"]) for row in lab.rows("orders"))
    assert found == sorted((rows | upserts).items())
    assert {file["bucket"] for file in lab.rows("orders$files")} == set(range(4))


def _lines(rows: dict[tuple[str, int], str]) -> list[dict[str, Any]]:
    return [{"day": day, "id": id_, "v": value} for (day, id_), value in rows.items()]


def _has_loaded_both(found: Object | None) -> bool:
    return len(committed(found)) == 2 and found is not None and not found["status"].get("activeRun")
