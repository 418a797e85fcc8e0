"""The health that Observe reports of a table, from its files and without a JVM."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from paimon_contract.job import Job, JobCatalog
from paimon_contract.parameters.observe import ObserveParameters
from paimon_contract.parameters.provision import JobColumn, ProvisionParameters
from paimon_contract.result import Pin, ResultTable
from paimon_engines.loader import load_engine
from spark_apps.driver.dispatch import makes_commits
from spark_apps.metadata.volume import VolumeFiles
from spark_apps.operations import observe
from tests.spark_apps.jobs import job
from tests.spark_apps.metadata.test_table_files import text_of
from tests.support.fabricated_avro import data_file
from tests.support.fabricated_table import FabricatedTable

MANIFEST = ProvisionParameters(
    columns=(JobColumn(name="id", type="BIGINT", data_type="BIGINT"),),
    primary_keys=("id",),
    options={"bucket": "4"},
    adoption="AdoptIfIdentical",
)


@pytest.fixture
def table(tmp_path: Path) -> FabricatedTable:
    """The table shop.orders in the warehouse `tmp_path`."""
    made = FabricatedTable(tmp_path / "shop.db" / "orders")
    (made.root / "schema").mkdir(parents=True)
    (made.root / "schema" / "schema-0").write_text(text_of(0))
    made.commit([data_file("a", day=None), data_file("b", day=None, bucket=1)])
    made.tag("t", 1)
    made.commit([data_file("c", day=None)], remove=["a"])
    return made


def asked(table: FabricatedTable) -> Job:
    catalog = JobCatalog(f"file://{table.root.parent.parent}", "filesystem")
    return job(operation="Observe", parameters=ObserveParameters(table=MANIFEST), catalog=catalog)


def look(table: FabricatedTable) -> tuple[ResultTable | None, Any]:
    outcome = observe.without_jvm(asked(table), load_engine("paimon-1.4"), VolumeFiles())
    assert outcome is not None
    return outcome.table, outcome.drift


def test_the_health_is_reported_beside_the_drift(table: FabricatedTable) -> None:
    found, drift = look(table)
    assert drift is not None
    assert found is not None
    assert (found.schema_id, found.bucket_mode, found.bucket_count, found.snapshot_id) == (0, "Fixed", 4, 2)
    assert (found.files, found.rows, found.snapshots, found.manifests, found.buckets) == (2, 20, 2, 2, 2)
    assert (found.pins, found.pins_count) == ((Pin(kind="Tag", name="t", bytes=100),), 1)
    assert found.measured_at is not None


def test_a_table_that_cannot_be_measured_still_has_its_drift(
    table: FabricatedTable, capsys: pytest.CaptureFixture[str]
) -> None:
    snapshot = table.snapshot_file(2)
    snapshot.write_text(json.dumps(json.loads(snapshot.read_text()) | {"version": 9}))
    found, drift = look(table)
    assert (found, drift is None) == (None, False)
    assert "the table is not measured: " in capsys.readouterr().out


def test_observe_commits_nothing_and_needs_no_lock() -> None:
    assert not makes_commits(observe)  # type: ignore[arg-type]
