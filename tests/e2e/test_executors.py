"""Mode Cluster on the node: executors do the work, can be lost, end with their driver, and can be unavailable."""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.e2e.kills import kill_driver
from tests.e2e.lab import Lab, once
from tests.e2e.lifecycle import CLUSTER
from tests.support.executor_namespace import account_objects
from tests.support.kubectl import Object, condition

EXECUTORS = "paimon-operator.dev/role=executor"
COLUMNS = {"id": "BIGINT", "v": "STRING"}
ROWS = 50_000
VICTIM = "killed-squeeze"
"""A name of its own: drivers of other tests are on the same machine."""


def load_in_mode_auto(lab: Lab, *loads: int) -> Lab:
    """Creates the table `t` and loads each number of rows over the same keys, in mode Auto.

    The accounts are those that the chart creates in a workload namespace.
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


def running(pods: list[Object]) -> list[Object]:
    return [pod for pod in pods if pod["status"]["phase"] == "Running"]


def are_both_running(pods: list[Object]) -> bool:
    return bool(len(running(pods)) == CLUSTER["executor"]["instances"])


def has_no_executors(lab: Lab) -> bool:
    return lab.kubectl.until_list("pod", EXECUTORS, lambda pods: not pods, what="deleted") == []


def ended(lab: Lab, name: str = "squeeze") -> Object:
    def over(obj: Object | None) -> bool:
        return ((obj or {}).get("status") or {}).get("phase") in ("Succeeded", "Failed", "Unknown")

    found = lab.kubectl.until("paimonrun", name, over, what="over")
    assert found is not None
    return found


class TestLossOfAnExecutor:
    """A compaction by two executors, one of which is deleted during the run."""

    @pytest.fixture(scope="class")
    @classmethod
    def loaded(cls, class_lab: Lab) -> Lab:
        return load_in_mode_auto(class_lab, ROWS, ROWS)

    def test_auto_loads_few_rows_in_one_pod(self, loaded: Lab) -> None:
        for run in loaded.runs("t", "Write"):
            assert run["status"]["spark"]["mode"] == "Local"
            assert "nothing is known of the last load of write load-" in run["status"]["spark"]["message"]

    def test_executors_have_no_token_and_show_no_secret(self, loaded: Lab) -> None:
        loaded.kubectl.apply(loaded.compaction("t", "squeeze"))
        pods = running(loaded.kubectl.until_list("pod", EXECUTORS, are_both_running, what="with two running Pods"))
        shown = loaded.kubectl.run("get", "pods,configmaps,paimonruns", "-o", "yaml")

        loaded.kubectl.delete("pod", pods[0]["metadata"]["name"], force=True)

        assert loaded.env["AWS_SECRET_ACCESS_KEY"] not in shown
        assert "_SPARK_AUTH_SECRET" not in shown
        for pod in pods:
            assert pod["spec"]["serviceAccountName"] == "paimon-spark"
            assert not [volume for volume in pod["spec"]["volumes"] if "projected" in volume]

    def test_the_run_succeeds_without_the_lost_executor(self, loaded: Lab) -> None:
        status = ended(loaded)["status"]
        assert (status["phase"], len(status["attempts"])) == ("Succeeded", 1)
        assert (status["spark"]["mode"], status["spark"]["message"]) == ("Cluster", "mode Cluster (Catalog)")
        instances = status["spark"]["executors"]["instances"]
        assert instances == CLUSTER["executor"]["instances"]
        (attempt,) = status["attempts"]
        ran = datetime.fromisoformat(attempt["finished"]) - datetime.fromisoformat(attempt["started"])
        assert status["cost"]["podSeconds"] == ran.total_seconds() * (1 + instances)
        assert status["after"]["files"] < status["before"]["files"]

    def test_the_last_load_of_each_key_is_there_and_no_executor_remains(self, loaded: Lab) -> None:
        rows = loaded.rows("t")
        assert (len(rows), {row["v"] for row in rows}) == (ROWS, {"load-2"})
        assert has_no_executors(loaded)


@pytest.mark.long
class TestKilledDriver:
    """A compaction by executors whose driver is killed during the run."""

    @pytest.fixture(scope="class")
    @classmethod
    def loaded(cls, class_lab: Lab) -> Lab:
        return load_in_mode_auto(class_lab, 10, 10)

    def test_its_executors_are_gone_before_the_next_attempt(self, loaded: Lab) -> None:
        loaded.kubectl.apply(loaded.compaction("t", VICTIM))
        pods = running(loaded.kubectl.until_list("pod", EXECUTORS, running, what="running"))

        assert kill_driver(VICTIM) > 0

        run = loaded.kubectl.until("paimonrun", VICTIM, lambda o: len(attempts(o)) == 2, what="retried")
        first, second = attempts(run)
        assert datetime.fromisoformat(first["finished"]) <= datetime.fromisoformat(second["launched"])
        assert {pod["metadata"]["name"].rpartition("-exec-")[0] for pod in pods} == {first["pod"]}

    def test_the_next_attempt_succeeds(self, loaded: Lab) -> None:
        run = ended(loaded, VICTIM)
        assert (run["status"]["phase"], len(attempts(run))) == ("Succeeded", 2)
        assert has_no_executors(loaded)
        assert [row["v"] for row in loaded.rows("t")] == 10 * ["load-2"]


def attempts(run: Object | None) -> list[Object]:
    found: list[Object] = ((run or {}).get("status") or {}).get("attempts", [])
    return found


@pytest.mark.long  # the driver waits for two and a half minutes
def test_a_run_whose_executors_cannot_be_scheduled_fails_and_reports_it(lab: Lab) -> None:
    table = load_in_mode_auto(lab, 10)
    table.kubectl.apply(table.catalog(spark=CLUSTER | {"executor": {"instances": 1, "memory": "512Gi"}}))
    table.kubectl.apply(table.compaction("t", "squeeze", backoffLimit=0))

    run = ended(table)

    failed = condition(run, "Succeeded")
    assert (failed["status"], failed["reason"]) == ("False", "NoExecutors")
    assert "no node takes pod paimon-run-squeeze-1-exec-" in failed["message"]
    assert run["status"]["failureClass"] == "Infrastructure"
    assert has_no_executors(table)
