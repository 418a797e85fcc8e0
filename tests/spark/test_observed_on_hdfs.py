"""Observe on HDFS, where only a JVM reads the metadata: it finds what Paimon lists, and only reads."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_contract.documents import read
from paimon_contract.result import ResultTable
from tests.spark.hdfs_lake import HdfsLake
from tests.spark.lake import Ended
from tests.spark.observed_kinds import KINDS, PIN
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
        steps = (step.replace("{t}", f"outside.shop.{name}") for step in kind.steps if step != PIN)
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


def compare(lake: HdfsLake, name: str, table: ResultTable) -> None:
    files = listed(lake, name, "files", "SELECT * FROM {} WHERE level >= -1")  # without it, 0.9 leaves some out
    snapshots = listed(lake, name, "snapshots")
    assert of(table) == counts(files, 0.7 * TARGET_SIZES.get(name, DEFAULT_SIZE)), name
    assert (table.snapshots, table.snapshot_id) == (len(snapshots), max(each["snapshot_id"] for each in snapshots)), (
        name
    )
    assert (table.oldest_snapshot or "").rstrip("Z") == min(each["commit_time"] for each in snapshots)[:19], name
    assert table.manifests == len(listed(lake, name, "manifests")), name
    assert table.oldest_partition == TABLES[name].oldest, name
    assert {each.name for each in table.pins or ()} == {each["tag_name"] for each in listed(lake, name, "tags")}, name


@pytest.mark.newest_engine
def test_the_health_equals_what_spark_lists_and_no_look_writes(lake: HdfsLake) -> None:
    made = lake.hdfs.changes
    tables = {name: found(lake, name) for name in TABLES}
    assert lake.hdfs.changes == made, "a look changes nothing in the namespace"
    for name, table in tables.items():
        compare(lake, name, table)


@pytest.mark.newest_engine
def test_a_table_without_access_is_unknown_and_the_others_are_not_affected(lake: HdfsLake) -> None:
    lake.hdfs.shell("-chmod", "000", f"{lake.warehouse}/shop.db/keyed/manifest", f"{lake.warehouse}/shop.db/tagged")

    unknown, refused, known = (observe(lake, name) for name in ("keyed", "tagged", "appended"))
    assert "table" not in unknown.ok(), "its schema can be read and its manifests cannot"
    assert "Permission denied" in refused.blocked("AccessDenied")
    compare(lake, "appended", read(ResultTable, known.ok()["table"], "appended"))
