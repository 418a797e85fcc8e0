"""One table's life, on whatever storage: apply, three upserts over the same keys, compact, expire; rows as a foreign
reader sees them."""

from __future__ import annotations

from collections.abc import Callable

from tests.e2e.lab import Lab, committed, scheduled
from tests.support.kubectl import Object, condition


def status(obj: Object | None, *path: str) -> Object:
    found = (obj or {}).get("status") or {}
    for step in path:
        found = found.get(step) or {}
    return found


def committed_after(before: list[int]) -> Callable[[Object | None], bool]:
    return lambda obj: committed(obj) not in ([], before)


def live(lab: Lab) -> None:
    """Lets the table `orders` live, and checks what became of it."""
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
        lab.land(
            f"orders/{batch}.json",
            [{"id": n, "state": f"batch {batch}", "amount": f"{n}.50"} for n in range(5 + batch)],
        )
        before = committed(lab.kubectl.get("paimontable", "orders"))
        lab.kubectl.until(
            "paimontable",
            "orders",
            committed_after(before),
            what=f"batch {batch} committed",
            seconds=300,
        )

    assert [(row["id"], row["state"], str(row["amount"])) for row in lab.rows("orders")] == [
        (n, "batch 2", f"{n}.50") for n in range(7)
    ]
    tried = [attempt for run in lab.runs("orders", "Write") for attempt in run["status"].get("attempts", ())]
    end = max(attempt["finished"] for attempt in tried if "finished" in attempt)  # the next write may be at work
    lab.kubectl.until(
        "paimontable",
        "orders",
        lambda o: (status(o, "compaction").get("lastTime") or "") > end,
        what="compacted after the last batch",
        seconds=300,
    )
    compacted = lab.runs("orders", "Compact")[-1]
    assert compacted["status"]["after"]["sortedRunsMax"] == 1
    lab.kubectl.until(
        "paimontable",
        "orders",
        lambda o: (status(o, "retention").get("lastTime") or "") > compacted["status"]["attempts"][-1]["finished"],
        what="expired after the compaction",
        seconds=300,
    )
    assert len(lab.rows("orders")) == 7
    assert condition(lab.kubectl.get("paimontable", "orders"), "Healthy")["status"] == "True"
