"""Measurements of one table, one after the other."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from paimon_contract.job import JobCatalog
from paimon_contract.result import ResultTable
from paimon_engines.loader import load_engine
from spark_apps.catalog import measure as module
from spark_apps.catalog.foreign_commits import FileCommits
from spark_apps.catalog.measure import Measured, measure_at_start, measure_table
from spark_apps.catalog.warehouse_files import files_at_start
from spark_apps.metadata.snapshots import SnapshotFiles
from spark_apps.metadata.volume import VolumeFiles
from tests.spark_apps.jobs import job
from tests.support.fabricated_avro import data_file
from tests.support.fabricated_table import FabricatedTable, schema_document


class JavaTable:
    """The table as Java has opened it. Counts what is asked of its storage."""

    def __init__(self, table: FabricatedTable) -> None:
        self.table = table
        self.asked = {"schema": 0, "latest": 0}

    def schema(self) -> Any:
        return SimpleNamespace(id=lambda: 0)

    def schemaManager(self) -> Any:  # noqa: N802
        def schema(id_: int) -> Any:
            self.asked["schema"] += 1
            text = json.dumps(schema_document(id=id_))
            return SimpleNamespace(toString=lambda: text)

        return SimpleNamespace(schema=schema)

    def snapshotManager(self) -> Any:  # noqa: N802
        def latest() -> int | None:
            self.asked["latest"] += 1
            return 1 if self.table.live else None

        return SimpleNamespace(latestSnapshotId=latest)


@pytest.fixture
def table(tmp_path: Path) -> FabricatedTable:
    return FabricatedTable(tmp_path / "shop.db" / "orders").write_schema()


def measure(table: JavaTable, root: Path, before: Measured | None = None, *, is_new: bool = False) -> Measured:
    return measure_table(session_in(root), table, before=before, is_new=is_new)


def session_in(root: Path) -> Any:
    """A session of a table in this warehouse."""
    catalog = JobCatalog(root.as_uri(), "filesystem")
    return SimpleNamespace(job=job(catalog=catalog), engine=load_engine("paimon-1.4"), files_found=None)


def test_of_a_table_that_is_only_created_no_file_is_read(table: FabricatedTable, tmp_path: Path) -> None:
    with patch.object(VolumeFiles, "read_stamped", side_effect=AssertionError("a client of the storage was made")):
        found = measure(JavaTable(table), tmp_path, is_new=True)
    assert (found.table.snapshot_id, found.table.rows) == (None, 0)


def test_somebody_has_already_written_to_a_new_table(table: FabricatedTable, tmp_path: Path) -> None:
    table.commit([data_file("a", level=0, rows=5)])
    assert measure(JavaTable(table), tmp_path, is_new=True).table.rows == 5


def test_no_measurement_asks_java_for_the_latest_snapshot(table: FabricatedTable, tmp_path: Path) -> None:
    table.commit([data_file("a", level=0, rows=5)])
    java = JavaTable(table)
    before = measure(java, tmp_path)
    table.commit([data_file("b", level=0, rows=7)])
    after = measure(java, tmp_path, before)
    assert (before.table.rows, after.table.rows) == (5, 12)
    assert java.asked == {"schema": 0, "latest": 0}


def test_a_schema_that_only_java_can_read_is_measured_by_it(table: FabricatedTable, tmp_path: Path) -> None:
    table.write_schema(version=4).commit([data_file("a", level=0, rows=5)])
    java = JavaTable(table)
    with patch.object(module, "_counted", return_value=ResultTable(schema_id=0, rows=5)) as counted:
        assert measure(java, tmp_path).table.rows == 5
        session = session_in(tmp_path)
        assert measure_at_start(session, java).table.rows == 5
    assert (counted.call_count, java.asked["schema"]) == (2, 2)
    assert session.only_java_reads, "no later step waits for Python"


def test_a_measurement_at_the_start_is_of_what_was_found_and_the_next_one_of_what_there_is(
    table: FabricatedTable, tmp_path: Path
) -> None:
    table.commit([data_file("a", level=0, rows=5)])
    java, session = JavaTable(table), session_in(tmp_path)
    assert FileCommits(SnapshotFiles(files_at_start(session), table.location)).latest_id() == 1
    table.commit([data_file("b", level=0, rows=7)])
    before = measure_at_start(session, java)
    after = measure_table(session, java, before=before)
    assert (before.table.rows, after.table.rows) == (5, 12)


def test_what_was_found_has_expired_before_it_is_measured(table: FabricatedTable, tmp_path: Path) -> None:
    table.commit([data_file("a", level=0, rows=5)])
    session = session_in(tmp_path)
    assert FileCommits(SnapshotFiles(files_at_start(session), table.location)).latest_id() == 1
    table.commit([data_file("b", level=0, rows=7)])
    table.expire(2)
    assert measure_at_start(session, JavaTable(table)).table.rows == 12


def test_a_table_that_was_replaced_by_one_with_the_same_schema_number_is_noticed(
    table: FabricatedTable, tmp_path: Path
) -> None:
    table.commit([data_file("a", level=0, rows=5)])
    before = measure(JavaTable(table), tmp_path)
    table.write_schema(options={"bucket": "8"})
    after = measure(JavaTable(table), tmp_path, before)
    assert after.table.schema_id == before.table.schema_id
    assert (before.table.bucket_count, after.table.bucket_count) == (4, 8)


@pytest.mark.parametrize("hint", [True, False], ids=["with a hint", "before its hint is written"])
def test_the_first_snapshot_is_found_by_the_second_measurement(
    table: FabricatedTable, tmp_path: Path, hint: bool
) -> None:
    java = JavaTable(table)
    before = measure(java, tmp_path)
    table.commit([data_file("a", level=0, rows=5)], hint=hint)
    assert (before.table.snapshot_id, measure(java, tmp_path, before).table.snapshot_id) == (None, 1)
