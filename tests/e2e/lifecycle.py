"""The life cycle of a table on any storage: creation, loads, compaction, expiry, drop. pypaimon reads the rows.

`make test` runs `Lifecycle`, with a test for each step, and `ShortLife`, without compaction and expiry.
`make test-long` runs `live` and `drop`: all steps, and executors do the last load and the compaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tests.cluster.processes import wait_until
from tests.e2e.lab import Lab, committed, once
from tests.support.executor_namespace import account_objects
from tests.support.kubectl import PATIENCE_S, Object

CLUSTER: dict[str, Any] = {
    "mode": "Cluster",
    "driver": {"cores": 1, "memory": "1536Mi"},
    "executor": {"instances": 2, "cores": 1, "memory": "1Gi"},
}
YEARLY = "0 0 1 1 *"
KEYS = 100
OBSERVERS = "paimon-operator.dev/role=observer"


class Checked:
    """What the tests of a life cycle of the table `orders` check of its storage.

    A subclass has the fixture `lived` of scope `class`: a lab without a table.
    """

    def check_loaded(self, lived: Lab) -> None:
        """Checks the storage while the table exists. Subclasses override it."""

    def check_dropped(self, lived: Lab) -> None:
        """Checks the storage after the drop. Subclasses override it."""


class ShortLife(Checked):
    """Creation, load and drop, on a storage whose whole life cycle `make test-long` runs."""

    def test_it_is_created_loaded_and_dropped(self, lived: Lab) -> None:
        load(lived, 1)
        assert rows(lived) == [(n, 0) for n in range(KEYS)]
        self.check_loaded(lived)
        drop(lived)
        self.check_dropped(lived)


class Lifecycle(Checked):
    """The whole life cycle, one step per test, in order."""

    spark: ClassVar[Mapping[str, Any]] = {"mode": "Local", "driver": CLUSTER["driver"]}
    """What the catalog has from the compaction on."""

    def test_it_is_created_and_loaded(self, lived: Lab) -> None:
        load(lived, 1)
        assert rows(lived) == [(n, 0) for n in range(KEYS)]

    def test_a_second_load_replaces_the_rows(self, lived: Lab) -> None:
        load(lived, 2)
        assert rows(lived) == [(n, 1) for n in range(KEYS)]

    def test_a_compaction_leaves_one_sorted_run(self, lived: Lab) -> None:
        lived.kubectl.apply(*account_objects(lived.namespace))
        lived.kubectl.apply(lived.catalog(spark=self.spark))
        done = perform_run(lived, "squeeze", type="Compact", compact={"strategy": "Full"})
        assert (done["spark"]["mode"], done["after"]["sortedRunsMax"]) == (self.spark["mode"], 1)
        assert len(lived.snapshots("orders")) == 3

    def test_expiry_leaves_one_snapshot(self, lived: Lab) -> None:
        perform_run(lived, "expire", type="ExpireSnapshots")
        assert len(lived.snapshots("orders")) == 1
        assert rows(lived) == [(n, 1) for n in range(KEYS)]
        self.check_loaded(lived)

    def test_its_deletion_leaves_no_file(self, lived: Lab) -> None:
        drop(lived)
        self.check_dropped(lived)


def live(lab: Lab) -> None:
    """Performs three upserts, a compaction and an expiry of `orders`; two executors do the last upsert and compaction.

    The accounts are those that the chart creates in a workload namespace.
    """
    lab.kubectl.apply(*account_objects(lab.namespace))
    load(lab, 1)
    load(lab, 2)
    lab.kubectl.apply(lab.catalog(spark=CLUSTER))
    load(lab, 3)
    (loaded,) = [run for run in lab.runs("orders", "Write") if run["status"]["spark"]["mode"] == "Cluster"]
    assert loaded["status"]["phase"] == "Succeeded"

    squeezed = perform_run(lab, "squeeze", type="Compact", compact={"strategy": "Full"})
    assert squeezed["spark"]["mode"] == "Cluster"
    assert squeezed["after"]["sortedRunsMax"] == 1
    assert len(lab.snapshots("orders")) == 4
    perform_run(lab, "expire", type="ExpireSnapshots")
    assert len(lab.snapshots("orders")) == 1
    assert rows(lab) == [(n, 2) for n in range(KEYS)]
    assert wait_until(lambda: is_read_by_observer(lab), timeout=PATIENCE_S, interval=2), "its observer reads no file"


def is_read_by_observer(lab: Lab) -> bool:
    """Whether the observer of the lab's catalog has read the metadata of its one table, with its own libraries."""
    lines = lab.kubectl.run("logs", "--selector", OBSERVERS, "--tail=-1").splitlines()
    return any("observed 1 of 1 tables" in line and "cannot be read" not in line for line in lines)


def drop(lab: Lab) -> None:
    """Deletes the table with its data and ledger, and checks that the storage has no file of it."""
    assert lab.files("orders")
    lab.kubectl.delete("paimontable", "orders")
    lab.kubectl.until("paimontable", "orders", lambda o: o is None, what="deleted")
    assert lab.files("orders") == []


def rows(lab: Lab) -> list[tuple[int, int]]:
    """Returns the rows' keys and the batch of each."""
    return [(row["id"], row["batch"]) for row in lab.rows("orders")]


def load(lab: Lab, batches: int) -> None:
    """Loads the same keys that many times, each time over the previous load."""
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


def perform_run(lab: Lab, name: str, **spec: Any) -> Object:
    """Starts a run of `orders` and returns its status once it has succeeded."""
    lab.kubectl.apply(lab.run("orders", name, **spec))
    lab.kubectl.until_condition(name, "Succeeded", "True", kind="paimonrun")
    status: Object = (lab.kubectl.get("paimonrun", name) or {})["status"]
    return status
