"""One table's life, on whatever storage: made, loaded, squeezed by executors, expired, dropped."""

from __future__ import annotations

from typing import Any

from tests.e2e.lab import Lab, committed, once
from tests.support.executor_stage import account_objects
from tests.support.kubectl import Object

CLUSTER: dict[str, Any] = {
    "mode": "Cluster",
    "driver": {"cores": 1, "memory": "1536Mi"},
    "executor": {"instances": 2, "cores": 1, "memory": "1Gi"},
}
YEARLY = "0 0 1 1 *"
KEYS = 100


def live(lab: Lab) -> None:
    """Lets the table `orders` live: three upserts, the last of them and the compaction by two executors, and expiry.

    Rows are read by pypaimon. The accounts are what the chart makes in a namespace that it knows.
    """
    lab.kubectl.apply(*account_objects(lab.namespace))
    _load(lab, 1)
    _load(lab, 2)
    lab.kubectl.apply(lab.catalog(spark=CLUSTER))
    _load(lab, 3)
    (loaded,) = [run for run in lab.runs("orders", "Write") if run["status"]["spark"]["mode"] == "Cluster"]
    assert loaded["status"]["phase"] == "Succeeded"

    squeezed = _asked(lab, "squeeze", type="Compact", compact={"strategy": "Full"})
    assert squeezed["spark"]["mode"] == "Cluster"
    assert squeezed["after"]["sortedRunsMax"] == 1
    assert len(lab.snapshots("orders")) == 4
    _asked(lab, "expire", type="ExpireSnapshots")
    assert len(lab.snapshots("orders")) == 1
    assert [(row["id"], row["batch"]) for row in lab.rows("orders")] == [(n, 2) for n in range(KEYS)]


def drop(lab: Lab) -> None:
    """Deletes the table, and with it all that the storage had of it: data and ledger."""
    assert lab.files("orders")
    lab.kubectl.delete("paimontable", "orders")
    lab.kubectl.until("paimontable", "orders", lambda o: o is None, what="gone")
    assert lab.files("orders") == []


def _load(lab: Lab, batches: int) -> None:
    """Lets the table have been loaded that many times with the same keys, each time over the one before."""
    table = lab.table(
        "orders",
        {"id": "BIGINT", "batch": "INT"},
        keys=["id"],
        bucket={"type": "Fixed", "fixed": {"count": 2}},
        compaction={"mode": "Dedicated", "full": {"schedule": YEARLY}},
        retention={"snapshots": {"numRetainedMin": 1, "numRetainedMax": 1, "schedule": YEARLY}},
        writes=[once(f"load-{n}", f"in/{n}.json") for n in range(batches)],
        deletionPolicy="Delete",
    )
    lab.land(f"in/{batches - 1}.json", [{"id": n, "batch": batches - 1} for n in range(KEYS)])
    lab.kubectl.apply(table)
    lab.kubectl.until("paimontable", "orders", lambda o: len(committed(o)) == batches, what=f"loaded {batches} times")


def _asked(lab: Lab, name: str, **spec: Any) -> Object:
    """The status of a run that a user asks for, once it has succeeded."""
    lab.kubectl.apply(lab.run("orders", name, **spec))
    lab.kubectl.until_condition(name, "Succeeded", "True", kind="paimonrun")
    status: Object = (lab.kubectl.get("paimonrun", name) or {})["status"]
    return status
