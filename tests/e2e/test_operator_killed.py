"""SIGKILL of the operator at five points of a run's life: one Spark run happened, and the rows are there once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cluster.processes import wait_until
from tests.e2e.kills import kill_operator
from tests.e2e.lab import Lab, once
from tests.support.kubectl import PATIENCE_S, Object, condition

Point = Callable[[Lab], bool]


def active_write(lab: Lab) -> Object:
    status = (lab.kubectl.get("paimontable", "t") or {}).get("status") or {}
    active = status.get("activeRun") or {}
    return active if active.get("type") == "Write" else {}


def write_pods(lab: Lab) -> list[Object]:
    return [pod for pod in lab.pods("paimon-operator.dev/table=t") if "-write-" in pod["metadata"]["name"]]


def intent_written(lab: Lab) -> bool:
    return bool(active_write(lab))


def pod_created(lab: Lab) -> bool:
    return bool(write_pods(lab))


def pod_running(lab: Lab) -> bool:
    return any(pod["status"]["phase"] == "Running" for pod in write_pods(lab))


def pod_finished(lab: Lab) -> bool:
    return any(pod["status"]["phase"] == "Succeeded" for pod in write_pods(lab))


def status_written(lab: Lab) -> bool:
    return any(run.get("status", {}).get("phase") == "Succeeded" for run in lab.runs("t", "Write"))


@pytest.mark.parametrize("point", [intent_written, pod_created, pod_running, pod_finished, status_written])
def test_a_killed_operator_finishes_what_it_began_and_does_it_once(lab: Lab, point: Point) -> None:
    lab.kubectl.apply(lab.table("t", {"id": "BIGINT", "v": "STRING"}))
    lab.ready("t")
    lab.land("in/1.json", [{"id": n, "v": "x"} for n in range(10)])
    lab.kubectl.apply(
        lab.table("t", {"id": "BIGINT", "v": "STRING"}, writes=[once("import", "in/1.json", mode="Append")])
    )

    assert wait_until(lambda: point(lab), timeout=PATIENCE_S, interval=0.2)
    # There is none for some seconds where the test beside this one has just killed it.
    assert wait_until(lambda: kill_operator(lab.kubectl) > 0, timeout=120)

    lab.settled("t")
    (run,) = lab.runs("t", "Write")
    assert len(run["status"]["attempts"]) == 1
    assert len(write_pods(lab)) == 1
    assert condition(run, "Succeeded")["status"] == "True"
    assert sorted(row["id"] for row in lab.rows("t")) == list(range(10))
