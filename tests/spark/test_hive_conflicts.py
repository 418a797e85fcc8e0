"""Tables whose entry in the Hive metastore, files, owner or place do not match: adoption, drop and conflicts."""

# ruff: noqa: S608 - the only names in SQL are those of the tests

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.spark.hive_lake import HiveLake

METASTORE = "Hive"


@pytest.fixture
def lake(hive_lake: HiveLake) -> HiveLake:
    return hive_lake


@pytest.mark.newest_engine
def test_a_table_that_the_metastore_has_lost_is_adopted(lake: HiveLake) -> None:
    lake.orders_with_row()
    lake.delete_from_metastore()
    assert lake.orders().ok()["created"] is False
    assert lake.listed() == "orders"
    assert lake.rows() == [{"id": 1, "v": "a"}]


@pytest.mark.long
@pytest.mark.newest_engine
def test_a_drop_deletes_the_files_of_a_table_that_the_metastore_has_lost(lake: HiveLake) -> None:
    lake.orders_with_row()
    lake.delete_from_metastore()
    assert lake.drop().ok()["dropped"] is True
    assert [key for key in lake.files() if "/orders/" in key] == []


@pytest.mark.newest_engine
def test_a_table_without_files_is_recreated(lake: HiveLake) -> None:
    """As with any other metastore. The entry in the metastore does not block it."""
    lake.orders_with_row()
    lake.delete_table_directory()
    assert lake.listed() == "orders"
    assert lake.orders().ok()["created"] is True
    assert lake.rows() == []


@pytest.mark.long
@pytest.mark.newest_engine
def test_a_drop_of_a_table_without_files_deletes_its_entry(lake: HiveLake) -> None:
    lake.orders_with_row()
    lake.delete_table_directory()
    lake.drop().ok()
    assert lake.listed() == ""


@pytest.mark.long
@pytest.mark.newest_engine
def test_a_drop_does_not_delete_the_servers_default_directory_of_the_table(lake: HiveLake) -> None:
    """Another table can be in the directory where the server would create this one."""
    precious = lake.servers.hive.warehouse / f"{lake.database}.db" / "orders" / "precious.txt"
    precious.parent.mkdir(parents=True, exist_ok=True)
    precious.write_text("1")
    lake.orders_with_row()
    assert lake.drop().ok()["dropped"] is True
    assert lake.listed() == ""
    assert [key for key in lake.files() if "/orders/" in key] == []
    assert precious.read_text() == "1"


@pytest.mark.newest_engine
def test_a_drop_does_not_follow_a_database_that_has_been_moved(lake: HiveLake) -> None:
    """After the deletion of the entry, Paimon would search the table in the directory of its database."""
    lake.orders_with_row()
    archive = f"archive_{lake.database}/orders/precious"
    lake.servers.s3.client().put_object(Bucket="lake", Key=archive, Body=b"1")
    moved = f"s3://lake/archive_{lake.database}"
    lake.servers.hive.sql(
        f'UPDATE "DBS" SET "DB_LOCATION_URI" = \'{moved}\' WHERE "NAME" = \'{lake.database}\';'
        f'UPDATE "DATABASE_PARAMS" SET "PARAM_VALUE" = \'{moved}\' WHERE "DB_ID" ='
        f' (SELECT "DB_ID" FROM "DBS" WHERE "NAME" = \'{lake.database}\') AND "PARAM_KEY" LIKE \'%location%\''
    )
    assert lake.drop().ok()["dropped"] is True
    assert [key for key in lake.files() if "/orders/" in key] == []
    assert lake.servers.s3.client().head_object(Bucket="lake", Key=archive)


@pytest.mark.newest_engine
def test_files_of_a_table_of_another_owner_are_neither_adopted_nor_dropped(lake: HiveLake) -> None:
    other = replace(lake, owner="other-cluster/shop/orders")
    other.orders_with_row()
    lake.delete_from_metastore()
    before = lake.files()
    assert "does not list" in lake.orders().refused("TableExists")
    assert lake.drop().ok()["dropped"] is False
    assert lake.files() == [key for key in before if "/.paimon-operator/" not in key]


@pytest.mark.newest_engine
def test_a_table_of_another_warehouse_in_the_same_metastore_is_a_conflict(lake: HiveLake) -> None:
    elsewhere = replace(lake, root=f"{lake.root}_elsewhere")
    elsewhere.orders_with_row()
    for ended in (lake.orders(), lake.write(), lake.drop()):
        assert f"lies in s3://lake/{lake.root}_elsewhere" in ended.blocked("Conflict")
        assert ended.error["field"] == "spec.table"
    assert elsewhere.rows() == [{"id": 1, "v": "a"}]


@pytest.mark.long
@pytest.mark.newest_engine
def test_a_table_in_an_unreachable_place_is_a_conflict_and_is_not_opened(lake: HiveLake) -> None:
    """The entry in the metastore suffices. Access to another storage would need time and other keys."""
    lake.orders_with_row()
    tables = f'SELECT "TBL_ID" FROM "TBLS" JOIN "DBS" USING ("DB_ID") WHERE "NAME" = \'{lake.database}\''
    lake.servers.hive.sql(
        'UPDATE "TABLE_PARAMS" SET "PARAM_VALUE" = \'hdfs://nowhere.invalid:8020/lake/orders\''
        f' WHERE "PARAM_KEY" = \'paimon_location\' AND "TBL_ID" IN ({tables})'
    )
    for ended in (lake.orders(), lake.write(), lake.drop()):
        assert "lies in hdfs://nowhere.invalid:8020/lake/orders" in ended.blocked("Conflict")


@pytest.mark.long
@pytest.mark.newest_engine
def test_no_table_is_created_in_a_database_of_another_place(lake: HiveLake) -> None:
    replace(lake, root=f"{lake.root}_elsewhere").orders().ok()
    other = replace(lake, owner="cluster-uid/shop/others")
    job = other.job("Provision", provision={"columns": [{"name": "id", "type": "BIGINT"}], "adoption": "Fail"})
    job["table"]["name"] = "others"
    ended = lake.perform(job)
    assert f"lies in s3://lake/{lake.root}_elsewhere" in ended.blocked("Conflict")
    assert ended.error["field"] == "spec.database"
    assert lake.files() == []


def test_a_table_of_another_kind_under_the_name_is_a_conflict(lake: HiveLake) -> None:
    """Paimon 0.9 would write its schema into that table's directory and then delete the directory."""
    lake.orders_with_row()
    lake.drop().ok()
    lake.create_hive_table()
    precious = lake.servers.hive.warehouse / "foreign" / "precious.txt"
    precious.parent.mkdir(parents=True, exist_ok=True)
    precious.write_text("1")

    ended = lake.orders()

    assert "is no table of Paimon" in ended.blocked("Conflict")
    assert ended.error["field"] == "spec.table"
    assert lake.listed() == "orders"
    assert precious.read_text() == "1"
