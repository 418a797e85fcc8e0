"""The observer of a catalog: it finds what others have committed, without a run and without a right of its own."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cluster.processes import wait_until
from tests.e2e.lab import Lab, once
from tests.e2e.lifecycle import OBSERVERS, is_read_by_observer
from tests.support import pypaimon_tables
from tests.support.kubectl import Object

COLUMNS = {"id": "BIGINT NOT NULL", "amount": "INT"}
HOURLY = {"mode": "Dedicated", "full": {"schedule": "0 0 1 1 *"}}


def health(found: Object | None) -> dict[str, Any]:
    return ((found or {}).get("status") or {}).get("health") or {}


def observers(lab: Lab) -> list[Object]:
    return [each for each in lab.pods(OBSERVERS) if each["status"].get("phase") == "Running"]


@pytest.mark.long  # (the status follows looks at most every five minutes)
def test_a_commit_of_another_writer_reaches_the_status_without_a_run(lab: Lab) -> None:
    table = lab.table(
        "orders",
        COLUMNS,
        keys=["id"],
        bucket={"type": "Fixed", "fixed": {"count": 1}},
        externalWriters="Paused",
        compaction=HOURLY,
        writes=[once("import", "in/1.json")],
    )
    lab.land("in/1.json", [{"id": 1, "amount": 7}])
    lab.kubectl.apply(table)
    loaded = lab.settled("orders")
    before = [run["metadata"]["name"] for run in lab.runs("orders")]
    assert health(loaded)["snapshotId"] == 1

    pypaimon_tables.write_rows(
        f"s3://lake/{lab.namespace}", lab.database, "orders", [{"id": 2, "amount": 8}], env=lab.env
    )
    seen = lab.kubectl.until(
        "paimontable", "orders", lambda o: health(o).get("snapshotId") == 2, what="seen by the observer"
    )
    assert health(seen)["sortedRunsMax"] == 2
    assert [run["metadata"]["name"] for run in lab.runs("orders")] == before
    (observer,) = observers(lab)
    assert observer["spec"]["automountServiceAccountToken"] is False
    assert lab.rows("orders") == [{"id": 1, "amount": 7}, {"id": 2, "amount": 8}]


def test_an_observer_looks_at_the_tables_of_its_catalog_until_that_is_suspended(lab: Lab) -> None:
    lab.kubectl.apply(lab.table("orders", COLUMNS, keys=["id"]))
    lab.ready("orders")
    lab.kubectl.until_list(
        "pod",
        OBSERVERS,
        lambda pods: [each["status"].get("phase") for each in pods] == ["Running"],
        what="one observer",
    )
    assert wait_until(lambda: is_read_by_observer(lab), timeout=180, interval=1)
    lab.kubectl.apply(lab.catalog(suspend=True))
    lab.kubectl.until_list("pod", OBSERVERS, lambda pods: not pods, what="no observer")
