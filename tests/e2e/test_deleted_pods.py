"""A driver Pod that somebody deletes while it works: the kubelet stops it before another one begins."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise

import pytest

from tests.cluster.processes import wait_until
from tests.e2e.lab import Lab, once
from tests.support.kubectl import PATIENCE_S, Object

COLUMNS = {"id": "BIGINT"}
ROWS = 1_000_000
"""More than a driver loads in its grace period."""


def write_pods(lab: Lab) -> list[Object]:
    return [pod for pod in lab.pods("paimon-operator.dev/table=t") if "-write-" in pod["metadata"]["name"]]


@pytest.mark.parametrize("force", [False, True], ids=["gracefully", "by force"])
def test_a_driver_that_is_deleted_ends_before_the_next_one_begins(lab: Lab, *, force: bool) -> None:
    lab.land("in/1.json", [{"id": n} for n in range(ROWS)])
    lab.kubectl.apply(lab.table("t", COLUMNS))
    lab.ready("t")
    lab.kubectl.apply(lab.table("t", COLUMNS, writes=[once("import", "in/1.json", mode="Append")]))
    assert wait_until(
        lambda: any(pod["status"]["phase"] == "Running" for pod in write_pods(lab)), timeout=PATIENCE_S, interval=0.2
    )
    (pod,) = write_pods(lab)

    lab.kubectl.delete("pod", pod["metadata"]["name"], force=force)

    lab.settled("t")
    (run,) = lab.runs("t", "Write")
    attempts = run["status"]["attempts"]
    assert len(attempts) == 2
    for earlier, later in pairwise(attempts):
        assert datetime.fromisoformat(earlier["finished"]) <= datetime.fromisoformat(later["launched"])
    assert sorted(row["id"] for row in lab.rows("t")) == list(range(ROWS))
    assert wait_until(lambda: not any(pod["metadata"].get("finalizers") for pod in write_pods(lab)), timeout=60)
