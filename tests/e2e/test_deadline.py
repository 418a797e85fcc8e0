"""A driver that does nothing any more, whatever it waits for, ends by its run's deadline."""

from __future__ import annotations

from tests.e2e.drivers import drivers_of
from tests.e2e.kills import driver_held
from tests.e2e.lab import Lab, committed, once
from tests.support.kubectl import Object, condition

COLUMNS = {"id": "BIGINT", "v": "STRING"}
HANGS = "hangs"


def test_a_driver_that_hangs_is_stopped_at_the_deadline_and_its_table_goes_on(lab: Lab) -> None:
    name = f"{HANGS}-{lab.namespace}"
    writes = [once(f"load-{n}", f"in/{n}.json") for n in range(2)]
    for n in range(2):
        lab.land(f"in/{n}.json", [{"id": 1, "v": f"load-{n}"}])
    spec: Object = {"bucket": {"type": "Fixed", "fixed": {"count": 1}}, "compaction": {"mode": "External"}}
    lab.kubectl.apply(lab.table("t", COLUMNS, keys=["id"], writes=writes[:1], **spec))
    lab.settled("t")

    lab.kubectl.apply(lab.compaction("t", name, activeDeadline="20s", backoffLimit=0))
    lab.kubectl.until("paimonrun", name, lambda o: condition(o, "Succeeded").get("reason") == "Running", what="at work")
    with driver_held(name):
        assert drivers_of(HANGS)
        lab.kubectl.until_condition(name, "Succeeded", "False", kind="paimonrun", reason="DeadlineExceeded")
        assert not drivers_of(HANGS), "it was told to end, did not, and was killed"

    run = (lab.kubectl.get("paimonrun", name) or {})["status"]
    assert (run["failureClass"], len(run["attempts"])) == ("Deadline", 1)
    lab.kubectl.apply(lab.table("t", COLUMNS, keys=["id"], writes=writes, **spec))
    lab.kubectl.until("paimontable", "t", lambda o: len(committed(o)) == 2, what="loaded again")
    assert lab.rows("t") == [{"id": 1, "v": "load-1"}]
