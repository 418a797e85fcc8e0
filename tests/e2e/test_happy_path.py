"""The life cycle of a table on every engine, and its schedules. pypaimon reads the rows."""

from __future__ import annotations

import time

import pytest

from tests.e2e.lab import Lab, committed, once, scheduled
from tests.e2e.lifecycle import YEARLY, Lifecycle, drop, live
from tests.support.kubectl import Object, condition

MINUTELY = "* * * * *"


def status(obj: Object | None, *path: str) -> Object:
    found = (obj or {}).get("status") or {}
    for step in path:
        found = found.get(step) or {}
    return found


@pytest.mark.each_engine
class TestLifeOnS3(Lifecycle):
    @pytest.fixture(scope="class")
    @classmethod
    def lived(cls, engine: str, class_lab: Lab) -> Lab:
        assert class_lab.engine == engine
        return class_lab


@pytest.mark.long
@pytest.mark.each_engine
def test_the_life_cycle_of_a_table_on_s3(lab: Lab) -> None:
    live(lab)
    drop(lab)


class TestSchedules:
    """One table with a schedule of every minute: of a write, then of compaction, then of expiry.

    One at a time, because on a busy machine the runs of three schedules take longer than a minute.
    """

    @pytest.fixture(scope="class")
    @classmethod
    def loaded(cls, class_lab: Lab) -> Lab:
        """A lab whose table has rows."""
        land(class_lab, "first.json", 7)
        class_lab.kubectl.apply(table_of(class_lab, [once("first", "first.json")]))
        class_lab.settled("orders")
        return class_lab

    @pytest.fixture
    def ticking(self, loaded: Lab) -> Lab:
        """The same, ten seconds before the next tick or later."""
        time.sleep(max(0.0, 50 - time.time() % 60))  # no event announces the end of a minute
        return loaded

    def test_a_tick_loads_new_files(self, ticking: Lab) -> None:
        land(ticking, "new/second.json", 5)
        ticking.kubectl.apply(table_of(ticking, [once("first", "first.json"), scheduled("import", "new/")]))
        ticking.kubectl.until("paimontable", "orders", lambda o: len(committed(o)) == 2, what="loaded")
        assert [(row["id"], row["state"], str(row["amount"])) for row in ticking.rows("orders")] == [
            (n, "new/second.json" if n < 5 else "first.json", f"{n}.50") for n in range(7)
        ]

    def test_a_tick_compacts_the_table(self, ticking: Lab) -> None:
        ticking.kubectl.apply(table_of(ticking, [], compaction=MINUTELY))
        done = ticking.kubectl.until(
            "paimontable", "orders", lambda table: bool(status(table, "compaction").get("lastTime")), what="compacted"
        )
        run = ticking.kubectl.get("paimonrun", status(done, "compaction")["lastRun"]) or {}
        assert (run["status"]["reason"]["trigger"], run["status"]["after"]["sortedRunsMax"]) == ("Schedule", 1)

    def test_a_tick_expires_the_snapshots_before_the_compaction(self, ticking: Lab) -> None:
        assert len(ticking.snapshots("orders")) > 1
        ticking.kubectl.apply(table_of(ticking, [], expiry=MINUTELY))
        ticking.kubectl.until("paimontable", "orders", lambda _: len(ticking.snapshots("orders")) == 1, what="expired")
        assert len(ticking.rows("orders")) == 7
        assert condition(ticking.kubectl.get("paimontable", "orders"), "Healthy")["status"] == "True"


def table_of(lab: Lab, writes: list[Object], *, compaction: str = YEARLY, expiry: str = YEARLY) -> Object:
    """Returns the table `orders` with these writes and these schedules of compaction and expiry."""
    return lab.table(
        "orders",
        {"id": "BIGINT", "state": "STRING", "amount": "DECIMAL(12,2)"},
        keys=["id"],
        bucket={"type": "Fixed", "fixed": {"count": 2}},
        compaction={"mode": "Dedicated", "full": {"schedule": compaction}},
        retention={"snapshots": {"numRetainedMin": 1, "numRetainedMax": 1, "schedule": expiry}},
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
