"""One table's life, on whatever storage: made, loaded, compacted, expired, dropped. Rows are read by pypaimon.

`Lifecycle` has its steps as tests, for `make test`; `live` and `drop` are the same with executors throughout.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

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


class Lifecycle:
    """The life of the table `orders`, a step per test, in their order.

    A subclass has the fixture `lived` of scope `class`: the lab in which nothing is yet.
    """

    spark: ClassVar[Mapping[str, Any]] = {"mode": "Local", "driver": CLUSTER["driver"]}
    """What the catalog has from the compaction on."""

    def check_loaded(self, lived: Lab) -> None:
        """What else must be true of this storage while the table is there."""

    def check_dropped(self, lived: Lab) -> None:
        """What else must be true of this storage afterwards."""

    def test_it_is_made_and_loaded(self, lived: Lab) -> None:
        load(lived, 1)
        assert rows(lived) == [(n, 0) for n in range(KEYS)]

    def test_a_second_load_replaces_the_rows(self, lived: Lab) -> None:
        load(lived, 2)
        assert rows(lived) == [(n, 1) for n in range(KEYS)]

    def test_a_compaction_leaves_one_sorted_run(self, lived: Lab) -> None:
        lived.kubectl.apply(*account_objects(lived.namespace))
        lived.kubectl.apply(lived.catalog(spark=self.spark))
        done = asked(lived, "squeeze", type="Compact", compact={"strategy": "Full"})
        assert (done["spark"]["mode"], done["after"]["sortedRunsMax"]) == (self.spark["mode"], 1)
        assert len(lived.snapshots("orders")) == 3

    def test_expiry_leaves_one_snapshot(self, lived: Lab) -> None:
        asked(lived, "expire", type="ExpireSnapshots")
        assert len(lived.snapshots("orders")) == 1
        assert rows(lived) == [(n, 1) for n in range(KEYS)]
        self.check_loaded(lived)

    def test_its_deletion_leaves_no_file(self, lived: Lab) -> None:
        drop(lived)
        self.check_dropped(lived)


def live(lab: Lab) -> None:
    """Lets the table `orders` live: three upserts, the last of them and the compaction by two executors, and expiry.

    The accounts are what the chart makes in a namespace that it knows.
    """
    lab.kubectl.apply(*account_objects(lab.namespace))
    load(lab, 1)
    load(lab, 2)
    lab.kubectl.apply(lab.catalog(spark=CLUSTER))
    load(lab, 3)
    (loaded,) = [run for run in lab.runs("orders", "Write") if run["status"]["spark"]["mode"] == "Cluster"]
    assert loaded["status"]["phase"] == "Succeeded"

    squeezed = asked(lab, "squeeze", type="Compact", compact={"strategy": "Full"})
    assert squeezed["spark"]["mode"] == "Cluster"
    assert squeezed["after"]["sortedRunsMax"] == 1
    assert len(lab.snapshots("orders")) == 4
    asked(lab, "expire", type="ExpireSnapshots")
    assert len(lab.snapshots("orders")) == 1
    assert rows(lab) == [(n, 2) for n in range(KEYS)]


def drop(lab: Lab) -> None:
    """Deletes the table, and with it all that the storage had of it: data and ledger."""
    assert lab.files("orders")
    lab.kubectl.delete("paimontable", "orders")
    lab.kubectl.until("paimontable", "orders", lambda o: o is None, what="gone")
    assert lab.files("orders") == []


def rows(lab: Lab) -> list[tuple[int, int]]:
    """Keys and the batch that each is of."""
    return [(row["id"], row["batch"]) for row in lab.rows("orders")]


def load(lab: Lab, batches: int) -> None:
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


def asked(lab: Lab, name: str, **spec: Any) -> Object:
    """The status of a run of `orders` that a user asks for, once it has succeeded."""
    lab.kubectl.apply(lab.run("orders", name, **spec))
    lab.kubectl.until_condition(name, "Succeeded", "True", kind="paimonrun")
    status: Object = (lab.kubectl.get("paimonrun", name) or {})["status"]
    return status
