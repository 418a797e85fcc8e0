"""The life cycle of a table on every engine, and its schedules. pypaimon reads the rows."""

from __future__ import annotations

import time

import pytest

from tests.e2e.lab import Lab, committed, once, scheduled
from tests.e2e.lifecycle import YEARLY, Lifecycle, drop, live
from tests.support.kubectl import Object, condition


def status(obj: Object | None, *path: str) -> Object:
    found = (obj or {}).get("status") or {}
    for step in path:
        found = found.get(step) or {}
    return found


def end(run: Object) -> str:
    """Returns the end of the run's last attempt, or an empty text while it runs."""
    attempts = status(run).get("attempts") or [{}]
    return str(attempts[-1].get("finished", ""))


class TestLifeOnS3(Lifecycle):
    @pytest.fixture(scope="class")
    @classmethod
    def lived(cls, each_engine: str, class_lab: Lab) -> Lab:
        assert class_lab.engine == each_engine
        return class_lab


@pytest.mark.long
@pytest.mark.usefixtures("each_engine")
def test_the_life_cycle_of_a_table_on_s3(lab: Lab) -> None:
    live(lab)
    drop(lab)


class TestSchedules:
    """One table whose write, compaction and expiry are due every minute."""

    @pytest.fixture(scope="class")
    @classmethod
    def ticking(cls, class_lab: Lab) -> Lab:
        """A lab whose table has rows and a new input, shortly before the next tick."""
        land(class_lab, "first.json", 7)
        class_lab.kubectl.apply(table_of(class_lab, [once("first", "first.json"), scheduled("import", "new/")]))
        class_lab.settled("orders")
        time.sleep(max(0.0, 50 - time.time() % 60))  # no event announces the end of a minute
        land(class_lab, "new/second.json", 5)
        return class_lab

    def test_a_tick_loads_new_files(self, ticking: Lab) -> None:
        ticking.kubectl.until("paimontable", "orders", lambda o: len(committed(o)) == 2, what="loaded")
        assert [(row["id"], row["state"], str(row["amount"])) for row in ticking.rows("orders")] == [
            (n, "new/second.json" if n < 5 else "first.json", f"{n}.50") for n in range(7)
        ]
        ticking.kubectl.apply(table_of(ticking, []))

    def test_a_tick_compacts_the_table(self, ticking: Lab) -> None:
        loaded = max(end(run) for run in ticking.runs("orders", "Write") if run["spec"]["write"]["name"] == "import")

        def compacted(table: Object | None) -> bool:
            return (status(table, "compaction").get("lastTime") or "") > loaded

        table = ticking.kubectl.until("paimontable", "orders", compacted, what="compacted after the load")
        run = ticking.kubectl.get("paimonrun", status(table, "compaction")["lastRun"]) or {}
        assert (run["status"]["reason"]["trigger"], run["status"]["after"]["sortedRunsMax"]) == ("Schedule", 1)
        ticking.kubectl.apply(table_of(ticking, [], compaction=YEARLY))

    def test_a_tick_expires_the_snapshots_before_the_compaction(self, ticking: Lab) -> None:
        def expired(_: Object | None) -> bool:
            return len(ticking.snapshots("orders")) == 1

        ticking.kubectl.until("paimontable", "orders", expired, what="expired")
        assert len(ticking.rows("orders")) == 7
        assert condition(ticking.kubectl.get("paimontable", "orders"), "Healthy")["status"] == "True"


def table_of(lab: Lab, writes: list[Object], *, compaction: str = "* * * * *") -> Object:
    """Returns the table `orders` with these writes, this schedule of compaction, and an expiry every minute."""
    return lab.table(
        "orders",
        {"id": "BIGINT", "state": "STRING", "amount": "DECIMAL(12,2)"},
        keys=["id"],
        bucket={"type": "Fixed", "fixed": {"count": 2}},
        compaction={"mode": "Dedicated", "full": {"schedule": compaction}},
        retention={"snapshots": {"numRetainedMin": 1, "numRetainedMax": 1, "schedule": "* * * * *"}},
        writes=writes,
    )


def land(lab: Lab, path: str, rows: int) -> None:
    """Lands a file whose rows have its name."""
    lab.land(path, [{"id": n, "state": path, "amount": f"{n}.50"} for n in range(rows)])


def test_describe_shows_the_history_of_the_table(lab: Lab) -> None:
    lab.kubectl.apply(lab.table("t", {"id": "BIGINT"}, keys=["id"]))
    lab.ready("t")

    text = lab.kubectl.run("describe", "paimontable", "t")
    assert "TableMatchesSpec" in text
    assert "Events:" in text
    assert "Provision" in text.split("Events:")[1]
