"""Mode Cluster on the node: executors do the work, may be lost, never outlive their driver, and may not be had."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from tests.e2e.kills import kill_driver
from tests.e2e.lab import Lab, once
from tests.e2e.lifecycle import CLUSTER
from tests.support.executor_stage import account_objects
from tests.support.kubectl import PATIENCE_S, Object, condition

EXECUTORS = "paimon-operator.dev/role=executor"
COLUMNS = {"id": "BIGINT", "v": "STRING"}
ROWS = 50_000
VICTIM = "killed-squeeze"
"""A name of its own: drivers of other tests are on the same machine."""


def loaded(lab: Lab, *loads: int) -> Lab:
    """The table `t` after one load per number of rows, over the same keys, by the mode Auto.

    The accounts are what the chart makes in a namespace that it knows.
    """
    lab.kubectl.apply(*account_objects(lab.namespace))
    lab.kubectl.apply(lab.catalog(spark=CLUSTER | {"mode": "Auto"}))
    names = [f"load-{number}" for number in range(1, len(loads) + 1)]
    for name, rows in zip(names, loads, strict=True):
        lab.land(f"in/{name}.json", [{"id": n, "v": name} for n in range(rows)])
    writes = [once(name, f"in/{name}.json") for name in names]
    bucket = {"type": "Fixed", "fixed": {"count": 2}}
    lab.kubectl.apply(
        lab.table("t", COLUMNS, keys=["id"], bucket=bucket, writes=writes, compaction={"mode": "External"})
    )

    def done(obj: Object | None) -> bool:
        status = (obj or {}).get("status") or {}
        committed = [each for each in status.get("writes", ()) if each.get("committedSnapshot")]
        return len(committed) == len(writes) and not status.get("activeRun")

    lab.kubectl.until("paimontable", "t", done, what="loaded")
    lab.kubectl.apply(lab.catalog(spark=CLUSTER))
    return lab


def executors(lab: Lab, phase: str = "") -> list[Object]:
    return [pod for pod in lab.pods(EXECUTORS) if phase in ("", pod["status"]["phase"])]


def both(pods: list[Object]) -> list[Object]:
    return pods if len(pods) == CLUSTER["executor"]["instances"] else []


def until(met: Callable[[], Any], what: str) -> Any:
    """The first answer that is true."""
    end = time.monotonic() + PATIENCE_S
    while not (answer := met()):
        assert time.monotonic() < end, f"not {what}"
        time.sleep(0.3)  # polling a live server
    return answer


def ended(lab: Lab, name: str = "squeeze") -> Object:
    def over(obj: Object | None) -> bool:
        return ((obj or {}).get("status") or {}).get("phase") in ("Succeeded", "Failed", "Unknown")

    found = lab.kubectl.until("paimonrun", name, over, what="over")
    assert found is not None
    return found


def test_auto_loads_little_in_one_pod_and_a_compaction_by_two_executors_survives_the_loss_of_one(lab: Lab) -> None:
    table = loaded(lab, ROWS, ROWS)
    for run in table.runs("t", "Write"):
        assert run["status"]["spark"]["mode"] == "Local"
        assert "nothing is known of the last load of write load-" in run["status"]["spark"]["message"]
    table.kubectl.apply(table.compaction("t", "squeeze"))
    pods = until(lambda: both(executors(table, "Running")), "two executors")
    shown = table.kubectl.run("get", "pods,configmaps,paimonruns", "-o", "yaml")

    table.kubectl.delete("pod", pods[0]["metadata"]["name"], force=True)

    status = ended(table)["status"]
    assert (status["phase"], len(status["attempts"])) == ("Succeeded", 1)
    assert (status["spark"]["mode"], status["spark"]["message"]) == ("Cluster", "mode Cluster (Catalog)")
    assert status["after"]["files"] < status["before"]["files"]
    rows = table.rows("t")
    assert (len(rows), {row["v"] for row in rows}) == (ROWS, {"load-2"})
    until(lambda: not executors(table), "rid of executors")
    assert table.env["AWS_SECRET_ACCESS_KEY"] not in shown
    assert "_SPARK_AUTH_SECRET" not in shown
    for pod in pods:
        assert pod["spec"]["serviceAccountName"] == "paimon-spark"
        assert not [volume for volume in pod["spec"]["volumes"] if "projected" in volume]


def test_executors_of_a_killed_driver_are_gone_before_the_next_attempt(lab: Lab) -> None:
    table = loaded(lab, 10, 10)
    table.kubectl.apply(table.compaction("t", VICTIM))
    pods = until(lambda: executors(table, "Running"), "an executor")

    assert kill_driver(VICTIM) > 0

    status = ended(table, VICTIM)["status"]
    assert status["phase"] == "Succeeded"
    first, second = status["attempts"]
    assert datetime.fromisoformat(first["finished"]) <= datetime.fromisoformat(second["launched"])
    assert {pod["metadata"]["name"].rpartition("-exec-")[0] for pod in pods} == {first["pod"]}
    until(lambda: not executors(table), "rid of executors")
    assert [row["v"] for row in table.rows("t")] == 10 * ["load-2"]


def test_a_run_whose_executors_no_node_takes_fails_and_says_so(lab: Lab) -> None:
    table = loaded(lab, 10)
    table.kubectl.apply(table.catalog(spark=CLUSTER | {"executor": {"instances": 1, "memory": "512Gi"}}))
    table.kubectl.apply(table.compaction("t", "squeeze", backoffLimit=0))

    run = ended(table)

    failed = condition(run, "Succeeded")
    assert (failed["status"], failed["reason"]) == ("False", "NoExecutors")
    assert "no node takes pod squeeze-1-exec-" in failed["message"]
    assert run["status"]["failureClass"] == "Infrastructure"
    until(lambda: not executors(table), "rid of executors")
