"""A table's schema read from its files is the one that Paimon reads, and an illegal edit starts no Java."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paimon_contract.exit_codes import ExitCode
from paimon_schema.table_schema import TableSchema, read_schema_file
from spark_apps.metadata.table_files import SCHEMA_VERSION, TableFiles
from spark_apps.metadata.volume import VolumeFiles
from tests.spark.bucket import Bucket
from tests.spark.hdfs_lake import HdfsLake
from tests.spark.lake import Lake
from tests.spark.test_s3_access import SECRET

TYPES = {
    "id": "BIGINT",
    "day": "DATE",
    "name": "VARCHAR(20)",
    "price": "DECIMAL(12,2)",
    "at": "TIMESTAMP(3)",
    "seen": "TIMESTAMP_LTZ(6)",
    "raw": "BYTES",
    "tags": "ARRAY<STRING NOT NULL>",
    "stock": "MAP<STRING NOT NULL, ROW<shelf INT, `last count` ARRAY<DECIMAL(5,1)>>>",
    "Größe": "CHAR(3)",
}
COMMENTS = {"id": "the shop's own number", "Größe": 'with "quotes" and ümlauts'}


def table_files(lake: Lake) -> TableFiles:
    return TableFiles(VolumeFiles(), f"{lake.warehouse}/{lake.database}.db/orders")


def of_java(lake: Lake) -> TableSchema:
    """The schema as Paimon reads it, without the option that it adds when it opens a table."""
    text, version = lake.jvm.ask(schema=lake.warehouse)
    assert version == SCHEMA_VERSION
    found = read_schema_file(text)
    return replace(found, options={key: value for key, value in found.options.items() if key != "path"})


def same(lake: Lake) -> TableSchema:
    """The schema from the files, which must be the one that Paimon reads, with the same time."""
    found, expected = table_files(lake).latest_schema(), of_java(lake)
    assert found is not None
    assert (found, found.time_ms) == (expected, expected.time_ms)
    assert found.time_ms is not None
    return found


def test_the_schema_of_the_files_is_the_one_that_paimon_reads(lake: Lake) -> None:
    more: dict[str, Any] = {"keys": ["id", "day"], "partitions": ["day"], "comments": COMMENTS, "comment": "orders"}
    options = {"bucket": "2", "file.format": "orc", "write-buffer-size": "64 mb"}
    defaults = {"name": "it's new", "price": "1.50"} if lake.engine.stores_default_values else {}
    lake.provision(TYPES, options=options, defaults=defaults, **more).ok()

    first = same(lake)

    assert (first.id, first.comment, len(first.columns)) == (0, "orders", len(TYPES))
    lake.provision(TYPES | {"note": "STRING"}, options=options, defaults=defaults, **more).ok()
    lake.outside("ALTER TABLE outside.shop.orders SET TBLPROPERTIES ('snapshot.num-retained.min' = '3')")
    assert same(lake).id == 2
    assert table_files(lake).latest_schema(0) == table_files(lake).latest_schema(2) == of_java(lake)
    assert table_files(lake).schema(0) == first


@pytest.mark.parametrize("version", [None, 1, 2, 3])
def test_files_of_old_releases_are_read_as_paimon_reads_them(lake: Lake, version: int | None) -> None:
    lake.provision({"id": "BIGINT"}, keys=["id"], options={}).ok()
    file = lake.table_directory / "schema" / "schema-0"
    document = json.loads(file.read_text()) | {"options": {}}
    document |= {} if version is None else {"version": version}
    file.write_text(json.dumps({key: value for key, value in document.items() if version or key != "version"}))
    (file.parent / f".{file.name}.crc").unlink(missing_ok=True)

    same(lake)


@pytest.fixture
def no_java(tmp_path: Path) -> dict[str, str]:
    """The environment of a driver that tries without a JVM, and in which Java cannot start."""
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho java was started\nexit 99\n")
    java.chmod(0o755)
    return {"PATH": f"{java.parent}:{os.environ['PATH']}", "TRY_WITHOUT_JVM": "1"}


def test_an_illegal_edit_is_refused_as_the_jvm_refuses_it_and_no_java_starts(
    lake: Lake, no_java: dict[str, str]
) -> None:
    columns, options = {"id": "BIGINT", "amount": "INT"}, {"bucket": "2"}
    lake.provision(columns, keys=["id"], options=options).ok()
    job = lake.provision_job({"id": "BIGINT", "amount": "STRING"}, keys=["id"], options={"bucket": "4"})
    expected = lake.perform(job)
    expected.refused("TableDiffers")

    done = lake.drive(job, **no_java)

    assert done.code == expected.code, done.log
    assert done.result is not None
    assert done.result["error"] == expected.error
    assert "java was started" not in done.log
    assert lake.drive(lake.provision_job(columns, keys=["id"], options=options), **no_java).code == 99


def test_an_unapproved_plan_waits_with_the_same_hash_and_no_java_starts(lake: Lake, no_java: dict[str, str]) -> None:
    lake.provision({"id": "BIGINT", "amount": "INT"}, keys=["id"], options={"bucket": "2"}).ok()
    edit: dict[str, Any] = {"keys": ["id"], "options": {"bucket": "2"}, "dropped": ["amount"], "approve": True}
    job = lake.provision_job({"id": "BIGINT"}, **edit)
    expected = lake.perform(job)

    done = lake.drive(job, **no_java)

    assert done.code == expected.code == ExitCode.SPEC, done.log
    assert done.result is not None
    for part in ("error", "plan"):
        assert done.result[part] == expected.result[part]
    assert done.result["error"]["reason"] == "AwaitingApproval"


def test_on_hdfs_an_illegal_edit_starts_no_java(hdfs_lake: HdfsLake, no_java: dict[str, str]) -> None:
    hdfs_lake.provision({"id": "BIGINT"}, keys=["id"], options={"bucket": "1"}).ok()

    done = hdfs_lake.drive(hdfs_lake.provision_job({"id": "STRING"}, keys=["id"], options={"bucket": "1"}), **no_java)

    assert done.code == ExitCode.SPEC, done.log
    assert done.result is not None
    assert done.result["error"]["field"] == "spec.schema.columns[id].type"
    assert "java was started" not in done.log


def test_on_s3_an_illegal_edit_starts_no_java(bucket: Bucket, no_java: dict[str, str]) -> None:
    assert bucket.provision(SECRET).code == 0
    body = bucket.lake.provision_job({"id": "STRING", "what": "STRING"}, keys=["id"], options={"bucket": "1"})
    bucket.env |= no_java

    done = bucket.drive("Provision", SECRET, provision=body["provision"])

    assert done.code == ExitCode.SPEC, done.log
    assert done.result is not None
    assert done.result["error"]["field"] == "spec.schema.columns[id].type"
