"""The driver of a batch as in a Pod: one process, one JVM, several runs with a result each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.spark.lake import Lake
from tests.spark.shared_driver import TurnGiver, drive, of_table
from tests.spark_apps.observer.fake_operator import serving
from tests.support.spark_process import ROOT

USES_SPARK = ROOT / "tests" / "support" / "spark_used.py"
TABLES = ("a", "b", "c", "d", "e")


def provision(lake: Lake, table: str) -> dict[str, Any]:
    return of_table(
        lake.provision_job({"id": "BIGINT"}, keys=["id"], options={"bucket": "1"}, run=f"make-{table}"), table
    )


def expire(lake: Lake, table: str) -> dict[str, Any]:
    return of_table(lake.job("ExpireSnapshots", run=f"expire-{table}", expireSnapshots={"numRetainedMax": 1}), table)


def expire_partitions(lake: Lake, table: str) -> dict[str, Any]:
    body = {"strategy": "ValuesTime", "timeZone": "UTC", "expirationSeconds": 86400}
    return of_table(lake.job("ExpirePartitions", run=f"partitions-{table}", expirePartitions=body), table)


def test_one_process_performs_the_runs_of_five_tables_and_one_failure_leaves_the_others_untouched(
    lake: Lake, tmp_path: Path
) -> None:
    jobs = [provision(lake, table) for table in TABLES if table != "c"]
    jobs += [expire(lake, table) for table in TABLES]
    with serving(TurnGiver()) as giver:
        done = drive(lake, giver, jobs, tmp_path)
    assert done.code == 0, done.log
    results = giver.results()
    assert set(results) == {job["run"]["name"] for job in jobs}
    for table in TABLES:  # each in its order, whatever others do meanwhile
        own = [job["run"]["name"] for job in jobs if job["table"]["name"] == table]
        assert [name for name in results if name in own] == own
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


@pytest.mark.long
@pytest.mark.newest_engine
def test_threads_use_spark_one_after_the_other_and_a_line_of_java_names_the_run_of_its_thread(
    lake: Lake, tmp_path: Path
) -> None:
    tables = TABLES[:3]
    for table in tables:
        lake.perform(provision(lake, table)).ok()
        lake.outside(*[f"INSERT INTO outside.shop.{table} VALUES (1)"] * 2)  # noqa: S608 - a snapshot is due
    with serving(TurnGiver()) as giver:
        jobs = [expire(lake, table) for table in tables]
        done = drive(lake, giver, jobs, tmp_path, SPARK_APPS_MAIN=str(USES_SPARK))
    assert done.code == 0, done.log
    assert {run: result["ok"] for run, result in giver.results().items()} == {
        f"expire-{table}": True for table in tables
    }
    lines = [json.loads(line) for line in done.stderr.splitlines() if "a warning of" in line]
    assert {line["message"]: line["run"] for line in lines} == {f"a warning of {run}": run for run in giver.results()}


@pytest.mark.newest_engine
def test_one_process_expires_partitions_then_compacts_then_expires_snapshots(lake: Lake, tmp_path: Path) -> None:
    rows = "VALUES (1, '2020-01-01'), (2, '2999-01-01')"
    for table in ("a", "b"):
        columns = {"id": "BIGINT", "dt": "STRING"}
        made = lake.provision_job(columns, keys=["dt", "id"], partitions=["dt"], options={"bucket": "1"})
        lake.perform(of_table(made, table)).ok()
        lake.outside(*[f"INSERT INTO outside.shop.{table} {rows}"] * 2)
    compact = of_table(lake.job("Compact", run="compact-a", compact={"strategy": "Full"}), "a")
    jobs = [expire_partitions(lake, "a"), compact, expire(lake, "a"), expire_partitions(lake, "b")]
    with serving(TurnGiver()) as giver:
        done = drive(lake, giver, jobs, tmp_path)
    assert done.code == 0, done.log
    results = giver.results()
    assert [results[f"partitions-{table}"]["partitions"]["expired"] for table in ("a", "b")] == [1, 1], done.log
    compacted, expired = results["compact-a"], results["expire-a"]
    assert (compacted["before"]["files"], compacted["after"]["files"]) == (2, 1), "what has expired is not compacted"
    assert (expired["before"]["snapshots"], expired["after"]["snapshots"]) == (4, 1)
