"""Adoption and drop of a table in a jdbc metastore whose rows and files do not match."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from paimon_contract.job import JobCatalog
from paimon_engines.loader import load_engine
from spark_apps.catalog.metastores.jdbc import Jdbc
from spark_apps.failures.errors import RunError
from spark_apps.operations import drop
from tests.spark.jdbc_lake import JdbcLake
from tests.spark.lake import OWNER

METASTORE = "Jdbc"


@pytest.fixture
def lake(jdbc_lake: JdbcLake) -> JdbcLake:
    return jdbc_lake


def test_a_table_whose_creation_ended_before_its_row_was_stored_is_adopted(lake: JdbcLake) -> None:
    lake.orders().ok()
    lake.sql("DELETE FROM paimon_tables")

    assert lake.orders().ok()["created"] is False
    assert lake.sql("SELECT table_name FROM paimon_tables") == "orders"


def test_files_of_a_table_of_another_owner_are_not_adopted(lake: JdbcLake) -> None:
    other = replace(lake, owner="other-cluster/shop/orders")
    other.orders().ok()
    lake.sql("DELETE FROM paimon_tables")

    assert "does not list" in lake.orders().refused("TableExists")
    assert lake.sql("SELECT count(*) FROM paimon_tables") == "0"


def test_files_of_a_table_of_another_owner_are_not_dropped(lake: JdbcLake) -> None:
    """A note of an unfinished drop does not allow it either: the table can be newer than the note."""
    other = replace(lake, owner="other-cluster/shop/orders")
    other.orders_with_row()
    lake.sql("DELETE FROM paimon_tables")
    before = lake.files()
    assert lake.drop().ok()["dropped"] is False
    assert [key for key in before if "/shop.db/" in key] == lake.files()

    lake.servers.s3.client().put_object(
        Bucket="lake", Key=f"{lake.root}/.paimon-operator/shop.orders/dropping", Body=b""
    )
    before = lake.files()
    assert "a PaimonTable of another cluster" in lake.drop().refused("Conflict")
    assert lake.files() == before


def test_a_drop_deletes_the_files_of_a_table_whose_row_was_lost(lake: JdbcLake) -> None:
    """A database that was restored or recreated lists fewer tables than exist."""
    lake.orders_with_row()
    lake.sql("DELETE FROM paimon_tables; DELETE FROM paimon_database_properties")

    assert lake.drop().ok()["dropped"] is True

    assert lake.files_of_table() == []
    lake.orders_with_row()
    assert lake.rows() == [{"id": 1, "v": "a"}]
    assert len(lake.snapshots()) == 1, "a new table, without snapshots of the old one"


@pytest.mark.parametrize("kept", ["schema/schema-0", "snapshot/snapshot-1"])
def test_a_drop_ends_only_when_the_files_are_deleted(lake: JdbcLake, kept: str) -> None:
    """Paimon deletes the row first and only logs that it could not delete a file. A legal hold applies to root too."""
    lake.bucket = f"held-{lake.root.replace('_', '-')}"
    s3 = lake.servers.s3.client()
    s3.create_bucket(Bucket=lake.bucket, ObjectLockEnabledForBucket=True)
    lake.orders_with_row()
    held = {"Bucket": lake.bucket, "Key": f"{lake.root}/shop.db/orders/{kept}"}
    s3.put_object_legal_hold(**held, LegalHold={"Status": "ON"})

    for _ in range(2):
        ended = lake.drop()
        assert (ended.code, ended.error["reason"]) == (25, "AccessDenied"), ended.result
        assert {f"{lake.root}/.paimon-operator/shop.orders/dropping", held["Key"]} <= {*lake.files()}
        assert [key for key in lake.files() if ".paimon-operator/shop.orders/import" in key], (
            "the ledger is still needed"
        )

    s3.put_object_legal_hold(**held, LegalHold={"Status": "OFF"})
    lake.drop().ok()
    assert lake.files_of_table() == []
    assert lake.sql("SELECT count(*) FROM paimon_tables") == "0"
    lake.orders_with_row()
    assert len(lake.snapshots()) == 1


class FilesThatStay:
    """Stands in for a storage on which a deletion has no effect and reports no error, unlike S3 and HDFS."""

    own_location = "s3://lake/root/shop.db/orders"

    def __init__(self) -> None:
        self.asked = list[str]()
        self.metastore = Jdbc(JobCatalog("s3://lake/root", "jdbc"), load_engine("paimon-1.4"))
        schemas = SimpleNamespace(latest=lambda: SimpleNamespace(orElse=lambda nothing: nothing))
        package = SimpleNamespace(SchemaManager=lambda *_: schemas)
        self.jvm = SimpleNamespace(org=SimpleNamespace(apache=SimpleNamespace(paimon=SimpleNamespace(schema=package))))

    def find_table(self) -> None:
        return None

    def path(self, uri: str) -> Any:
        return SimpleNamespace(toString=lambda: uri)

    def file_io(self, _path: Any) -> FilesThatStay:
        return self

    def exists(self, _path: Any) -> bool:
        return True

    def delete(self, path: Any, _recursive: bool) -> bool:
        self.asked.append(path.toString())
        return False


def test_a_drop_whose_files_stay_without_an_error_fails_and_keeps_its_note_and_the_ledgers() -> None:
    storage = FilesThatStay()
    catalog = JobCatalog("s3://lake/root", "jdbc")
    table = SimpleNamespace(database="shop", name="orders")

    with pytest.raises(RunError, match="still there") as failed:
        drop.run(cast(Any, SimpleNamespace(catalog=catalog, table=table, owner=OWNER)), cast(Any, storage))

    assert (failed.value.kind, failed.value.reason) == ("Infrastructure", "StorageUnreachable")
    assert storage.asked == ["s3://lake/root/shop.db/orders"]
