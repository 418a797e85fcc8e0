"""A hanging driver ends by its run's deadline."""

from __future__ import annotations

import pytest

from tests.e2e.drivers import drivers_of
from tests.e2e.kills import driver_held
from tests.e2e.lab import Lab, committed, once
from tests.support.kubectl import Object, condition

COLUMNS = {"id": "BIGINT", "v": "STRING"}
HANGS = "hangs"


WRITES = [once(f"load-{n}", f"in/{n}.json") for n in range(2)]
SPEC: Object = {"bucket": {"type": "Fixed", "fixed": {"count": 1}}, "compaction": {"mode": "External"}}


@pytest.mark.long
class TestHangingDriver:
    """A compaction whose driver is stopped, and its table afterwards."""

    @pytest.fixture(scope="class")
    @classmethod
    def loaded(cls, class_lab: Lab) -> Lab:
        for n in range(2):
            class_lab.land(f"in/{n}.json", [{"id": 1, "v": f"load-{n}"}])
        class_lab.kubectl.apply(class_lab.table("t", COLUMNS, keys=["id"], writes=WRITES[:1], **SPEC))
        class_lab.settled("t")
        return class_lab

    def test_it_is_stopped_at_the_deadline(self, loaded: Lab) -> None:
        lab, name = loaded, f"{HANGS}-{loaded.namespace}"
        lab.kubectl.apply(lab.compaction("t", name, activeDeadline="15s", backoffLimit=0))
        lab.kubectl.until("paimonrun", name, is_at_work, what="running")
        with driver_held(name):
            assert drivers_of(HANGS)
            lab.kubectl.until_condition(name, "Succeeded", "False", kind="paimonrun", reason="DeadlineExceeded")
            assert not drivers_of(HANGS), "the kubelet has killed it after its grace period"

        run = (lab.kubectl.get("paimonrun", name) or {})["status"]
        assert (run["failureClass"], len(run["attempts"])) == ("Deadline", 1)

    def test_its_table_is_written_again(self, loaded: Lab) -> None:
        loaded.kubectl.apply(loaded.table("t", COLUMNS, keys=["id"], writes=WRITES, **SPEC))
        loaded.kubectl.until("paimontable", "t", lambda o: len(committed(o)) == 2, what="loaded again")
        assert loaded.rows("t") == [{"id": 1, "v": "load-1"}]


def is_at_work(run: Object | None) -> bool:
    return condition(run, "Succeeded").get("reason") == "Running"
