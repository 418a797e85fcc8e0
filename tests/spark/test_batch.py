"""The driver of a batch as in a Pod: one process, one JVM, several runs with a result each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from paimon_contract import environment
from paimon_contract.documents import to_text
from paimon_contract.turns import BatchConfig, TurnAnswer, answer_text, config_text, job_variable
from tests.spark.lake import Lake
from tests.spark_apps.observer.fake_operator import FakeOperator, serving
from tests.support.spark_process import run_batch

TABLES = ("a", "b", "c", "d", "e")


class TurnGiver(FakeOperator):
    """Begins each turn but those of `refused`."""

    def __init__(self, refused: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.refused = refused

    def answer(self) -> str:
        following = self.requests[-1].get("next")
        return answer_text(TurnAnswer(begin=following is not None and following["name"] not in self.refused))

    def results(self) -> dict[str, dict[str, Any]]:
        """Run -> its result."""
        reports = [each["report"] for each in self.requests if "report" in each]
        return {each["run"]["name"]: json.loads(each["result"]) for each in reports}


def of_table(job: dict[str, Any], table: str) -> dict[str, Any]:
    return {**job, "table": {"database": "shop", "name": table}, "owner": f"cluster-uid/shop/{table}"}


def provision(lake: Lake, table: str) -> dict[str, Any]:
    return of_table(
        lake.provision_job({"id": "BIGINT"}, keys=["id"], options={"bucket": "1"}, run=f"make-{table}"), table
    )


def expire(lake: Lake, table: str) -> dict[str, Any]:
    return of_table(lake.job("ExpireSnapshots", run=f"expire-{table}", expireSnapshots={"numRetainedMax": 1}), table)


def expire_partitions(lake: Lake, table: str) -> dict[str, Any]:
    body = {"strategy": "ValuesTime", "timeZone": "UTC", "expirationSeconds": 86400}
    return of_table(lake.job("ExpirePartitions", run=f"partitions-{table}", expirePartitions=body), table)


def drive(lake: Lake, giver: TurnGiver, jobs: list[dict[str, Any]], directory: Path) -> Any:
    (directory / "token").write_text("t")
    config = BatchConfig(url=giver.url, token_file=str(directory / "token"), seconds=600, launch_hash="0")
    variables = {job_variable(number): to_text(job) for number, job in enumerate(jobs)}
    return run_batch(lake.home, directory, **{environment.BATCH_CONFIG: config_text(config)}, **variables)


def test_one_process_performs_the_runs_of_five_tables_and_one_failure_leaves_the_others_untouched(
    lake: Lake, tmp_path: Path
) -> None:
    jobs = [provision(lake, table) for table in TABLES if table != "c"]
    jobs += [expire(lake, table) for table in TABLES]
    with serving(TurnGiver()) as giver:
        done = drive(lake, giver, jobs, tmp_path)
    assert done.code == 0, done.log
    results = giver.results()
    assert list(results) == [job["run"]["name"] for job in jobs], "in their order"
    assert {name for name, result in results.items() if not result["ok"]} == {"expire-c"}
    assert results["expire-c"]["error"]["reason"] == "TableNotFound"
    assert all(results[f"make-{table}"]["created"] for table in TABLES if table != "c")
    assert done.result is None, "nothing is left to report"


def test_a_run_whose_turn_does_not_begin_touches_nothing(lake: Lake, tmp_path: Path) -> None:
    with serving(TurnGiver(refused=("make-a",))) as giver:
        done = drive(lake, giver, [provision(lake, "a"), provision(lake, "b")], tmp_path)
    assert done.code == 0, done.log
    tables = [each.name for each in (lake.directory / "warehouse" / "shop.db").iterdir()]
    assert tables == ["b"]


@pytest.mark.newest_engine
def test_partitions_of_two_tables_expire_in_one_process(lake: Lake, tmp_path: Path) -> None:
    rows = "VALUES (1, '2020-01-01'), (2, '2999-01-01')"
    for table in ("a", "b"):
        columns = {"id": "BIGINT", "dt": "STRING"}
        made = lake.provision_job(columns, keys=["dt", "id"], partitions=["dt"], options={"bucket": "1"})
        lake.perform(of_table(made, table)).ok()
        lake.outside(f"INSERT INTO outside.shop.{table} {rows}")
    jobs = [expire_partitions(lake, "a"), expire(lake, "a"), expire_partitions(lake, "b")]
    with serving(TurnGiver()) as giver:
        done = drive(lake, giver, jobs, tmp_path)
    assert done.code == 0, done.log
    results = giver.results()
    assert [results[f"partitions-{table}"]["partitions"]["expired"] for table in ("a", "b")] == [1, 1], done.log
