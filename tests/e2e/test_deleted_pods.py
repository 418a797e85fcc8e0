"""A running driver Pod that a user deletes: the kubelet stops it before the next one starts."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise

import pytest

from tests.e2e.lab import Lab, once, write_pods
from tests.support.kubectl import Object

COLUMNS = {"id": "BIGINT"}
ROWS = 1_000_000
"""More than a driver loads in its grace period."""


OF_TABLE = "paimon-operator.dev/table=t"


@pytest.fixture
def made(lab: Lab) -> Lab:
    """The table is there, and so is its input."""
    lab.land("in/1.json", [{"id": n} for n in range(ROWS)])
    lab.kubectl.apply(lab.table("t", COLUMNS))
    lab.ready("t")
    return lab


@pytest.mark.parametrize(
    "force", [pytest.param(False, marks=pytest.mark.long, id="gracefully"), pytest.param(True, id="by force")]
)
def test_a_deleted_driver_ends_before_the_next_one_starts(made: Lab, *, force: bool) -> None:
    lab = made
    lab.kubectl.apply(lab.table("t", COLUMNS, writes=[once("import", "in/1.json", mode="Append")]))
    pods = lab.kubectl.until_list("pod", OF_TABLE, running_writes, what="running")
    (pod,) = running_writes(pods)

    lab.kubectl.delete("pod", pod["metadata"]["name"], force=force)

    lab.settled("t")
    (run,) = lab.runs("t", "Write")
    attempts = run["status"]["attempts"]
    assert len(attempts) == 2
    for earlier, later in pairwise(attempts):
        assert datetime.fromisoformat(earlier["finished"]) <= datetime.fromisoformat(later["launched"])
    assert sorted(row["id"] for row in lab.rows("t")) == list(range(ROWS))
    lab.kubectl.until_list("pod", OF_TABLE, are_released, what="released")


def running_writes(pods: list[Object]) -> list[Object]:
    return [pod for pod in write_pods(pods) if pod["status"]["phase"] == "Running"]


def are_released(pods: list[Object]) -> bool:
    return not any(pod["metadata"].get("finalizers") for pod in write_pods(pods))
