"""SIGKILL of the operator at five points of a run: one Spark run happens, and the table has each row once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest

from tests.cluster.processes import wait_until
from tests.e2e.kills import kill_operator
from tests.e2e.lab import Lab, once, write_pods
from tests.support.kubectl import Object, condition

COLUMNS = {"id": "BIGINT", "v": "STRING"}
OF_TABLE = "paimon-operator.dev/table=t"


@dataclass(frozen=True)
class Point:
    """A point of a run, recognized by the objects of a kind."""

    kind: str
    selector: str
    reached: Callable[[list[Object]], bool]


def is_being_written(tables: list[Object]) -> bool:
    return any(((table.get("status") or {}).get("activeRun") or {}).get("type") == "Write" for table in tables)


def in_phase(phase: str) -> Callable[[list[Object]], bool]:
    return lambda pods: any(pod["status"]["phase"] == phase for pod in write_pods(pods))


def has_succeeded(runs: list[Object]) -> bool:
    return any(run["spec"]["type"] == "Write" and condition(run, "Succeeded").get("status") == "True" for run in runs)


POINTS: Mapping[str, Point] = {
    "intent_written": Point("paimontable", "", is_being_written),
    "pod_created": Point("pod", OF_TABLE, lambda pods: bool(write_pods(pods))),
    "pod_running": Point("pod", OF_TABLE, in_phase("Running")),
    "pod_finished": Point("pod", OF_TABLE, in_phase("Succeeded")),
    "status_written": Point("paimonrun", OF_TABLE, has_succeeded),
}
"""tests/apiserver/test_operator_killed.py shows them on an API server, without a node."""


@pytest.fixture
def made(lab: Lab) -> Lab:
    """The table is there, and so is its input."""
    lab.kubectl.apply(lab.table("t", COLUMNS))
    lab.ready("t")
    lab.land("in/1.json", [{"id": n, "v": "x"} for n in range(10)])
    return lab


@pytest.mark.long
@pytest.mark.own_node
@pytest.mark.parametrize("point", POINTS)
def test_a_restarted_operator_completes_the_run_once(made: Lab, point: str) -> None:
    lab, at = made, POINTS[point]
    lab.kubectl.apply(lab.table("t", COLUMNS, writes=[once("import", "in/1.json", mode="Append")]))

    lab.kubectl.until_list(at.kind, at.selector, at.reached, what=point)
    # There is none for some seconds where the test before this one has just killed it.
    assert wait_until(lambda: kill_operator(lab.kubectl) > 0, timeout=120, interval=0.5)

    lab.settled("t")
    (run,) = lab.runs("t", "Write")
    assert len(run["status"]["attempts"]) == 1
    assert len(write_pods(lab.pods(OF_TABLE))) == 1
    assert condition(run, "Succeeded")["status"] == "True"
    assert sorted(row["id"] for row in lab.rows("t")) == list(range(10))
