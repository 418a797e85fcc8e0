"""Runs of several tables in one driver whose catalog is a Jdbc metastore: they share its credentials."""

from __future__ import annotations

from pathlib import Path

from tests.spark.jdbc_lake import JdbcLake
from tests.spark.shared_driver import TurnGiver, drive, of_table
from tests.spark_apps.observer.fake_operator import serving
from tests.support.spark_process import ROOT

METASTORE = "Jdbc"
TABLES = ("a", "b", "c", "d", "e")
FIRST_WAITS = ROOT / "tests" / "support" / "spark_first_waits.py"


def test_a_run_connects_to_the_metastore_after_another_one_has_ended(jdbc_lake: JdbcLake, tmp_path: Path) -> None:
    """The first run opens its session, waits until the others have ended, and only then creates its table."""
    made = jdbc_lake.provision_job({"id": "BIGINT"}, keys=["id"], options={"bucket": "1"})
    jobs = [of_table({**made, "run": {**made["run"], "name": f"make-{table}"}}, table) for table in TABLES]
    with serving(TurnGiver()) as giver:
        done = drive(jdbc_lake, giver, jobs, tmp_path, **jdbc_lake.jvm.env, SPARK_APPS_MAIN=str(FIRST_WAITS))
    assert done.code == 0, done.log
    assert {name: result["ok"] for name, result in giver.results().items()} == {f"make-{each}": True for each in TABLES}
    assert jdbc_lake.sql("SELECT count(*) FROM paimon_tables") == str(len(TABLES))
