"""Tables on HDFS, measured by a run with a JVM and by an observer without one: both find what Paimon lists."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_contract.documents import read
from paimon_contract.job import JobCatalog
from paimon_contract.looks import TableToLook
from paimon_contract.result import ResultTable
from spark_apps.metadata import files_in
from spark_apps.observer.bounded_files import BoundedFiles
from spark_apps.observer.passes import Watched
from spark_apps.observer.table import Found
from tests.spark.hdfs_lake import HdfsLake, pod_environment
from tests.spark.lake import Ended
from tests.spark.observed_kinds import KINDS
from tests.spark.test_observed_tables import counts, of

TABLES = {
    "keyed": KINDS["partitioned"],
    "appended": KINDS["append, partitioned and compacted"],
    "deleting": KINDS["deletion vectors"],
    "tagged": KINDS["a tag of an expired snapshot"],
}
TARGET_SIZES = {"keyed": 3 << 10, "deleting": 3 << 10, "tagged": 3 << 10}
"""Bytes of the option target-file-size."""
DEFAULT_SIZE = 256 << 20
"""Without that option, and without a primary key."""


@pytest.fixture
def lake(hdfs_lake: HdfsLake) -> HdfsLake:
    """A catalog with these tables, made by another writer. The first run logs in."""
    hdfs_lake.provision({"id": "BIGINT"}, options={"bucket": "-1"}).ok()
    empty = hdfs_lake.hdfs.changes
    for name, kind in TABLES.items():
        steps = (step.replace("{t}", f"outside.shop.{name}") for step in kind.statements)
        hdfs_lake.outside(*(step.replace("{name}", f"shop.{name}") for step in steps))
    assert hdfs_lake.hdfs.changes > empty + 10 * len(TABLES), "each commit changes the namespace many times"
    return hdfs_lake


def observe(lake: HdfsLake, name: str) -> Ended:
    declared = lake.provision_job({"id": "BIGINT"})["provision"]
    return lake.perform(lake.job("Observe", observe={"table": declared}, table={"database": "shop", "name": name}))


def found(lake: HdfsLake, name: str) -> ResultTable:
    return read(ResultTable, observe(lake, name).ok()["table"], name)


def listed(lake: HdfsLake, name: str, system_table: str, query: str = "SELECT * FROM {}") -> list[dict[str, Any]]:
    """The rows of a system table as Spark reads it."""
    return lake.select(query.format(f"outside.shop.`{name}${system_table}`"))


def compare(lake: HdfsLake, name: str, table: ResultTable, *, pins: bool = True) -> None:
    files = listed(lake, name, "files", "SELECT * FROM {} WHERE level >= -1")  # without it, 0.9 leaves some out
    snapshots = listed(lake, name, "snapshots")
    assert of(table) == counts(files, 0.7 * TARGET_SIZES.get(name, DEFAULT_SIZE)), name
    assert (table.snapshots, table.snapshot_id) == (len(snapshots), max(each["snapshot_id"] for each in snapshots)), (
        name
    )
    assert (table.oldest_snapshot or "").rstrip("Z") == min(each["commit_time"] for each in snapshots)[:19], name
    assert table.manifests == len(listed(lake, name, "manifests")), name
    assert table.oldest_partition == TABLES[name].oldest, name
    tags = {each["tag_name"] for each in listed(lake, name, "tags")} if pins else set()
    assert {each.name for each in table.pins or ()} == tags, name


def looked_at(lake: HdfsLake, monkeypatch: pytest.MonkeyPatch) -> dict[str, Found | None]:
    """What the first pass of the catalog's observer finds of each table."""
    for name, value in pod_environment(lake.hdfs, lake.directory).items():
        monkeypatch.setenv(name, value)
    catalog = JobCatalog(lake.warehouse, "filesystem")
    files = files_in(catalog, lake.engine, lake.job("Observe")["hadoop"])
    assert files is not None
    watched = Watched(catalog, BoundedFiles(files))
    watched.follow(TableToLook(uid=name, database="shop", name=name) for name in TABLES)
    watched.look()
    return {uid: table.found for uid, table in watched.tables.items()}


@pytest.mark.some_rows(1)
@pytest.mark.newest_engine
def test_run_and_observer_find_what_spark_lists_and_no_look_writes(
    lake: HdfsLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = lake.hdfs.changes
    tables, looked = {name: found(lake, name) for name in TABLES}, looked_at(lake, monkeypatch)
    assert lake.hdfs.changes == made, "a look changes nothing in the namespace"
    for name, table in tables.items():
        compare(lake, name, table)
        of_observer = looked[name]
        assert isinstance(of_observer, ResultTable), of_observer
        compare(lake, name, of_observer, pins=False)


@pytest.mark.long
@pytest.mark.newest_engine
def test_a_table_without_access_is_unknown_and_the_others_are_not_affected(
    lake: HdfsLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.hdfs.shell("-chmod", "000", f"{lake.warehouse}/shop.db/keyed/manifest", f"{lake.warehouse}/shop.db/tagged")

    unknown, refused, known = (observe(lake, name) for name in ("keyed", "tagged", "appended"))
    assert "table" not in unknown.ok(), "its schema can be read and its manifests cannot"
    assert "Permission denied" in refused.blocked("AccessDenied")
    compare(lake, "appended", read(ResultTable, known.ok()["table"], "appended"))

    looked = looked_at(lake, monkeypatch)
    assert all("Permission denied" in str(looked.pop(name)) for name in ("keyed", "tagged"))
    assert {name for name, table in looked.items() if isinstance(table, ResultTable)} == {*TABLES} - {"keyed", "tagged"}
