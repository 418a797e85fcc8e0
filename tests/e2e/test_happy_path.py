"""The main job: a table's life on every engine, and what its schedules do; a foreign reader agrees."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.e2e.lab import Lab, committed, scheduled
from tests.e2e.lifecycle import drop, live
from tests.support.kubectl import Object, condition


def status(obj: Object | None, *path: str) -> Object:
    found = (obj or {}).get("status") or {}
    for step in path:
        found = found.get(step) or {}
    return found


def committed_after(before: list[int]) -> Callable[[Object | None], bool]:
    return lambda obj: committed(obj) not in ([], before)


def end(run: Object) -> str:
    """When the run's last attempt ended; empty while it is at work."""
    attempts = status(run).get("attempts") or [{}]
    return str(attempts[-1].get("finished", ""))


@pytest.mark.usefixtures("each_engine")
def test_a_table_lives_on_s3_until_it_is_dropped(lab: Lab) -> None:
    live(lab)
    drop(lab)


def test_what_is_scheduled_is_done(lab: Lab) -> None:
    columns = {"id": "BIGINT", "state": "STRING", "amount": "DECIMAL(12,2)"}
    table = lab.table(
        "orders",
        columns,
        keys=["id"],
        bucket={"type": "Fixed", "fixed": {"count": 2}},
        compaction={"mode": "Dedicated", "full": {"schedule": "*/2 * * * *"}},
        retention={"snapshots": {"numRetainedMin": 1, "numRetainedMax": 2, "schedule": "*/2 * * * *"}},
        writes=[scheduled("import", "orders/")],
    )
    lab.kubectl.apply(table)
    lab.ready("orders")

    for batch in range(3):
        before = committed(lab.kubectl.get("paimontable", "orders"))
        lab.land(
            f"orders/{batch}.json",
            [{"id": n, "state": f"batch {batch}", "amount": f"{n}.50"} for n in range(5 + batch)],
        )
        lab.kubectl.until("paimontable", "orders", committed_after(before), what=f"batch {batch} committed")

    assert [(row["id"], row["state"], str(row["amount"])) for row in lab.rows("orders")] == [
        (n, "batch 2", f"{n}.50") for n in range(7)
    ]
    lab.kubectl.apply(table | {"spec": table["spec"] | {"writes": []}})  # no more runs than are looked at
    written = max(end(run) for run in lab.runs("orders", "Write"))  # one more may be at work
    compacted = lab.kubectl.until(
        "paimontable",
        "orders",
        lambda o: (status(o, "compaction").get("lastTime") or "") > written,
        what="compacted after the last batch",
    )
    run = lab.kubectl.get("paimonrun", status(compacted, "compaction")["lastRun"]) or {}
    assert run["status"]["after"]["sortedRunsMax"] == 1
    lab.kubectl.until(
        "paimontable",
        "orders",
        lambda o: (status(o, "retention").get("lastTime") or "") > end(run),
        what="expired after the compaction",
    )
    assert len(lab.rows("orders")) == 7
    assert condition(lab.kubectl.get("paimontable", "orders"), "Healthy")["status"] == "True"


def test_describe_answers_what_happened(lab: Lab) -> None:
    lab.kubectl.apply(lab.table("t", {"id": "BIGINT"}, keys=["id"]))
    lab.ready("t")

    text = lab.kubectl.run("describe", "paimontable", "t")
    assert "TableMatchesSpec" in text
    assert "Events:" in text
    assert "Provision" in text.split("Events:")[1]
